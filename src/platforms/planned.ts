// Platforms that SPEC names and that this version does not build: their keys can be written and are checked, so that a
// file is right before its platform is there. One that is built takes its schema along into its folder.
import { z } from 'zod'
import type { PlannedModule } from '../contract/index.ts'
import { httpUrl, secret, text } from '../kit/option-words.ts'

const discordOptions = z
  .strictObject({
    token: secret('The bot’s token.'),
    api_url: httpUrl('Base URL of the API.').default('https://discord.com/api'),
  })
  .describe('A Discord bot.')

const imessageOptions = z
  .strictObject({
    db_path: text('Path of chat.db.').optional(),
    allow_sms: z.boolean().default(false).describe('Also take SMS, whose senders can be forged.'),
  })
  .describe('Messages on this Mac.')

export const discord: PlannedModule = {
  name: 'discord',
  options: discordOptions,
  defaultAccess: { dm: 'pairing' },
}
export const imessage: PlannedModule = {
  name: 'imessage',
  options: imessageOptions,
  defaultAccess: { dm: 'allowlist' },
}
