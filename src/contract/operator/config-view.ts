// The configuration as the console shows it: masked, with its problems in place.

export interface ConfigProblem {
  /** From 1; 0 for the file as a whole. */
  readonly line: number
  readonly column: number
  /** `integrations[0].platform`. */
  readonly path: string
  readonly message: string
  readonly hint: string | null
}

export interface ConfigView {
  /** Null: the embedded default. */
  readonly file: string | null
  readonly digest: string
  readonly warnings: readonly string[]
  /** The file in force, with possible secrets masked. Empty for the embedded default. */
  readonly lines: readonly string[]
  /** Present when the file on disk is invalid: it is not the one in force. */
  readonly refused?: { readonly lines: readonly string[]; readonly problems: readonly ConfigProblem[] }
}

export interface ConfigCheck {
  readonly ok: boolean
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly string[]
}

/** A user of the configuration. */
export interface UserView {
  readonly id: string
  readonly roles: readonly string[]
  /** `integration:sender`. */
  readonly identities: readonly string[]
  readonly notify_to: string | null
}

/** The result for one of several messages to retry or bury. */
export interface OperatedSend {
  readonly id: string
  readonly ok: boolean
  readonly state: string | null
  readonly problem: string | null
}
