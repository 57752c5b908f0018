// Fields that several tools share, described once.
import { z } from 'zod'

export const CHAT_ID = z.string().min(1).describe('The chat_id of the message, passed back as it came.')

export const MESSAGE_ID = z
  .string()
  .min(1)
  .describe(
    'The message_id, as it came with the message or a result; the message.id of a delivery is taken, too.',
  )
