// Waiting in fault tests: a condition is polled until it holds. The error at the deadline says what was missing.

// Polling takes processor time from the process that the test waits for. So a slow or expensive condition is polled
// less often.
const POLL_MS = 20
const SELDOM_MS = 150
const SELDOMER = 1.2
/** Generous, because the machine may be busy with other tests. A deadline ends a hang and measures no speed. */
const PATIENT_MS = 60_000

/** Returns the first answer that is not null, undefined or false. Throws with `what` at the deadline. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  deadlineMs = PATIENT_MS,
): Promise<T> {
  const end = Date.now() + deadlineMs
  let trouble: unknown
  for (let restMs = POLL_MS; ; restMs = Math.min(SELDOM_MS, restMs * SELDOMER)) {
    const began = Date.now()
    try {
      const found = await look()
      if (found !== null && found !== undefined && found !== false) return found
      trouble = undefined
    } catch (thrown) {
      trouble = thrown
    }
    if (Date.now() > end) {
      throw new Error(`waited ${deadlineMs} ms in vain: ${what}`, trouble ? { cause: trouble } : {})
    }
    await pause(Math.max(restMs, 2 * Math.min(SELDOM_MS, Date.now() - began)))
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
