// The meaning of the Cloud API's errors for a message.
import type { SwitchboardError } from '../../contract/index.ts'
import {
  ApiError,
  createRefusals,
  type Failure,
  type FailureTable,
  failures,
  isRefusal,
} from '../../kit/index.ts'
import { type Fields, fieldsOf, textOf } from './fields.ts'

export { isRefusal }

/** The token, the app or the account may not be used now. Waiting messages are sent once it is right. */
const TOKEN: Failure = {
  code: 'platform_unavailable',
  meaning: 'a permission is missing',
  hint: 'see access_token of the integration; the app dashboard makes a new one under API Setup',
  retryAfterMs: 30_000,
}
/** The limits of a number are counted by the second. */
const BUSY: Failure = { code: 'rate_limited', meaning: 'WhatsApp asks to wait', retryAfterMs: 1_000 }
const SERVICE: Failure = { code: 'platform_unavailable', meaning: 'WhatsApp has a fault of its own' }
/** Only a documented refusal proves that nothing was done. */
const FAULT: Failure = { code: 'outcome_unknown', meaning: 'WhatsApp had a fault; it may have sent it' }

/** These apply to any status. */
const OPERATOR: FailureTable = failures(TOKEN, {
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
})
const NOT_NOW: FailureTable = {
  4: BUSY,
  80007: BUSY,
  130429: BUSY,
  // A person may be written to once in six seconds.
  131056: { ...BUSY, retryAfterMs: 6_000 },
  131057: BUSY,
  133016: BUSY,
  131047: {
    code: 'window_closed',
    meaning: 'more than 24 hours have passed since they wrote',
    hint: 'send a template; the next message of theirs opens it again',
  },
}

const FAILURES: FailureTable = {
  ...OPERATOR,
  ...NOT_NOW,
  1: SERVICE,
  2: SERVICE,
  131000: SERVICE,
  131016: SERVICE,
  133004: SERVICE,
  ...failures(
    { code: 'platform_rejected', placeGone: true },
    {
      131026:
        'it cannot be delivered: no WhatsApp there, an old version, terms not accepted, or the number was blocked',
    },
  ),
  ...failures(
    { code: 'platform_rejected' },
    {
      33: 'there is no such number, or the token may not see it',
      100: 'a parameter is not valid',
      130472: 'the person is part of an experiment and gets no marketing messages',
      130497: 'this business may not write to people in that country',
      131008: 'a parameter is missing',
      131009: 'a parameter has a value that is not valid',
      131021: 'sender and recipient are the same number',
      131030: 'a test number writes only to the recipients that are listed for it',
      131048:
        'too many messages of this number were blocked or reported; WhatsApp holds it back for some hours',
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
    },
  ),
}

const refusal = createRefusals('WhatsApp', FAILURES)

export function isTokenRefusal(thrown: unknown): thrown is SwitchboardError {
  if (!(thrown instanceof ApiError) || thrown.key === null) return false
  return Object.hasOwn(OPERATOR, thrown.key) || isPermission(Number(thrown.key))
}

export interface Answered {
  readonly status: number
  readonly retryAfterMs: number | null
}

/** Null: the body contains no readable error, so the outcome is unknown. */
export function refusalOf(body: Fields, { status, retryAfterMs }: Answered): ApiError | null {
  const error = fieldsOf(body.error)
  const key = typeof error.code === 'number' ? error.code : Number(textOf(error.code) ?? Number.NaN)
  if (!Number.isFinite(key)) return null
  const detail = (textOf(fieldsOf(error.error_data).details) ?? textOf(error.message) ?? '').slice(0, 300)
  const failure = failureOf(key, status)
  const isBusy = (failure ?? FAILURES[key])?.code === 'rate_limited'
  return refusal({ key, status, detail, failure, retryAfterMs: isBusy ? retryAfterMs : null })
}

/** Decides by the status, or by the range of the code. Undefined: the row of the code applies. */
function failureOf(key: number, status: number): Failure | undefined {
  if (Object.hasOwn(OPERATOR, key)) return undefined
  if (isPermission(key) || status === 401) return TOKEN
  if (Object.hasOwn(NOT_NOW, key)) return undefined
  if (status === 429) return BUSY
  return status >= 500 ? FAULT : undefined
}

function isPermission(api: number): boolean {
  return api >= 200 && api <= 299
}
