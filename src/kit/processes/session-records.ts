// What a connector that starts programs must know of a session after a restart: the program's own id, and where it
// runs. It is one file per session in the agent's folder, valid on this machine only.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface SessionRecords<T> {
  /** Null: there is none, or it cannot be read. */
  get(session: string): T | null
  /** It is on disk when this returns. */
  put(session: string, note: T): void
}

const SESSION = /^[0-9a-f-]{36}$/

/** `isNote`: checks what was read. */
export function createSessionRecords<T>(
  folder: string,
  isNote: (value: unknown) => value is T,
): SessionRecords<T> {
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
      // Renamed when complete, because half a file would be no note.
      writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600, flush: true })
      renameSync(`${file}.new`, file)
    },
  }
}
