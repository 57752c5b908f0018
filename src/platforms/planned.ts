// Platforms that SPEC names and that this version does not build: their keys can be written and are checked, so that a
// file is right before its platform is there. One that is built takes its schema along into its folder.
import { z } from 'zod'
import type { PlannedModule } from '../contract/index.ts'
import { text } from '../kit/option-words.ts'

const imessageOptions = z
  .strictObject({
    db_path: text('Path of chat.db.').optional(),
    allow_sms: z.boolean().default(false).describe('Also take SMS, whose senders can be forged.'),
  })
  .describe('Messages on this Mac.')

export const imessage: PlannedModule = {
  name: 'imessage',
  options: imessageOptions,
  defaultAccess: { dm: 'allowlist' },
}
