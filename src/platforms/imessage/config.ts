// The options of Messages on this Mac, and their values.
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { type IntegrationSettings, SwitchboardError } from '../../contract/index.ts'
import { optionsProblem, text } from '../../kit/option-words.ts'

export const imessageOptions = z
  .strictObject({
    db_path: text('Path of chat.db. Default: ~/Library/Messages/chat.db.').optional(),
    allow_sms: z.boolean().default(false).describe('Also take SMS and RCS, whose senders can be forged.'),
    addresses: z
      .array(text('A phone number with +, or an Apple Account address.'))
      .max(20)
      .default([])
      .describe(
        'Your own addresses: they may speak and approve, and a chat with one of them is one with yourself.',
      ),
  })
  .describe('Messages on this Mac.')

export interface IMessageConfig {
  readonly id: string
  readonly dbPath: string
  /** A folder that Messages can read. */
  readonly filesDir: string
  readonly allowSms: boolean
  /** In the form of `addressOf`. */
  readonly own: ReadonlySet<string>
}

/** Time limits. Tests make them short. */
export interface Timings {
  /** Between looks at the database. */
  readonly pollMs: number
  readonly retryMs: number
  /** How long a message may be without its chat. */
  readonly joinMs: number
  readonly scriptMs: number
  /** How long a sent message may take to appear. */
  readonly confirmMs: number
  readonly lookMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  pollMs: 1_000,
  retryMs: 10_000,
  joinMs: 5_000,
  scriptMs: 30_000,
  confirmMs: 10_000,
  lookMs: 200,
}

/** Removes separators from numbers, and lower-cases mail addresses, as Messages compares them. */
export function addressOf(written: string): string {
  const bare = written.trim().replace(/^[EePp]:/, '')
  return bare.includes('@') ? bare.toLowerCase() : bare.replaceAll(/[\s().-]/g, '')
}

/** Reads and checks the options. Throws `config_invalid` naming the key. */
export function readConfig({ id, options }: Pick<IntegrationSettings, 'id' | 'options'>): IMessageConfig {
  const parsed = imessageOptions.safeParse(options)
  if (!parsed.success)
    throw new SwitchboardError('config_invalid', `imessage ${id}: ${optionsProblem(parsed) ?? 'malformed'}`)
  const { db_path, allow_sms, addresses } = parsed.data
  const dbPath = (db_path ?? '~/Library/Messages/chat.db').replace(/^~(?=\/)/, homedir())
  return {
    id,
    dbPath,
    filesDir: join(dirname(dbPath), 'Attachments'),
    allowSms: allow_sms,
    own: new Set(addresses.map(addressOf)),
  }
}
