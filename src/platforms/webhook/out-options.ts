// The options for posting answers: the URL, the keys that sign, and the receiver's format.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { SwitchboardError } from '../../contract/index.ts'
import { type StandardKey, standardKey } from '../../kit/index.ts'
import { secret, text, textOrSecret } from '../../kit/option-words.ts'
import { secrets } from './auth-options.ts'

const OUT_FORMATS = ['json', 'slack', 'discord', 'teams', 'ntfy', 'gotify', 'pagerduty'] as const
export type OutFormat = (typeof OUT_FORMATS)[number]

export const outOptions = z
  .strictObject({
    url: text('Where answers are posted: a URL, or a reference to one.'),
    secret: secrets('Signs what is posted: Standard Webhooks, and X-Signature-256.').optional(),
    format: z
      .enum(OUT_FORMATS)
      .default('json')
      .describe('As whom it is written for: our own JSON, or a taker’s form.'),
    token: secret('ntfy, gotify: the access token. pagerduty: the routing key.').optional(),
    headers: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, { error: 'is not the name of an HTTP header' }),
        textOrSecret,
      )
      .optional()
      .describe('Headers that its taker wants besides.'),
    allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
  })
  .superRefine((out, context) => {
    if (!/^(https?:\/\/|env:|file:|secret:)/.test(out.url)) {
      const message = 'expected a URL that starts with http:// or https://, or a reference to one'
      context.addIssue({ code: 'custom', path: ['url'], message })
    }
    if (out.format === 'pagerduty' && out.token === undefined)
      context.addIssue({
        code: 'custom',
        path: [],
        message: 'format pagerduty needs "token": its routing key',
      })
    if (out.format !== 'json' && out.secret !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['secret'],
        message: `format ${out.format} is not signed; "secret" is for json`,
      })
  })
  .optional()
  .describe('Answers are posted to a URL.')

export interface Posting {
  readonly kind: 'post'
  readonly url: string
  readonly format: OutFormat
  /** Each of them signs. The first is the newest. */
  readonly keys: readonly StandardKey[]
  /** For X-Signature-256, which holds one signature. */
  readonly first: KeyObject | null
  readonly token: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly allowPrivate: boolean
}

type OutOptions = Exclude<z.output<typeof outOptions>, undefined>

/** Throws `config_invalid` for an invalid key. */
export function readOut(out: OutOptions, read: (reference: string) => string): Posting {
  const value = (written: string) => (/^(?:env|file|secret):/.test(written) ? read(written) : written)
  const texts = [out.secret ?? []].flat().map(read)
  const [first] = texts
  return {
    kind: 'post',
    url: value(out.url),
    format: out.format,
    keys: texts.map(signingKey),
    first: first === undefined ? null : createSecretKey(first, 'utf8'),
    token: out.token === undefined ? null : read(out.token),
    headers: Object.fromEntries(
      Object.entries(out.headers ?? {}).map(([name, written]) => [name.toLowerCase(), value(written)]),
    ),
    allowPrivate: out.allow_private,
  }
}

function signingKey(text: string): StandardKey {
  try {
    const key = standardKey(text)
    if (key.kind === 'hmac' || key.sign !== null) return key
  } catch {
    // The error is thrown below, without the key.
  }
  throw new SwitchboardError(
    'config_invalid',
    'out.secret: cannot sign: expected whsec_… or whsk_… or any other text',
  )
}
