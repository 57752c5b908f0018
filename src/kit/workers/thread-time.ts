// How much processor time a thread used, where the system tells (Linux).
import { readFileSync, readlinkSync } from 'node:fs'

/** The kernel counts in hundredths of a second, whatever the machine. */
const TICK_MS = 10

/** The folder of the calling thread under /proc. */
export function thisThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return null
  }
}

/** Null where it cannot be known. */
export function threadTimeMs(thread: string | null): number | null {
  if (thread === null) return null
  try {
    const stat = readFileSync(`/proc/${thread}/stat`, 'latin1')
    // The name of the thread stands in parentheses and may hold spaces. User and system time are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return null
  }
}
