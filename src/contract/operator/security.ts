// A finding of `doctor --security`: a risk, its severity, and its remedy.

export type Severity = 'high' | 'medium' | 'low'

export interface SecurityFinding {
  readonly severity: Severity
  readonly what: string
  /** The configuration key, or the command, that changes it. */
  readonly key: string
  /** What `--fix` does about it. Absent: the operator must decide. */
  readonly fix?: string
  /** After `--fix`: whether it was done. */
  readonly fixed?: boolean
}

/** Files that other users must not change, or not even read. */
export interface GuardedFiles {
  readonly config: readonly string[]
  /** The targets of `file:` references. */
  readonly secrets: readonly string[]
  /** Null: the store is not a file. */
  readonly database: string | null
}

export interface SecurityReport {
  readonly findings: readonly SecurityFinding[]
  /** What could not be judged, and why. */
  readonly unjudged: readonly string[]
  /** The results of `--send-test`. Absent: it was not requested. */
  readonly tried?: readonly string[]
  /** The command itself checks these, on this machine. */
  readonly files: GuardedFiles
}
