// edit_message: changes a message that the agent sent before.
import { z } from 'zod'
import { CHAT_ID, MESSAGE_ID } from './fields.ts'
import { FORMAT, saidAs } from './message-format.ts'
import { defineTool } from './tool.ts'

export const editMessage = defineTool({
  name: 'edit_message',
  title: 'Edit a message',
  description:
    'Replace the text of a message that you sent before. Edits raise no notification: when a long task is done, send a new reply so that the user hears of it.',
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({
    chat_id: CHAT_ID,
    message_id: MESSAGE_ID,
    text: z.string().min(1).describe('The new text, whole.'),
    format: FORMAT,
  }),
  run: (actions, caller, { chat_id, message_id, text, format }) =>
    actions.editMessage(caller, { chatId: chat_id, messageId: message_id, ...saidAs(text, format) }),
})
