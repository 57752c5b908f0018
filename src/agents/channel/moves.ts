// Moves turns that get no evidence. After 30 s a turn goes, once and marked, to the other line of the same host or to
// the next host. It stays `handed`, and the first host that acts on it has it. All unseen turns of one session at a
// host move together, so the order holds. If no other host is attached, nothing moves.
import type { Cancel, Clock } from '../../contract/index.ts'
import type { Held } from './evidence.ts'
import type { Host, HostRecords, Line } from './hosts.ts'

/** How long an unproven host or line may hold a turn before another one is tried. */
export const TRIAL_MS = 30_000

export interface MovesDeps {
  readonly clock: Clock
  readonly hosts: Pick<HostRecords, 'all'>
  /** Writes the turn to another line of the same host. */
  readonly down: (host: Host, held: Held, line: Line) => void
  /** Writes the turns to another host. */
  readonly over: (to: Host, turns: readonly Held[]) => void
  /** Returns the turns to the queue, because another node has a host of this agent. */
  readonly away: (from: Host, turns: readonly Held[]) => void
  readonly isElsewhere: () => boolean
  /** Called after a host or line was tried in vain. */
  readonly tried: () => void
}

export interface Moves {
  /** A turn was written. Its trial ends after those that run already. */
  written(): void
  /** The attached hosts changed. */
  look(): void
  stop(): void
}

interface Step {
  readonly at: number
  act(): void
}

export function createMoves(deps: MovesDeps): Moves {
  const { clock } = deps
  let timer: Cancel | null = null

  /** Returns the other line of the same host, unless the turn's own line is proven. */
  const twinOf = (host: Host, held: Held): Line | null => {
    const last = held.lines.at(-1)
    const listened = last?.proven && host.lines.includes(last)
    if (listened || held.lines.length > 1) return null
    return host.lines.findLast((one) => !held.lines.includes(one)) ?? null
  }

  const twinStep = (host: Host, held: Held): Step | null => {
    const line = twinOf(host, held)
    if (!line) return null
    const at = Math.max(held.writtenAt, line.since) + TRIAL_MS
    const due = (one: Held) => one.writtenAt <= held.writtenAt && twinOf(host, one) === line
    return {
      at,
      act() {
        for (const one of host.held.unseen().filter(due)) deps.down(host, one, line)
      },
    }
  }

  const stepsOf = (host: Host): readonly Step[] => {
    if (host.proven && host.lines.length < 2) return []
    const unseen = host.held.unseen()
    const [first] = unseen
    if (!first) return []
    const others = deps.hosts.all().filter((one) => one !== host)
    const moved = new Set(others.flatMap(({ held }) => [...held].map(({ turn }) => turn)))
    const [next] = others.toSorted(
      (a, b) => Number(b.proven) - Number(a.proven) || Number(a.silent) - Number(b.silent),
    )
    const of = (session: string) => unseen.filter((one) => one.session === session && !moved.has(one.turn))

    const hostStep = (held: Held): Step | null => {
      const { delivery, writtenAt, session } = held
      if (host.proven || delivery === null || moved.has(held.turn)) return null
      if (next)
        return {
          at: Math.max(writtenAt, next.since) + TRIAL_MS,
          act: () => deps.over(next, of(session)),
        }
      const away = !delivery.repeat && deps.isElsewhere()
      return away ? { at: writtenAt + TRIAL_MS, act: () => deps.away(host, of(session)) } : null
    }

    const silence: Step = {
      at: first.writtenAt + TRIAL_MS,
      act() {
        host.silent = true
      },
    }
    return [
      ...(host.proven || host.silent ? [] : [silence]),
      ...unseen.flatMap((held) => twinStep(host, held) ?? hostStep(held) ?? []),
    ]
  }

  const look = () => {
    timer?.()
    timer = null
    const steps = deps.hosts.all().flatMap(stepsOf)
    if (steps.length === 0) return
    const at = steps.reduce((soonest, step) => Math.min(soonest, step.at), Number.POSITIVE_INFINITY)
    timer = clock.after(Math.max(0, at - clock.now()), act)
  }

  /** Acts on one turn at a time and looks again, because one move may change the next. */
  const act = () => {
    timer = null
    for (;;) {
      const due = deps.hosts
        .all()
        .flatMap(stepsOf)
        .filter((step) => step.at <= clock.now())
        .toSorted((a, b) => a.at - b.at)[0]
      if (!due) break
      due.act()
    }
    look()
    deps.tried()
  }

  return {
    written() {
      if (timer === null) look()
    },
    look,
    stop() {
      timer?.()
      timer = null
    },
  }
}
