// The error class and the table of error codes. Refusals are outcomes, not errors: see reasons.ts.

export interface ErrorNature {
  /** Who has to act. */
  readonly fault: 'caller' | 'operator' | 'platform' | 'agent' | 'switchboard'
  readonly retryable: boolean
  readonly httpStatus: number
  /** 1 failed, 2 usage or configuration. */
  readonly exitCode: 1 | 2
  readonly meaning: string
}

export const ERROR_TABLE = {
  input_invalid: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: 2,
    meaning: 'The input is malformed; the message names the field.',
  },
  unauthorized: {
    fault: 'caller',
    retryable: false,
    httpStatus: 401,
    exitCode: 1,
    meaning: 'The credential is missing or wrong.',
  },
  forbidden: {
    fault: 'caller',
    retryable: false,
    httpStatus: 403,
    exitCode: 1,
    meaning: 'The credential is good, but not for this.',
  },
  not_found: {
    fault: 'caller',
    retryable: false,
    httpStatus: 404,
    exitCode: 1,
    meaning: 'There is no such thing, or no such secret URL.',
  },
  method_not_allowed: {
    fault: 'caller',
    retryable: false,
    httpStatus: 405,
    exitCode: 1,
    meaning: 'The path exists, but not for this method.',
  },
  conflict: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
    meaning: 'Somebody else was first, or the state does not allow it.',
  },
  held: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
    meaning: 'A person holds this conversation in the agent’s place.',
  },
  not_held: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
    meaning: 'Only who holds a conversation may write there as a person, or give it back.',
  },
  gone: {
    fault: 'caller',
    retryable: false,
    httpStatus: 410,
    exitCode: 1,
    meaning: 'It existed and has expired.',
  },
  too_large: {
    fault: 'caller',
    retryable: false,
    httpStatus: 413,
    exitCode: 1,
    meaning: 'The body is over the limit.',
  },
  unsupported_media: {
    fault: 'caller',
    retryable: false,
    httpStatus: 415,
    exitCode: 1,
    meaning: 'That content type is not taken here.',
  },
  rate_limited: {
    fault: 'caller',
    retryable: true,
    httpStatus: 429,
    exitCode: 1,
    meaning: 'Too many; try again after the time given.',
  },
  config_invalid: {
    fault: 'operator',
    retryable: false,
    httpStatus: 500,
    exitCode: 2,
    meaning: 'The configuration does not hold; line, column and a hint are given.',
  },
  data_folder_held: {
    fault: 'operator',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
    meaning: 'Another daemon owns this data folder.',
  },
  daemon_absent: {
    fault: 'operator',
    retryable: false,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'The command needs a running daemon, and none holds the data folder.',
  },
  store_unavailable: {
    fault: 'operator',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'The database cannot be written now (away, locked, or the disk is full).',
  },
  store_corrupt: {
    fault: 'operator',
    retryable: false,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'The database file is damaged or from a newer version.',
  },
  draining: {
    fault: 'switchboard',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'Not now: the daemon or this part of it is starting, waiting for a secret, or shutting down.',
  },
  agent_absent: {
    fault: 'agent',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'No process is attached for this agent.',
  },
  agent_unreachable: {
    fault: 'agent',
    retryable: true,
    httpStatus: 503,
    exitCode: 1,
    meaning: 'The agent cannot be reached: no connection, or a 502, 503 or 504. The request is sent again.',
  },
  agent_failed: {
    fault: 'agent',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
    meaning: 'The agent answered with an error.',
  },
  platform_unavailable: {
    fault: 'platform',
    retryable: true,
    httpStatus: 502,
    exitCode: 1,
    meaning:
      'No message reached the platform: there was no connection, or it said that it did nothing. A read without an answer has this code, too.',
  },
  platform_rejected: {
    fault: 'platform',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
    meaning: 'The platform refused the message for good.',
  },
  window_closed: {
    fault: 'platform',
    retryable: false,
    httpStatus: 409,
    exitCode: 1,
    meaning: 'The platform takes free text only for a while after a person wrote, and that time is over.',
  },
  outcome_unknown: {
    fault: 'platform',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
    meaning: 'The request may have arrived, but no confirmation came.',
  },
  execution_failed: {
    fault: 'switchboard',
    retryable: false,
    httpStatus: 502,
    exitCode: 1,
    meaning: 'A tool could not do what was asked.',
  },
  not_built: {
    fault: 'operator',
    retryable: false,
    httpStatus: 501,
    exitCode: 2,
    meaning: 'Known by name, but not in this version.',
  },
  internal: {
    fault: 'switchboard',
    retryable: false,
    httpStatus: 500,
    exitCode: 1,
    meaning: 'A bug in Switchboard.',
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
