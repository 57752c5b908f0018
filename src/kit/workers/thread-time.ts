// The processor time of a thread, where the system reports it (Linux).
import { readFileSync, readlinkSync } from 'node:fs'

/** The kernel counts in hundredths of a second on every machine. */
const TICK_MS = 10

/** Returns the folder of the calling thread under /proc. */
export function thisThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return null
  }
}

/** Returns null where it cannot be known. */
export function threadTimeMs(thread: string | null): number | null {
  if (thread === null) return null
  try {
    const stat = readFileSync(`/proc/${thread}/stat`, 'latin1')
    // The thread's name stands in parentheses and may contain spaces. User and system time are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return null
  }
}
