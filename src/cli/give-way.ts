// The operator's own `up` never loses its folder to a shim. A daemon that a shim started is asked to end, and gives way.
import type { StartingNote } from '../config/instance/daemon-note.ts'
import { SwitchboardError } from '../contract/index.ts'

export interface GiveWayDeps {
  /** The note of the daemon that holds the folder, ready or starting. Null: there is none. */
  note(): StartingNote | null
  /** Tells it to drain and end. */
  end(pid: number): void
  pause(ms: number): Promise<void>
}

const STEP_MS = 100
/** Longer than a daemon takes to drain. */
const MOST_STEPS = 200
/** A daemon that drains has no note any more, and a command has none. */
const UNKNOWN_STEPS = 30

/** Starts. A daemon that holds the folder and gives way ends first. Throws what `start` throws. */
export async function startInPlace<T>(start: () => Promise<T>, deps: GiveWayDeps): Promise<T> {
  let asked: number | null = null
  for (let step = 0; ; step++) {
    try {
      return await start()
    } catch (thrown) {
      if (!(thrown instanceof SwitchboardError) || thrown.code !== 'data_folder_held') throw thrown
      const note = deps.note()
      const waits = note === null ? step < UNKNOWN_STEPS || asked !== null : note.idleExit === true
      if (!waits || step >= MOST_STEPS) throw thrown
      if (note !== null && note.pid !== asked) {
        asked = note.pid
        deps.end(note.pid)
      }
      await deps.pause(STEP_MS)
    }
  }
}
