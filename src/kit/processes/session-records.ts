// What a connector that starts programs must know of a session after a restart: the program's own id of it, and where it runs.
// A file a session, in the agent's folder: it is true on this machine alone.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface SessionBook<T> {
  /** Null: nothing is known, or it cannot be read. */
  get(session: string): T | null
  /** On disk when this returns. */
  put(session: string, note: T): void
}

const SESSION = /^[0-9a-f-]{36}$/

/** `isNote`: whether what was read is one. */
export function createSessionRecords<T>(
  folder: string,
  isNote: (value: unknown) => value is T,
): SessionBook<T> {
  const fileOf = (session: string) => {
    if (!SESSION.test(session)) throw new Error('not the id of a session')
    return join(folder, `${session}.json`)
  }
  return {
    get(session) {
      try {
        const note: unknown = JSON.parse(readFileSync(fileOf(session), 'utf8'))
        return isNote(note) ? note : null
      } catch {
        return null
      }
    },
    put(session, note) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const file = fileOf(session)
      // Half a file would be no note at all.
      writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600, flush: true })
      renameSync(`${file}.new`, file)
    },
  }
}
