// The hosts of one agent: who is attached, by which lines, who is proven, and who gets the next turn.
//   unproven ──evidence, or a permission request──▶ proven        unproven ──30 s without evidence──▶ silent
// A server is never told whether its host took it as a channel, so a host counts as listening only once it acted on what
// was pushed to it. That decides between hosts: where there is but one, it is written everything.
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

/** One attachment. Two of one host are twins: its `.mcp.json` and its plugin both started a shim. */
export interface Line {
  readonly link: AttachedHost
  readonly since: number
  /** What went down this line alone was acted on. */
  proven: boolean
  /** Events that its host's pipe has still to take. */
  underway: number
  /** It had no room for more, and nobody was told yet that it has. */
  full: boolean
}

export interface Host {
  /** The place to work: the host's own session, else its shim. Sessions stick to it. */
  readonly key: string
  readonly since: number
  lines: readonly Line[]
  proven: boolean
  /** It was given a turn, and no evidence within 30 s. */
  silent: boolean
  readonly held: HeldTurns
  /** One-way turns that are open without evidence, in the order of handing. */
  readonly oneWay: Set<Held>
  /** One-way turns that are waited for no longer: a later call is still evidence of them. */
  readonly slid: BoundedMap<string, true>
  /**
   * The line that the last turn with evidence was written to last. Only what went down one line alone proves that line: a
   * turn that moved to a twin may have been heard on either.
   */
  heard: Line | null
  /** It held something in this life of the daemon, or before. */
  used: boolean
  /** The last turn that it acted on: what it asks for is about that one. */
  current: { readonly session: string; readonly turn: string } | null
  /** Chats that it knows from `pending_messages`. */
  readonly learned: BoundedMap<string, true>
  /** Its requests, and the lines that they came by. Requests that were answered in the terminal are never heard of again. */
  readonly asks: BoundedMap<string, readonly Line[]>
  readonly askBucket: TokenBuckets
  calls: number
}

export interface HostRecords {
  all(): readonly Host[]
  /** The host of this attachment: one that is there already, where it names the same session by the same way. */
  at(link: AttachedHost): Host | undefined
  add(link: AttachedHost): Host
  remove(host: Host): void
  /** Who holds this turn, and may still act on it. */
  holderOf(turn: string): { readonly host: Host; readonly held: Held } | null
  /**
   * Proven hosts first, the session's own before others. Of several that are unproven one that has nothing to prove itself
   * with; once all were tried in vain the session's own, for nothing is withheld. Null: none now.
   */
  choose(session: string): { readonly host: Host; readonly room: number } | null
  stick(session: string, host: Host): void
  /** For people: why turns are handed over, or what is known of who gets them. */
  describe(): string
}

const SESSIONS_REMEMBERED = 10_000
const ASKS_REMEMBERED = 1_000
const CHATS_REMEMBERED = 1_000

function keyOf({ facts, origin }: AttachedHost): string {
  const own = facts.routingKey ?? `shim:${facts.shim}`
  return origin === 'local' ? own : `${own}@${origin}`
}

/** The line that a turn goes down: a proven one, else the one whose last turn was acted on, else the newest. */
export function lineOf({ lines, heard }: Host): Line | null {
  const proven = lines.findLast((line) => line.proven)
  return proven ?? lines.find((line) => line === heard) ?? lines.at(-1) ?? null
}

/** The shim remembers only what was not acknowledged. */
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
      // One before it is being tried with: whoever gets this one now would have it first.
      const behind = hosts.some((host) => !host.proven && !host.silent && isBusyWith(host, session))
      if (behind) return null
      const proven = hosts.filter((host) => host.proven)
      // What such a host still has of this session moves as one: until then nothing goes past it.
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
