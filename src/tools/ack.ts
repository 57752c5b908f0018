// ack: evidence that a message was seen.
import { z } from 'zod'
import { MESSAGE_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const ack = defineTool({
  name: 'ack',
  title: 'Acknowledge a message',
  description:
    'Say that you have seen a message, when you will not answer it at once or at all. A reply says so by itself.',
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'message.send',
  input: z.object({ message_id: MESSAGE_ID }),
  run: (actions, caller, { message_id }) => actions.ack(caller, { messageId: message_id }),
})
