// The hosts of one agent: who is attached, who is proven, and who gets the next turn.
//   unproven ──evidence──▶ proven          unproven ──one turn, 30 s──▶ silent ──late evidence──▶ proven
// A server is never told whether its host took it as a channel, so a host counts only once it acted on a message.
import {
  type AttachedHost,
  type BoundedMap,
  type Cancel,
  type Clock,
  createBoundedMap,
  createTokenBuckets,
  type Delivery,
  MOST_HELD,
  type TokenBuckets,
} from '../../contract/index.ts'
import type { Held } from './evidence.ts'

export interface Host {
  readonly link: AttachedHost
  /** The place to work: the host's own session, else this attachment. Sessions stick to it. */
  readonly key: string
  proven: boolean
  /** It was tried and gave no evidence in time. */
  silent: boolean
  /** The one turn that an unproven host is tried with. */
  trial: Cancel | null
  held: Held[]
  /** The last turn that it acted on: what it asks for is about that one. */
  current: { readonly session: string; readonly turn: string } | null
  /** Requests that were answered in the terminal are never heard of again. */
  readonly asks: BoundedMap<string, true>
  readonly askBucket: TokenBuckets
  calls: number
}

export interface HostBook {
  all(): readonly Host[]
  add(link: AttachedHost): Host
  remove(host: Host): void
  /** Some host could be given a turn, now or when its trial ends. */
  reachable(): boolean
  /** Who holds this turn, and may still act on it. */
  holderOf(turn: string): { readonly host: Host; readonly held: Held } | null
  /**
   * Proven hosts first, the session's own before others; else an unproven one that was not tried yet. Null: none now, or
   * the session's turn before this one is being tried with, or its host has as much as can be remembered of it.
   */
  choose(delivery: Delivery): Host | null
  stick(session: string, host: Host): void
  /** For people: why turns are handed over, or why not. */
  describe(): string
}

function isBefore(one: Held, session: string, turn: string): boolean {
  return one.flying && !one.seen && one.session === session && one.turn !== turn
}

/** The shim remembers only what was not acknowledged. */
const holds = ({ held }: Host): number =>
  held.length < MOST_HELD ? held.length : held.filter((one) => !one.acked).length

const roomy = (host: Host | null): Host | null => (host && holds(host) < MOST_HELD ? host : null)

export const isUsable = (host: Host): boolean => host.proven || !host.silent

/** One that is forgotten sticks anew with its next turn. */
const SESSIONS_REMEMBERED = 10_000
const ASKS_REMEMBERED = 1_000

export function createHostBook(start: string, clock: Clock): HostBook {
  const hosts: Host[] = []
  const sticky = createBoundedMap<string, string>(SESSIONS_REMEMBERED)
  /** Of one place the newest attachment: an older one that still stands is a line that died without a word. */
  const newest = (from: readonly Host[], key: string | undefined): Host | null =>
    from.findLast((host) => host.key === key) ?? null
  const first = (from: readonly Host[], session: string): Host | null =>
    newest(from, sticky.get(session)) ?? newest(from, from[0]?.key)

  return {
    all: () => hosts,
    add(link) {
      const { facts } = link
      const asks = createBoundedMap<string, true>(ASKS_REMEMBERED)
      for (const request of facts.asks) asks.set(request, true)
      const host: Host = {
        link,
        key: facts.routingKey ?? link.id,
        proven: facts.proven,
        silent: false,
        trial: null,
        held: facts.held.map((one) => ({
          ...one,
          files: [],
          seen: one.seen === true,
          acked: false,
          // What a host had that was proven went back as an attempt.
          counted: facts.proven,
          answering: false,
          flying: false,
          elsewhere: false,
        })),
        current: null,
        asks,
        askBucket: createTokenBuckets(1, clock),
        calls: 0,
      }
      for (const { session } of facts.held) sticky.set(session, host.key)
      hosts.push(host)
      return host
    },
    remove(host) {
      host.trial?.()
      host.trial = null
      const at = hosts.indexOf(host)
      if (at !== -1) hosts.splice(at, 1)
    },
    reachable: () => hosts.some(isUsable),
    holderOf(turn) {
      for (const host of hosts.toReversed()) {
        const held = isUsable(host) ? host.held.find((one) => one.turn === turn) : undefined
        if (held) return { host, held }
      }
      return null
    },
    choose({ session, turn }) {
      // The one before is being tried with: whoever gets this one now would have it first.
      if (hosts.some((host) => host.trial !== null && host.held.some((one) => isBefore(one, session, turn))))
        return null
      const proven = hosts.filter((host) => host.proven)
      if (proven.length > 0) return roomy(first(proven, session))
      const free = hosts.filter(
        (host) => !host.silent && host.trial === null && host.held.every((one) => one.turn !== turn),
      )
      return roomy(first(free, session))
    },
    stick(session, host) {
      sticky.set(session, host.key)
    },
    describe() {
      if (hosts.length === 0) return `no host is attached; ${start}`
      const names = [...new Set(hosts.map(({ link }) => link.facts.client ?? 'a host'))].join(', ')
      const proven = hosts.filter((host) => host.proven).length
      if (proven > 0) return `${proven} of ${hosts.length} attached take messages (${names})`
      if (hosts.some(isUsable)) return `${names} is attached, and has not acted on a message yet`
      return `${names} is attached, but acted on no message within 30 s: its tools work, and it does not take us as a channel, or it is busy; ${start}`
    },
  }
}
