// The refusals of the Cloud API: a status, a code that decides, and a text.
import { defined } from '../../contract/index.ts'

export interface Refusal {
  readonly status: number
  readonly code: number
  readonly details: string
  readonly retryAfter?: number
}

export type Answer = { readonly result: Readonly<Record<string, unknown>> } | { readonly refusal: Refusal }

const TITLES: Readonly<Record<number, string>> = {
  100: 'Invalid parameter',
  190: 'Error validating access token: Session has expired',
  130429: 'Rate limit hit',
  131000: 'Something went wrong',
  131008: 'Required parameter is missing',
  131009: 'Parameter value is not valid',
  131026: 'Message Undeliverable',
  131047: 'Re-engagement message',
  131051: 'Unsupported message type',
  131053: 'Media upload error',
  131056: '(Business Account, Consumer Account) pair rate limit hit',
  132000: 'Number of parameters does not match the expected number of params',
  132001: 'Template name does not exist in the translation',
}

export function refuse(code: number, details: string, status = 400, retryAfter?: number): Answer {
  return { refusal: { status, code, details, ...defined({ retryAfter }) } }
}

export function titleOf(code: number): string {
  return TITLES[code] ?? 'An error occurred'
}

/** The body of a refusal. */
export function errorBody({ code, details }: Refusal): object {
  return {
    error: {
      message: `(#${code}) ${titleOf(code)}`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'AemulatedTraceOfTheFake',
    },
  }
}
