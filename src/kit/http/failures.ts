// Classifies unsuccessful answers by their meaning for the message: by the vendor's error and a table, or by the
// status.
import { defined, type ErrorCode, type ErrorDetail, SwitchboardError } from '../../contract/index.ts'
import { retryAfterMs } from './retry-after.ts'

/** An unsuccessful answer with the vendor's name or number of the error, and its status. */
export class ApiError extends SwitchboardError {
  /** Null: the answer named no error, so only the status counts. */
  readonly key: string | number | null
  readonly status: number

  constructor(
    code: ErrorCode,
    message: string,
    {
      key,
      status,
      ...detail
    }: ErrorDetail & { readonly key: string | number | null; readonly status: number },
  ) {
    super(code, message, detail)
    this.key = key
    this.status = status
  }
}

/** Whether it is a vendor's error with one of these names or numbers. */
export function isRefusal(thrown: unknown, ...keys: readonly (string | number)[]): thrown is ApiError {
  return thrown instanceof ApiError && thrown.key !== null && keys.includes(thrown.key)
}

/** Whether it is an answer with one of these statuses, whatever error it names. */
export function isStatus(thrown: unknown, ...statuses: readonly number[]): thrown is ApiError {
  return thrown instanceof ApiError && statuses.includes(thrown.status)
}

/** The meaning of one vendor error for the message. */
export interface Failure extends Pick<ErrorDetail, 'hint' | 'retryAfterMs' | 'placeGone'> {
  /**
   * `platform_rejected`: refused for good. `platform_unavailable`: nothing was done, and the core retries.
   * `rate_limited`: the same, after a pause. `outcome_unknown`: it may have been done.
   */
  readonly code: ErrorCode
  /** The meaning for a person. Absent: the vendor's text is shown. */
  readonly meaning?: string
}

export type FailureTable = Readonly<Record<string | number, Failure>>

/** Rows of a failure table that differ only in their meaning. */
export function failures(
  failure: Failure,
  meanings: Readonly<Record<string | number, string>>,
): FailureTable {
  return Object.fromEntries(Object.entries(meanings).map(([key, meaning]) => [key, { ...failure, meaning }]))
}

/** An error of a vendor's answer. */
export interface Fault {
  readonly key: string | number
  readonly status?: number
  /** The vendor's text, for an error without a meaning in the table. */
  readonly said?: string
  /** Appended to the meaning in parentheses. */
  readonly detail?: string
  /** The beginning of the message. Absent: the key, because people search for it. Empty: none. */
  readonly label?: string
  /** The pause that this answer requests. Absent or null: the table's. */
  readonly retryAfterMs?: number | null
  /** Replaces the row of the table, where more than the key decides. */
  readonly failure?: Failure | undefined
}

/** Makes the errors of one vendor. An error outside the table becomes `platform_rejected`. */
export function createRefusals(vendor: string, table: FailureTable): (fault: Fault) => ApiError {
  return ({ key, status = 0, said = '', detail = '', label = String(key), retryAfterMs, failure }) => {
    const row = failure ?? (Object.hasOwn(table, key) ? table[key] : undefined)
    const { code, meaning, ...rest }: Failure = row ?? { code: 'platform_rejected' }
    const words = (meaning ?? said) || `${vendor} refuses`
    const message = (label === '' ? words : `${label}: ${words}`) + (detail === '' ? '' : ` (${detail})`)
    return new ApiError(code, message, {
      key,
      status,
      ...rest,
      ...defined({ retryAfterMs: retryAfterMs ?? rest.retryAfterMs }),
    })
  }
}

/** Keys are statuses, or families of them: `5xx`. */
export type StatusTable = Readonly<Record<string | number, ErrorCode>>

const STATUSES: StatusTable = {
  // The request did not arrive whole.
  408: 'platform_unavailable',
  429: 'rate_limited',
  // The success cannot be read.
  '2xx': 'outcome_unknown',
  '3xx': 'platform_rejected',
  '4xx': 'platform_rejected',
  // A server may fail after the work was done.
  '5xx': 'outcome_unknown',
}

export interface StatusContext {
  /** The peer's name in the message. */
  readonly whom: string
  readonly retryAfter?: string | null | undefined
  readonly now: number
  /** Overrides for this peer's statuses. */
  readonly codes?: StatusTable
}

/** Returns the meaning of a status if the answer says nothing else. */
export function statusError(status: number, { whom, retryAfter, now, codes = {} }: StatusContext): ApiError {
  const table = { ...STATUSES, ...codes }
  const code = table[status] ?? table[`${Math.floor(status / 100)}xx`] ?? 'outcome_unknown'
  const isFinal = code === 'platform_rejected' || code === 'gone'
  const pauseMs = isFinal ? null : retryAfterMs(retryAfter, now)
  const isRedirect = code === 'platform_rejected' && status < 400
  const message =
    status >= 200 && status < 300 ? 'gave an answer that could not be read' : `answered ${status}`
  return new ApiError(code, `${whom} ${message}`, {
    key: null,
    status,
    written: code === 'agent_unreachable',
    ...defined({
      retryAfterMs: pauseMs ?? undefined,
      hint: isRedirect ? 'redirects are not followed: give the final URL' : undefined,
    }),
  })
}
