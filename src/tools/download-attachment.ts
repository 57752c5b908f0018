// download_attachment: fetches the files of a message to a place that the agent can read.
import { z } from 'zod'
import { CHAT_ID, MESSAGE_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const downloadAttachment = defineTool({
  name: 'download_attachment',
  title: 'Download attachments',
  description:
    'Download the attachments of a message, by chat_id and message_id, or one by its attachment_file_id. Use it when the message carries attachment fields; the result has the paths of the files, or the files themselves for an agent on another machine.',
  // It writes files, but changes nothing for others.
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 4096,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({
    chat_id: CHAT_ID.optional(),
    message_id: MESSAGE_ID.optional(),
    file_id: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The attachment_file_id of the message, or the id of one of its attachments: for that file alone.',
      ),
  }),
  problem({ chat_id, message_id, file_id }) {
    if (file_id !== undefined) return null
    if (chat_id === undefined) return 'chat_id is required, or file_id'
    return message_id === undefined ? 'message_id is required' : null
  },
  run: (actions, caller, { chat_id: chatId = '', message_id: messageId = '', file_id }) =>
    actions.downloadAttachment(caller, file_id === undefined ? { chatId, messageId } : { fileId: file_id }),
})
