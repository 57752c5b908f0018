// The error class and the table of error codes; `src/words` says what each means. Refusals are outcomes, not errors: see
// reasons.ts.

export interface ErrorNature {
  /** Who has to act. */
  readonly fault: 'caller' | 'operator' | 'platform' | 'agent' | 'switchboard'
  readonly retryable: boolean
  readonly httpStatus: number
  /** 1 failed, 2 usage or configuration. */
  readonly exitCode: 1 | 2
}

export const ERROR_TABLE = {
  input_invalid: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: 2,
  },
  unauthorized: {
    fault: 'caller',
    retryable: false,
    httpStatus: 401,
    exitCode: 1,
  },
  forbidden: {
    fault: 'caller',
    retryable: false,
    httpStatus: 403,
    exitCode: 1,
  },
  not_found: {
    fault: 'caller',
    retryable: false,
    httpStatus: 404,
    exitCode: 1,
  },
  method_not_allowed: {
    fault: 'caller',
    retryable: false,
    httpStatus: 405,
    exitCode: 1,
  },
  conflict: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
  },
  held: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
  },
  not_held: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
  },
  gone: {
    fault: 'caller',
    retryable: false,
    httpStatus: 410,
    exitCode: 1,
  },
  too_large: {
    fault: 'caller',
    retryable: false,
    httpStatus: 413,
    exitCode: 1,
  },
  unsupported_media: {
    fault: 'caller',
    retryable: false,
    httpStatus: 415,
    exitCode: 1,
  },
  rate_limited: {
    fault: 'caller',
    retryable: true,
    httpStatus: 429,
    exitCode: 1,
  },
  config_invalid: {
    fault: 'operator',
    retryable: false,
    httpStatus: 500,
    exitCode: 2,
  },
  data_folder_held: {
    fault: 'operator',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
  },
  daemon_absent: {
    fault: 'operator',
    retryable: false,
    httpStatus: 503,
    exitCode: 1,
  },
  store_unavailable: {
    fault: 'operator',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
  },
  store_corrupt: {
    fault: 'operator',
    retryable: false,
    httpStatus: 503,
    exitCode: 1,
  },
  draining: {
    fault: 'switchboard',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
  },
  agent_absent: {
    fault: 'agent',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
  },
  agent_unreachable: {
    fault: 'agent',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
  },
  agent_failed: {
    fault: 'agent',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
  },
  platform_unavailable: {
    fault: 'platform',
    retryable: true,
    httpStatus: 502,
    exitCode: 1,
  },
  platform_rejected: {
    fault: 'platform',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
  },
  window_closed: {
    fault: 'platform',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
  },
  outcome_unknown: {
    fault: 'platform',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
  },
  execution_failed: {
    fault: 'switchboard',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
  },
  not_built: {
    fault: 'operator',
    retryable: false,
    httpStatus: 501,
    exitCode: 2,
  },
  internal: {
    fault: 'switchboard',
    retryable: false,
    httpStatus: 500,
    exitCode: 1,
  },
} as const satisfies Record<string, ErrorNature>

export type ErrorCode = keyof typeof ERROR_TABLE

export interface ErrorDetail {
  /** What the reader can do about it, in one sentence. */
  readonly hint?: string
  readonly retryAfterMs?: number
  /** The request went out, so its receiver may have read it. */
  readonly written?: boolean
  /** The receiver is present but has no capacity now. People who wait are informed. */
  readonly busy?: true
  /** Nothing can be sent there any more: the chat, its person or its address is gone. */
  readonly placeGone?: true
  readonly cause?: unknown
}

/** The same in every copy of the package. */
const OF_SWITCHBOARD = Symbol.for('switchboard.error')

/** The error class that all folders throw. The message is for a person and never contains a secret. */
export class SwitchboardError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly retryAfterMs: number | undefined
  readonly written: boolean
  readonly busy: true | undefined
  readonly placeGone: true | undefined

  /**
   * A third-party adapter may have its own copy of this package, and the errors of that copy count as ours. They are
   * recognised by the symbol and a code of the table alone.
   */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    // A class of its own that extends this one is asked for in the ordinary way.
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class behind `instanceof`, which may be another one
    if (this !== SwitchboardError) return Function.prototype[Symbol.hasInstance].call(this, thrown)
    if (!(thrown instanceof Error)) return false
    const { code, [OF_SWITCHBOARD]: ours } = thrown as { code?: unknown; [OF_SWITCHBOARD]?: unknown }
    return ours === true && typeof code === 'string' && Object.hasOwn(ERROR_TABLE, code)
  }

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'SwitchboardError'
    this.code = code
    this.hint = detail.hint
    this.retryAfterMs = detail.retryAfterMs
    this.written = detail.written ?? false
    this.busy = detail.busy
    this.placeGone = detail.placeGone
  }

  get nature(): ErrorNature {
    return ERROR_TABLE[this.code]
  }

  get [OF_SWITCHBOARD](): true {
    return true
  }
}

/** Returns a thrown value as a SwitchboardError. Any other value becomes `internal`, or the given code. */
export function asSwitchboardError(thrown: unknown, code: ErrorCode = 'internal'): SwitchboardError {
  if (thrown instanceof SwitchboardError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new SwitchboardError(code, message, { cause: thrown })
}
