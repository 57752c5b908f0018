// Turns that get no evidence where they are: after 30 s one goes, once and marked, down the other line of the same host, or to
// the next host. It stays handed all the time: whoever acts on it first has it. What one session has unseen at a host moves
// as one, so that order holds; where nobody else is attached, nothing moves.
import type { Cancel, Clock } from '../../contract/index.ts'
import type { Held } from './evidence.ts'
import type { Host, HostRecords, Line } from './hosts.ts'

/** How long an unproven host, or an unproven line of it, may take with a turn before somebody else is tried. */
export const TRIAL_MS = 30_000

export interface MovesDeps {
  readonly clock: Clock
  readonly hosts: Pick<HostRecords, 'all'>
  /** Writes it down another line of the same host. */
  readonly down: (host: Host, held: Held, line: Line) => void
  /** Writes them to another host. */
  readonly over: (to: Host, turns: readonly Held[]) => void
  /** Another node has a host of this agent: they go back to the queue for it. */
  readonly away: (from: Host, turns: readonly Held[]) => void
  readonly isElsewhere: () => boolean
  /** Somebody was tried in vain. */
  readonly tried: () => void
}

export interface Moves {
  /** A turn was written: nothing is due before what was due already. */
  written(): void
  /** Who is attached changed. */
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

  /** To the other line of the same host, unless the one that it went down is known to be listened to. */
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

  /** One at a time, and each looked at anew: what one does may change what another would. */
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
