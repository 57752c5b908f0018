// Waiting in fault tests: a condition is polled until it holds, with a deadline that says what was waited for.

// Who looks again and again takes the processor from what is waited for: what takes long is looked at less often, and so is
// what is costly to look at.
const POLL_MS = 20
const SELDOM_MS = 150
const SELDOMER = 1.2
/** Generous: the machine may be busy with other tests. A deadline is there to end a hang, not to measure speed. */
const PATIENT_MS = 60_000

/** The first answer that is neither null, undefined nor false. Throws with `what` when the deadline passes. */
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
