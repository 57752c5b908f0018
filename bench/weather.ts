// The other load of the machine while a round was measured: the CPU time of other processes, by the kernel's count. A
// disturbed round is marked, not discarded.
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { TICKS_PER_SECOND } from './machine.ts'
import { treeMicros } from './probe.ts'
import { rounded } from './statistics.ts'

/** Above this share of one core, other processes influenced the figures. */
const DISTURBED_CORES = 0.15

export interface RoundWeather {
  readonly part: string
  /** Counted from 1. */
  readonly round: number
  /** The average number of cores that others used. Null if the kernel does not report it. */
  readonly foreign_cores: number | null
  readonly load_1m: number
  readonly disturbed: boolean
}

export interface Weather {
  /** Runs a round and notes the other load. */
  during<Result>(part: string, round: number, work: () => Promise<Result>): Promise<Result>
  readonly rounds: readonly RoundWeather[]
  disturbed(part: string, round: number): boolean
}

export function createWeather(say: (text: string) => void, measure: () => Mark | null = takeMark): Weather {
  const rounds: RoundWeather[] = []
  return {
    rounds,
    async during(part, round, work) {
      const before = measure()
      const result = await work()
      const noted = between(part, round, before, measure())
      rounds.push(noted)
      if (noted.disturbed)
        say(`${part} round ${round}: others kept ${noted.foreign_cores} cores busy; it is marked`)
      return result
    },
    disturbed: (part, round) =>
      rounds.some((one) => one.part === part && one.round === round && one.disturbed),
  }
}

export interface Mark {
  readonly atMs: number
  readonly allMicros: number
  readonly ownMicros: number
}

/** The CPU time of all processes of the machine, and of this one with its children. */
function takeMark(): Mark | null {
  const ownMicros = treeMicros(process.pid)
  const allMicros = machineMicros()
  return ownMicros === null || allMicros === null ? null : { atMs: performance.now(), allMicros, ownMicros }
}

function machineMicros(): number | null {
  try {
    const line = readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
    const [user, nice, system, , , irq, softirq, steal] = line.trim().split(/\s+/).slice(1).map(Number)
    const ticks = [user, nice, system, irq, softirq, steal].reduce((all: number, one) => all + (one ?? 0), 0)
    return (ticks * 1e6) / TICKS_PER_SECOND
  } catch {
    return null
  }
}

function between(part: string, round: number, before: Mark | null, after: Mark | null): RoundWeather {
  const load_1m = rounded(loadavg()[0] ?? 0, 2)
  if (before === null || after === null)
    return { part, round, foreign_cores: null, load_1m, disturbed: false }
  const all = after.allMicros - before.allMicros
  const own = after.ownMicros - before.ownMicros
  const cores = Math.max(0, all - own) / 1000 / Math.max(1, after.atMs - before.atMs)
  return { part, round, foreign_cores: rounded(cores, 2), load_1m, disturbed: cores > DISTURBED_CORES }
}
