// The hosts of one agent: which are attached, by which lines, which are proven, and which gets the next turn.
//   unproven ──evidence, or a permission request──▶ proven        unproven ──30 s without evidence──▶ silent
// A server never learns whether its host took it as a channel. So a host counts as listening only after it acted on a
// pushed event. This decides between several hosts. A single host is written everything.
import {
  type AttachedHost,
  type BoundedMap,
  type Clock,
  createBoundedMap,
  createTokenBuckets,
  MOST_HELD,
  type TokenBuckets,
} from '../../contract/index.ts'
import type { Held } from './evidence.ts'
import { createHeldTurns, type HeldTurns } from './held-turns.ts'

/** One attachment. Two lines of one host are twins: its `.mcp.json` and its plugin each started a shim. */
export interface Line {
  readonly link: AttachedHost
  readonly since: number
  /** The host acted on something that was written to this line only. */
  proven: boolean
  /** Events that its host's pipe has not taken yet. */
  underway: number
  /** It had no room for more, and the dispatcher does not know yet that it has room again. */
  full: boolean
}

export interface Host {
  /** The host's own session id, or the shim's id. Sessions stay with the host of this key. */
  readonly key: string
  readonly since: number
  lines: readonly Line[]
  proven: boolean
  /** It was given a turn and showed no evidence within 30 s. */
  silent: boolean
  readonly held: HeldTurns
  /** Open one-way turns without evidence, in the order of hand-over. */
  readonly oneWay: Set<Held>
  /** One-way turns that left the window. A later call is still evidence for them. */
  readonly slid: BoundedMap<string, true>
  /**
   * The line to which the last proven turn was written last. Only a turn that was written to one line alone proves that
   * line. A turn that moved to a twin may have been heard on either.
   */
  heard: Line | null
  /** It held a turn in this run of the daemon or an earlier one. */
  used: boolean
  /** The last turn that it acted on. Its permission requests are taken to be about that turn. */
  current: { readonly session: string; readonly turn: string } | null
  /** Chats that it knows from `pending_messages`. */
  readonly learned: BoundedMap<string, true>
  /**
   * Its permission requests, with the lines that brought them. The host never reports those answered in its terminal.
   */
  readonly asks: BoundedMap<string, readonly Line[]>
  readonly askBucket: TokenBuckets
  calls: number
}

export interface HostRecords {
  all(): readonly Host[]
  /**
   * Returns the host of this attachment: an existing one that names the same session over the same kind of connection.
   */
  at(link: AttachedHost): Host | undefined
  add(link: AttachedHost): Host
  remove(host: Host): void
  /** Returns the host that holds this turn and may still act on it. */
  holderOf(turn: string): { readonly host: Host; readonly held: Held } | null
  /**
   * Chooses the host of the next turn. Proven hosts come first, and among them the session's own. Otherwise it is an
   * unproven host that has no turn to prove itself with. If all were tried in vain, it is the session's own, because
   * turns are never withheld. Null: no host can take one now.
   */
  choose(session: string): { readonly host: Host; readonly room: number } | null
  stick(session: string, host: Host): void
  /** Says for people why turns are handed over, or which host gets them. */
  describe(): string
}

const SESSIONS_REMEMBERED = 10_000
const ASKS_REMEMBERED = 1_000
const CHATS_REMEMBERED = 1_000

function keyOf({ facts, origin }: AttachedHost): string {
  const own = facts.routingKey ?? `shim:${facts.shim}`
  return origin === 'local' ? own : `${own}@${origin}`
}

/** Returns the line for the next turn: a proven one, else the one whose last turn was acted on, else the newest. */
export function lineOf({ lines, heard }: Host): Line | null {
  const proven = lines.findLast((line) => line.proven)
  return proven ?? lines.find((line) => line === heard) ?? lines.at(-1) ?? null
}

/** The shim remembers only turns that were not acknowledged. */
const holds = ({ held }: Host): number => (held.size < MOST_HELD ? held.size : held.size - held.acked.size)

const roomAt = (host: Host): number =>
  Math.max(0, Math.min(lineOf(host)?.link.room() ?? 0, MOST_HELD - holds(host)))

export function createHostRecords(start: string, clock: Clock): HostRecords {
  const hosts: Host[] = []
  const sticky = createBoundedMap<string, string>(SESSIONS_REMEMBERED)
  const first = (from: readonly Host[], session: string): Host | null =>
    from.find((host) => host.key === sticky.get(session)) ?? from[0] ?? null
  const isBusyWith = (host: Host, session: string) =>
    host.held.hasUnseen(session, ({ turn }) => !isMoved(turn))
  const isMoved = (turn: string) => hosts.filter((host) => host.held.get(turn) !== undefined).length > 1

  return {
    all: () => hosts,
    at: (link) => hosts.find((host) => host.key === keyOf(link)),
    add(link) {
      const host: Host = {
        key: keyOf(link),
        since: clock.now(),
        lines: [],
        proven: false,
        silent: false,
        held: createHeldTurns(),
        oneWay: new Set(),
        slid: createBoundedMap(MOST_HELD),
        heard: null,
        used: false,
        current: null,
        learned: createBoundedMap(CHATS_REMEMBERED),
        asks: createBoundedMap(ASKS_REMEMBERED),
        askBucket: createTokenBuckets(1, clock),
        calls: 0,
      }
      hosts.push(host)
      return host
    },
    remove(host) {
      const at = hosts.indexOf(host)
      if (at !== -1) hosts.splice(at, 1)
    },
    holderOf(turn) {
      for (const host of hosts.toReversed()) {
        const held = host.held.get(turn)
        if (held && held.phase !== 'elsewhere') return { host, held }
      }
      return null
    },
    choose(session) {
      const only = hosts.length === 1 ? hosts[0] : undefined
      if (only) return { host: only, room: roomAt(only) }
      const tried = hosts.every((host) => host.proven || host.silent)
      // An unproven host has an earlier turn of this session. A later turn must not reach another host first.
      const behind = hosts.some((host) => !host.proven && !host.silent && isBusyWith(host, session))
      if (behind) return null
      const proven = hosts.filter((host) => host.proven)
      // The unproven host's turns of this session move together. Until then no later turn may overtake them.
      if (proven.length > 0 && hosts.some((host) => !host.proven && isBusyWith(host, session))) return null
      const free = hosts.filter((host) => !host.silent && host.held.unseenCount === 0)
      const host = first(proven.length > 0 ? proven : tried ? hosts : free, session)
      if (!host) return null
      return { host, room: Math.min(roomAt(host), host.proven || tried ? MOST_HELD : 1) }
    },
    stick: (session, host) => sticky.set(session, host.key),
    describe() {
      if (hosts.length === 0) return `no host is attached; ${start}`
      const links = hosts.flatMap(({ lines }) => lines.map(({ link }) => link.facts.client ?? 'a host'))
      const names = [...new Set(links)].join(', ')
      const proven = hosts.filter((host) => host.proven).length
      if (proven > 0) return `${proven} of ${hosts.length} attached take messages (${names})`
      const word = `attached, unproven: ${names}`
      if (!hosts.every(({ silent }) => silent)) return `${word} has not acted on a message yet`
      return `${word} acted on no message within 30 s: its tools work, and it does not take us as a channel, or it is busy; ${start}`
    },
  }
}
