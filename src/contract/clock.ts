// Time, ids and randomness as dependencies, so that a test can control them.

/** Cancels a timer. A second call does nothing. */
export type Cancel = () => void

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` once after `delayMs`; never synchronously. */
  after(delayMs: number, run: () => void): Cancel
}

export interface Random {
  /** A fresh UUID v4. */
  uuid(): string
  /** `bytes` random bytes. */
  bytes(bytes: number): Uint8Array
}
