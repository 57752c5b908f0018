// Describes modes of an agent's sessions that do not ask a person before tools run and that were not configured. The
// mode of the last session is taken for the next one too. A change within a session ends with its process.
import { judgeMode, type SessionModes } from './modes.ts'

export interface ModeWords {
  /** A session's process began in this mode. */
  began(process: symbol, mode: string, modes: SessionModes): void
  /** It changed to this mode. */
  changed(process: symbol, mode: string, modes: SessionModes): void
  ended(process: symbol): void
  /** Null: nothing to say. */
  words(): string | null
}

/** `changed` is called when `words` may have changed. */
export function createModeWords(configured: string | undefined, changed: () => void): ModeWords {
  const live = new Map<symbol, string>()
  let atBegin: string | null = null
  let told: string | null = null
  const words = () => {
    const all = new Set([...(atBegin === null ? [] : [atBegin]), ...live.values()])
    return all.size === 0 ? null : [...all].join('; ')
  }
  const look = () => {
    if (words() === told) return
    told = words()
    changed()
  }
  const set = (process: symbol, mode: string, modes: SessionModes): string | null => {
    const found = mode === configured ? null : modeWords(mode, modes)
    if (found === null) live.delete(process)
    else live.set(process, found)
    return found
  }
  return {
    began(process, mode, modes) {
      atBegin = set(process, mode, modes)
      look()
    },
    changed(process, mode, modes) {
      set(process, mode, modes)
      look()
    },
    ended(process) {
      live.delete(process)
      look()
    },
    words,
  }
}

/** Null: a person is asked in this mode. */
function modeWords(mode: string, modes: SessionModes): string | null {
  const judged = judgeMode(mode, modes)
  if (judged === 'asks') return null
  const what =
    judged === 'unasked'
      ? 'in which tools run without being asked about'
      : 'which is not known to ask a person before tools run'
  return `it works in the mode "${mode.slice(0, 100)}", ${what}: set connector.mode (${modeNames(modes)})`
}

function modeNames({ available }: SessionModes): string {
  return available
    .map(({ id }) => id.slice(0, 100))
    .slice(0, 10)
    .join(', ')
}
