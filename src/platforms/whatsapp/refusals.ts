// What the errors of the Cloud API mean for a message: refused for good, not now, to be mended by the operator, or nobody
// knows. The code stands first: people search for it.
import { SwitchboardError } from '../../contract/index.ts'
import { retryAfterMs } from '../../kit/index.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'

const TOKEN_HINT = 'see access_token of the integration; the app dashboard makes a new one under API Setup'
/** Nothing is lost for it: what waits goes out once it is right. */
const TOKEN_WAIT_MS = 30_000
/** Limits of a number are counted by the second. */
const BUSY_MS = 1_000
/** A pair may be written to once in six seconds. */
const PAIR_MS = 6_000

/** The token, the app or the account may not be used now. */
const OPERATOR: Readonly<Record<number, string>> = {
  0: 'the access token could not be read',
  3: 'the app may not use this API',
  10: 'the token lacks the permission whatsapp_business_messaging',
  190: 'the access token has expired or was revoked',
  131005: 'the token lacks a permission for this number',
  131031: 'the account is locked',
  131042: 'the account has a problem with its payment',
  131045: 'the number is not registered',
  133010: 'the number is not registered with the Cloud API',
  368: 'the account is blocked for a policy violation',
}

const BUSY: ReadonlySet<number> = new Set([4, 80007, 130429, 131056, 131057, 133016])
const SERVICE: ReadonlySet<number> = new Set([1, 2, 131000, 131016, 133004])

const REFUSED: Readonly<Record<number, string>> = {
  33: 'there is no such number, or the token may not see it',
  100: 'a parameter is not valid',
  130472: 'the person is part of an experiment and gets no marketing messages',
  130497: 'this business may not write to people in that country',
  131008: 'a parameter is missing',
  131009: 'a parameter has a value that is not valid',
  131021: 'sender and recipient are the same number',
  131026:
    'it cannot be delivered: no WhatsApp there, an old version, terms not accepted, or the number was blocked',
  131030: 'a test number writes only to the recipients that are listed for it',
  131048: 'too many messages of this number were blocked or reported; WhatsApp holds it back for some hours',
  131049: 'WhatsApp holds back marketing messages to this person',
  131050: 'the person does not want marketing messages',
  131051: 'this type of message is not taken',
  131052: 'the media could not be fetched',
  131053: 'the media could not be uploaded',
  131062: 'this can be sent to a phone number only',
  132000: 'the number of parameters does not match the template',
  132001: 'there is no such template in this language',
  132005: 'the text of the template is too long',
  132007: 'the template breaks the rules for its words',
  132012: 'a parameter does not match the form that the template has',
  132015: 'the template is paused for low quality',
  132016: 'the template is disabled',
}

/** A refusal by the API, known by its code. */
class WhatsAppRefusal extends SwitchboardError {
  readonly api: number
  constructor(code: SwitchboardError['code'], api: number, message: string, more: object = {}) {
    super(code, message, more)
    this.api = api
  }
}

export function isTokenRefusal(thrown: unknown): thrown is SwitchboardError {
  return (
    thrown instanceof WhatsAppRefusal && (Object.hasOwn(OPERATOR, thrown.api) || isPermission(thrown.api))
  )
}

export function refusedWith(thrown: unknown, ...codes: readonly number[]): boolean {
  return thrown instanceof WhatsAppRefusal && codes.includes(thrown.api)
}

export interface Answered {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly now: number
}

/** Null: it has no error that can be read, and nobody knows what was done. */
export function refusalOf(body: Fields, { status, retryAfter, now }: Answered): SwitchboardError | null {
  const error = fieldsOf(body.error)
  const api = typeof error.code === 'number' ? error.code : Number(textOf(error.code) ?? Number.NaN)
  if (!Number.isFinite(api)) return null
  const said = (textOf(fieldsOf(error.error_data).details) ?? textOf(error.message) ?? '').slice(0, 300)
  const tell = (meaning: string | undefined) =>
    `${api}: ${meaning ?? 'WhatsApp refused it'}${said === '' ? '' : ` (${said})`}`
  if (Object.hasOwn(OPERATOR, api) || isPermission(api) || status === 401)
    return new WhatsAppRefusal(
      'platform_unavailable',
      api,
      tell(OPERATOR[api] ?? 'a permission is missing'),
      {
        hint: TOKEN_HINT,
        retryAfterMs: TOKEN_WAIT_MS,
      },
    )
  if (api === 131047)
    return new WhatsAppRefusal(
      'window_closed',
      api,
      tell('more than 24 hours have passed since they wrote'),
      {
        hint: 'send a template; the next message of theirs opens it again',
      },
    )
  if (BUSY.has(api) || status === 429) {
    const least = api === 131056 ? PAIR_MS : BUSY_MS
    return new WhatsAppRefusal('rate_limited', api, tell('WhatsApp asks to wait'), {
      retryAfterMs: retryAfterMs(retryAfter, now) ?? least,
    })
  }
  // Its own fault: it may have sent the message before. Only a documented refusal proves that nothing was done.
  if (status >= 500)
    return new WhatsAppRefusal('outcome_unknown', api, tell('WhatsApp had a fault; it may have sent it'))
  if (SERVICE.has(api))
    return new WhatsAppRefusal('platform_unavailable', api, tell('WhatsApp has a fault of its own'))
  // No WhatsApp there, or the number was blocked.
  const gone = api === 131026 ? { placeGone: true } : {}
  return new WhatsAppRefusal('platform_rejected', api, tell(REFUSED[api]), gone)
}

function isPermission(api: number): boolean {
  return api >= 200 && api <= 299
}
