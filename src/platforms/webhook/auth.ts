// The proof that a hook requires, with its secrets: `verify` checks it, and a test of the hook signs with it.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { defined, SwitchboardError } from '../../contract/index.ts'
import { ed25519PublicKey, type StandardKey, standardKey } from '../../kit/index.ts'
import type { AuthObject, AuthOptions } from './auth-options.ts'
import { ED25519_FORM, formOf, NAMED_FORMS, type SignedForm, type Where } from './signed-form.ts'

/** Any of `secrets` counts, so that one can be changed without losing messages. */
export type Auth =
  | {
      readonly kind: 'signed'
      readonly form: SignedForm
      readonly keys: readonly KeyObject[]
      readonly secrets: readonly string[]
    }
  | {
      readonly kind: 'standard'
      readonly keys: readonly StandardKey[]
      readonly toleranceMs: number
      readonly secrets: readonly string[]
    }
  /** Each is `user:password`. */
  | { readonly kind: 'basic'; readonly secrets: readonly string[] }
  | { readonly kind: 'bearer'; readonly secrets: readonly string[] }
  | { readonly kind: 'header'; readonly name: string; readonly secrets: readonly string[] }
  /** The secret itself, in X-Webhook-Secret or as a bearer. */
  | { readonly kind: 'plain'; readonly secrets: readonly string[] }
  | { readonly kind: 'url'; readonly secrets: readonly string[] }
  | { readonly kind: 'loopback' }
  /** The hook receives nothing. It only posts. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'sender'; readonly header: string; readonly behindProxy: boolean }
  | { readonly kind: 'sns'; readonly topics: readonly string[]; readonly toleranceMs: number }

const TOLERANCE_MS = 300_000
/** SNS retries for an hour, always with the time of the first try. */
const SNS_TOLERANCE_MS = 86_400_000

export interface AuthKeys {
  readonly auth: AuthOptions
  /** `secret` beside `auth`: references. */
  readonly secret: string | readonly string[] | undefined
  readonly read: (reference: string) => string
}

/** Throws `config_invalid` when a key has an impossible form. The error contains no secret. */
export function readAuth({ auth, secret, read }: AuthKeys): Auth {
  const written: AuthObject = typeof auth === 'string' ? { type: auth } : auth
  const references = written.type === 'header' ? written.value : (written.secret ?? secret)
  const secrets = [references ?? []].flat().map((reference) => secretText(read(reference)))
  const { type } = written
  switch (type) {
    case 'loopback':
      return { kind: 'loopback' }
    case 'sns':
      return { kind: 'sns', topics: written.topics ?? [], toleranceMs: written.tolerance ?? SNS_TOLERANCE_MS }
    case 'standard': {
      const keys = secrets.map((one) => keyed('auth', () => standardKey(one)))
      return { kind: 'standard', keys, toleranceMs: written.tolerance ?? TOLERANCE_MS, secrets }
    }
    case 'gitlab':
      return { kind: 'header', name: 'x-gitlab-token', secrets }
    case 'header':
      return { kind: 'header', name: (written.name ?? '').toLowerCase(), secrets }
    case 'basic':
      return { kind: 'basic', secrets: secrets.map((one) => basicPair(one, written.user)) }
    case 'bearer':
      return { kind: 'bearer', secrets }
    case 'url_secret':
      return { kind: 'url', secrets }
    case 'ed25519': {
      const keys = [written.public_key ?? []]
        .flat()
        .map((one) => keyed('auth.public_key', () => publicKey(one)))
      return { kind: 'signed', form: ownForm(ED25519_FORM, written), keys, secrets: [] }
    }
    case 'hmac':
      return signed(ownForm(formOf({ header: '' }), written), secrets)
    default:
      return signed({ ...NAMED_FORMS[type], ...defined({ toleranceMs: written.tolerance }) }, secrets)
  }
}

function signed(form: SignedForm, secrets: readonly string[]): Auth {
  const keys = secrets.map((one) => createSecretKey(one, 'utf8'))
  return { kind: 'signed', form, keys, secrets }
}

/** Whether the credential covers the body. Anything outside of it may be changed in a replay. */
export function signsBody(auth: Auth): boolean {
  return auth.kind === 'signed' || auth.kind === 'standard' || auth.kind === 'sns'
}

function ownForm(base: SignedForm, written: AuthObject): SignedForm {
  const { header, prefix, separator, encoding, hash, signed, timestamp, id, tolerance } = written
  return {
    ...base,
    ...defined({ prefix, separator, encoding, hash, signed, toleranceMs: tolerance }),
    ...(header === undefined ? {} : { header: header.toLowerCase() }),
    ...(timestamp === undefined ? {} : { timestamp: { ...place(timestamp), unit: unitOf(timestamp) } }),
    ...(id === undefined ? {} : { id: place(id) }),
  }
}

type Spot = Exclude<AuthObject['timestamp'], undefined>

function place(spot: Spot): Where {
  if (typeof spot === 'string') return { header: spot.toLowerCase() }
  return { ...spot, header: spot.header?.toLowerCase() }
}

function unitOf(spot: Spot): 's' | 'ms' | 'iso' {
  return typeof spot === 'string' ? 's' : (spot.unit ?? 's')
}

function basicPair(secret: string, user: string | undefined): string {
  if (user !== undefined) return `${user}:${secret}`
  if (secret.includes(':')) return secret
  throw invalid('secret: for auth basic it is user:password; or give auth: { type: basic, user, secret }')
}

function publicKey(text: string): KeyObject {
  return ed25519PublicKey(Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? 'hex' : 'base64'))
}

function secretText(secret: string): string {
  if (secret === '') throw invalid('secret: is empty')
  return secret
}

function keyed<Key>(name: string, make: () => Key): Key {
  try {
    return make()
  } catch (thrown) {
    throw invalid(`${name}: ${thrown instanceof TypeError ? thrown.message : 'is not a key'}`)
  }
}

function invalid(problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', problem)
}
