// Time, ids and randomness as things that are handed in, so that the river can be driven by a test.

/** Cancels a timer; calling it twice is harmless. */
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
