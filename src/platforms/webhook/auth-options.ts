// The options for a sender's proof: `auth` by name with its key in `secret`, or an object with its parts.
import { z } from 'zod'
import { optionalDuration, secret, text } from '../../kit/option-words.ts'
import { ED25519_FORM, NAMED_FORMS } from './signed-form.ts'

const SIGNED_NAMES = Object.keys(NAMED_FORMS) as (keyof typeof NAMED_FORMS)[]
const AUTH_NAMES = [
  ...SIGNED_NAMES,
  'standard',
  'gitlab',
  'basic',
  'bearer',
  'url_secret',
  'loopback',
] as const
const AUTH_TYPES = [...AUTH_NAMES, 'header', 'hmac', 'ed25519', 'sns'] as const
export type AuthType = (typeof AUTH_TYPES)[number]

/** One reference, or several while a key is being changed. */
export const secrets = (description: string) =>
  z
    .union([secret(description), z.array(secret(description)).min(1).max(8)], {
      error: 'expected a reference to a secret, or a list of them',
    })
    .meta({ description: `${description} A reference, or a list of them while rotating.`, 'x-secret': true })

const headerName = (description: string) =>
  text(description).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, {
    error: 'is not the name of an HTTP header',
  })

const where = (what: string) =>
  z
    .union(
      [
        headerName(`The header that holds the ${what}.`),
        z.strictObject({
          header: headerName(`The header that holds the ${what}.`).optional(),
          prefix: text('It is the part of the header that starts so, as t= in t=1,v1=….').optional(),
          field: text(`The field of the JSON body that holds the ${what}.`).optional(),
          unit: z.enum(['s', 'ms', 'iso']).optional().describe('How a time is written. Default: s.'),
        }),
      ],
      { error: `expected the header of the ${what}, or { header } or { field }` },
    )
    .optional()
    .describe(`Where the ${what} stands: a header, or { header, prefix } or { field }.`)

const authObject = z
  .strictObject({
    type: z.enum(AUTH_TYPES).describe('The form of the proof.'),
    secret: secrets('The key.').optional(),
    user: text('basic: the user name.').optional(),
    name: headerName('header: the name of the header.').optional(),
    value: secrets('header: what it must hold.').optional(),
    header: headerName('hmac, ed25519: the header that holds the signature.').optional(),
    prefix: text('hmac, ed25519: what stands before the signature, such as sha256=.').optional(),
    separator: text('hmac, ed25519: what several signatures in one header are parted by.').optional(),
    encoding: z
      .enum(['hex', 'base64'])
      .optional()
      .describe('hmac, ed25519: how it is written. Default: hex.'),
    hash: z.enum(['sha1', 'sha256', 'sha512']).optional().describe('hmac: the hash. Default: sha256.'),
    signed: text(
      'hmac, ed25519: what is signed, of {body}, {timestamp} and {id}. Default: {body}.',
    ).optional(),
    timestamp: where('time'),
    id: where('id'),
    tolerance: optionalDuration('How old, or how far ahead, a signed time may be. Default: 5m.'),
    public_key: z
      .union([text('The public key.'), z.array(text('A public key.')).min(1).max(8)])
      .optional()
      .describe('ed25519: the sender’s public key, 32 bytes in hex or base64, or a list of them.'),
    topics: z
      .array(text('An ARN.'))
      .min(1)
      .optional()
      .describe('sns: the topics that may speak here; any AWS account can sign for its own.'),
  })
  .superRefine((auth, context) => {
    for (const key of Object.keys(auth) as (keyof typeof auth)[]) {
      if (key === 'type' || auth[key] === undefined || KEYS_OF[auth.type].includes(key)) continue
      const message = `"${key}" is no key of auth type ${auth.type}`
      context.addIssue({ code: 'custom', path: [key], message })
    }
    for (const key of NEEDED[auth.type] ?? [])
      if (auth[key] === undefined)
        context.addIssue({ code: 'custom', path: [], message: `auth type ${auth.type} needs "${key}"` })
    if (auth.signed !== undefined && !auth.signed.includes('{body}'))
      context.addIssue({
        code: 'custom',
        path: ['signed'],
        message: 'must name {body}: else anybody could change it',
      })
    const signed = auth.signed ?? (auth.type === 'ed25519' ? ED25519_FORM.signed : '{body}')
    for (const part of ['timestamp', 'id'] as const) {
      const spot = auth[part]
      if (
        spot !== undefined &&
        typeof spot !== 'string' &&
        (spot.header === undefined) === (spot.field === undefined)
      )
        context.addIssue({ code: 'custom', path: [part], message: 'takes either "header" or "field"' })
      if (spot === undefined && auth.signed?.includes(`{${part}}`))
        context.addIssue({
          code: 'custom',
          path: ['signed'],
          message: `names {${part}}, so "${part}" must say where it stands`,
        })
    }
    // Adjacent parts could be divided differently: `1` with `2.3` and `1.` with `23` give the same signed text.
    if (signed.replaceAll('{timestamp}{body}', '').includes('}{'))
      context.addIssue({
        code: 'custom',
        path: ['signed'],
        message:
          'needs something between its parts, such as {timestamp}.{id}.{body}: else they can slide into each other',
      })
    // An unsigned time proves nothing, because a replay can carry any time.
    const time = auth.timestamp
    const inBody = typeof time === 'object' && time.field !== undefined
    if (time !== undefined && !inBody && !signed.includes('{timestamp}'))
      context.addIssue({
        code: 'custom',
        path: ['timestamp'],
        message: 'must be part of what is signed: {timestamp} in "signed", or a field of the body',
      })
  })

const FORM_KEYS = ['header', 'prefix', 'separator', 'encoding', 'signed', 'timestamp', 'id', 'tolerance']
const NAMED_KEYS = ['secret', 'tolerance']
const KEYS_OF: Readonly<Record<AuthType, readonly string[]>> = {
  github: NAMED_KEYS,
  gitea: NAMED_KEYS,
  bitbucket: NAMED_KEYS,
  jira: NAMED_KEYS,
  slack: NAMED_KEYS,
  stripe: NAMED_KEYS,
  shopify: NAMED_KEYS,
  linear: NAMED_KEYS,
  sentry: NAMED_KEYS,
  pagerduty: NAMED_KEYS,
  standard: ['secret', 'tolerance'],
  gitlab: ['secret'],
  basic: ['user', 'secret'],
  bearer: ['secret'],
  url_secret: ['secret'],
  loopback: [],
  header: ['name', 'value'],
  hmac: ['secret', 'hash', ...FORM_KEYS],
  ed25519: ['public_key', ...FORM_KEYS],
  sns: ['topics', 'tolerance'],
}
const NEEDED: Readonly<
  Partial<Record<AuthType, readonly ('name' | 'value' | 'header' | 'public_key' | 'topics')[]>>
> = {
  header: ['name', 'value'],
  hmac: ['header'],
  ed25519: ['public_key'],
  sns: ['topics'],
}

export const authOptions = z
  .union([z.enum(AUTH_NAMES), authObject], {
    error: `expected one of ${AUTH_NAMES.join(', ')}, or { type: … }`,
  })
  .optional()
  .describe('How a sender proves itself: a name, with its key in "secret", or { type, … }.')

export type AuthOptions = Exclude<z.output<typeof authOptions>, undefined>
export type AuthObject = z.output<typeof authObject>

/** The types that need no secret of ours. */
export const KEYLESS: readonly AuthType[] = ['loopback', 'header', 'ed25519', 'sns']
