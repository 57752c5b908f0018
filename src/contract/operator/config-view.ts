// The configuration as the console shows it: masked, with its problems where they are.

export interface ConfigProblem {
  /** From 1; 0 when the file as a whole is meant. */
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
  /** The file in force; what could be a secret is masked. Empty for the embedded default. */
  readonly lines: readonly string[]
  /** Present where the file on disk does not hold: it is not the one in force. */
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

/** What came of one of several messages that were to be sent again or given up. */
export interface OperatedSend {
  readonly id: string
  readonly ok: boolean
  readonly state: string | null
  readonly problem: string | null
}
