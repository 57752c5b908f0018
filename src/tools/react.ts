// react: puts an emoji on a message.
import { z } from 'zod'
import { CHAT_ID, MESSAGE_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const react = defineTool({
  name: 'react',
  title: 'React',
  description: 'Add an emoji reaction to a message. Which emoji are taken depends on the platform.',
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({
    chat_id: CHAT_ID,
    message_id: MESSAGE_ID,
    emoji: z.string().min(1).describe('One emoji.'),
  }),
  run: (actions, caller, { chat_id, message_id, emoji }) =>
    actions.react(caller, { chatId: chat_id, messageId: message_id, emoji }),
})
