// What `doctor --security` finds: an open door, how bad it is, and what closes it.

export type Severity = 'high' | 'medium' | 'low'

export interface SecurityFinding {
  readonly severity: Severity
  readonly what: string
  /** The key of the configuration, or the command, that changes it. */
  readonly key: string
  /** What `--fix` does about it. Absent: it is the operator's to decide. */
  readonly fix?: string
  /** After `--fix`: whether that was done. */
  readonly fixed?: boolean
}

/** Files that others must not change, or not even read. */
export interface GuardedFiles {
  readonly config: readonly string[]
  /** Where `file:` references lead. */
  readonly secrets: readonly string[]
  /** Null: the store is no file. */
  readonly database: string | null
}

export interface SecurityReport {
  readonly findings: readonly SecurityFinding[]
  /** What could not be judged, and why. */
  readonly unjudged: readonly string[]
  /** What a trial with `--send-test` showed. Absent: none was asked for. */
  readonly tried?: readonly string[]
  /** Looked at by the command itself, on this machine. */
  readonly files: GuardedFiles
}
