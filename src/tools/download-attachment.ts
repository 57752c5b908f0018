// download_attachment: fetches the files of a message to where the agent can read them.
import { z } from 'zod'
import { CHAT_ID, MESSAGE_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const downloadAttachment = defineTool({
  name: 'download_attachment',
  title: 'Download attachments',
  description:
    'Download the attachments of a message. Use it when the message carries attachment fields; the result lists the paths of the files.',
  // It writes files, but changes nothing for anybody else.
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 4096,
  action: 'message.send',
  input: z.object({ chat_id: CHAT_ID, message_id: MESSAGE_ID }),
  run: (desk, caller, { chat_id, message_id }) =>
    desk.downloadAttachment(caller, { chatId: chat_id, messageId: message_id }),
})
