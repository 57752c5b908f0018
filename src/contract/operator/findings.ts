// Findings: what stands in the way of a message, and what stands open. The shapes in which `doctor`, `status`, the API and
// adapters name them are projections of `Finding`.

/** One scale. A high finding stops messages or lets others in, and makes `doctor` exit 1. */
export type Severity = 'high' | 'medium' | 'low'

export interface Finding {
  /** The check that found it. */
  readonly code: string
  readonly severity: Severity
  /** `gateway`, `integration kate_tg`, `agent kate`, `server search`, or a path. */
  readonly subject: string
  readonly text: string
  /** The command to run, or the configuration key to change. */
  readonly remedy: string
}

/** A finding of `doctor` and `status` about delivery. A problem is one of high severity. */
export interface HealthFinding extends Omit<Finding, 'severity'> {
  readonly severity: 'problem' | 'warning'
  /** The state in a word or two, the same everywhere. */
  readonly word: string
}

/** A gate of the path from a platform to an agent, whether or not it passes. */
export interface GateView {
  readonly gate: string
  readonly pass: boolean
  readonly reason: string
  /** The configuration key that changes it. */
  readonly key: string
  /** It passes, but is wider than most operators want. */
  readonly flagged?: boolean
  /** An open gate and its severity: `doctor --security` lists it. */
  readonly open?: Severity
}

/** A finding of `doctor --security`: `what` is its text, `key` its remedy. Adapters report their risks in this shape. */
export interface SecurityFinding {
  readonly severity: Severity
  readonly what: string
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
