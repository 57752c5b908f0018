// APPROVALS: a tool call waits for a person's yes or no. One durable row, one winner by compare-and-set, and every
// surface hears how it ended. The connector learns of the verdict from the row, so any node may decide.
// The node whose connector asked passes it on; when that node is gone, whoever has the host now does, and at last somebody
// says that it could not be. A host outlives its daemon and its line: a verdict waits for it to come back, and says so.
//   pending ──▶ decided ──▶ relayed | undeliverable        pending ──▶ expired (a denial) | withdrawn
import { hash } from 'node:crypto'
import {
  type ApprovalRow,
  type Cancel,
  type Clock,
  type Logger,
  nodeOf,
  type Random,
  type Settings,
  type Store,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Roster } from '../dispatch/roster.ts'
import type { Links } from '../outbound/links.ts'
import type { GrantBook } from '../people/approvers.ts'
import { createStoreRetry } from '../store-retry.ts'
import { freshApprovalId, isApprovalId } from './approval-id.ts'
import { type AskOrder, createSurfaces } from './surfaces.ts'
import { denial, verdictOf } from './verdict-of.ts'

export type { AskOrder } from './surfaces.ts'

export interface ApprovalsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isAlive'>
  readonly links: Links
  readonly grants: GrantBook
  /** Whether somebody is looking at a surface that is not a chat (console, event stream). */
  readonly watched: () => boolean
}

export interface Approvals {
  start(): Promise<void>
  /** Returns the approval's id. The same call of the same turn, asked again after a crash, is the same approval. */
  ask(order: AskOrder): Promise<string>
  /** Resolves when a decided approval was passed on, or could not be, or waits for its host to come back. */
  settle(id: string): Promise<void>
  /** A host that attached here still waits for the answers to these requests of its own. */
  hostWaits(agent: string, host: string, requests: readonly string[]): Promise<void>
  /** The turns behind them were cancelled: nobody needs to answer any more. */
  withdraw(agent: string, turns: readonly string[]): Promise<void>
  /** All agents but these are gone for good: what they asked needs no answer, and what was decided reaches nobody. */
  forsake(agents: readonly string[]): Promise<void>
  stop(): void
}

/** How long a host that is gone may take to come back, here or elsewhere, before its verdict is undeliverable. */
const ORPHAN_MS = 15_000
/** What its asker could not pass on by then may be asked of the hosts of others. */
const ROAMED_MS = 2_000
/** A verdict given here and passed on by another node: waited for this long by whoever gave it. */
const ELSEWHERE_MS = 3_000
/** Hints are lossy, timers die with their node: what is due is looked for. */
const SWEEP_MS = 5_000
const TOLD_REMEMBERED = 1_000

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, clock, log } = deps
  const storeRetry = createStoreRetry(clock, log)
  const { surfaces, prompts, words } = createSurfaces(deps)
  const expiries = new Map<string, Cancel>()
  const settling = new Map<string, Promise<void>>()
  /** Expired ones whose connector was told from here: their row says no more about it. */
  const told = new Set<string>()
  /** Approvals that a repeated call was joined to, by hand-over: an allow is for one call, so each is joined once. */
  const joined = new Set<string>()
  /** Those who wait for another node to pass a verdict on. */
  const waiting = new Map<string, Set<() => void>>()
  const bornAt = clock.now()
  let cancelSweep: Cancel = () => undefined
  let stopped = false

  const ask = async (order: AskOrder): Promise<string> => {
    const inputHash = hash('sha256', JSON.stringify([order.ask.toolName, order.ask.input]))
    const known = await sameCall(order, inputHash)
    if (known) {
      if (store.shared) await storeRetry.persist('adopt an approval', () => store.adoptApproval(known.id))
      if (known.state === 'pending') expectExpiry(known)
      else relayAgain(known)
      return known.id
    }
    const chats = surfaces(order)
    const expiresAt = clock.now() + deps.settings().tunables.approvalExpiryMs
    let wanted = order.ask.requestId && isApprovalId(order.ask.requestId) ? order.ask.requestId : undefined
    for (;;) {
      const id = wanted ?? freshApprovalId(deps.random)
      wanted = undefined
      const row = {
        id,
        hostId: order.ask.requestId ?? null,
        agent: order.agent,
        session: order.session,
        turn: order.turn,
        ask: order.ask,
        inputHash,
        expiresAt,
      }
      const outcome = await storeRetry.persist('ask', () => store.ask(row, prompts(id, order, chats)))
      if (outcome === 'collision') continue
      await asked(id, order, chats.length, expiresAt)
      return id
    }
  }

  const asked = async (id: string, order: AskOrder, chats: number, expiresAt: number) => {
    const holds = deps.roster.get(order.agent)?.connector.holdsDecisions ?? false
    if (chats === 0 && holds && !deps.watched()) {
      await storeRetry.persist('deny an approval', () => store.decide(denial(id, 'unreachable')))
      return settle(id)
    }
    expectExpiry({ id, expiresAt })
  }

  /**
   * A turn that was interrupted asks again for the same call: it gets the same answer. Only what was asked before the
   * present hand-over counts; the same call twice in one run is two calls.
   */
  const sameCall = async (order: AskOrder, inputHash: string): Promise<ApprovalRow | null> => {
    const { turn, handedAt } = order
    const again = await sameRequest(order, inputHash)
    if (again) return again
    if (!turn || handedAt === null) return null
    const rows = await store.approvals({ agent: order.agent, limit: 200 })
    const known = rows.find(
      (row) =>
        row.turn === turn &&
        row.inputHash === inputHash &&
        row.createdAt < handedAt &&
        !joined.has(`${row.id}@${handedAt}`),
    )
    if (known) joined.add(`${known.id}@${handedAt}`)
    return known ?? null
  }

  /** A host never uses a request's id twice: the same one again was sent again because nobody confirmed it. */
  const sameRequest = async ({ agent, ask }: AskOrder, inputHash: string): Promise<ApprovalRow | null> => {
    const { requestId, host } = ask
    if (requestId === undefined || host === undefined) return null
    const rows = await store.approvals({ agent, states: ['pending', 'decided'], limit: 1_000 })
    return (
      rows.find((row) => row.hostId === requestId && row.ask.host === host && row.inputHash === inputHash) ??
      null
    )
  }

  const expectExpiry = (row: Pick<ApprovalRow, 'id' | 'expiresAt'>) => {
    expiries.get(row.id)?.()
    const cancel = clock.after(Math.max(0, row.expiresAt - clock.now()), () => {
      expiries.delete(row.id)
      expire(row.id).catch((thrown) =>
        log.error({ approval: row.id, error: String(thrown) }, 'expiry failed'),
      )
    })
    expiries.set(row.id, cancel)
  }

  const expire = async (id: string) => {
    await storeRetry.persist('expire an approval', async () => {
      const row = await store.approval(id)
      if (row?.state !== 'pending') return
      const told = await words({ ...row, state: 'expired', cause: 'expired' }, !holdsDecisions(row))
      await store.decide(denial(id, 'expired'), told)
    })
    await settle(id)
  }

  /** Passes the verdict on to the asking host, then tells every surface how it ended. */
  const settle = (id: string): Promise<void> => {
    if (stopped) return Promise.resolve()
    // Behind the one that runs, not with it: that one may have looked before what we were told of was true.
    const before = settling.get(id) ?? Promise.resolve()
    const mine = before.catch(() => undefined).then(() => settleOnce(id))
    settling.set(id, mine)
    const done = () => {
      if (settling.get(id) === mine) settling.delete(id)
    }
    mine.then(done, done)
    return mine
  }

  const settleOnce = async (id: string) => {
    const row = await store.approval(id)
    if (row?.state !== 'decided' && row?.state !== 'expired') return
    if (row.state === 'expired' && told.has(row.id)) return
    const own = isOwn(row)
    // A host is attached to one node at a time and may have moved: the connector of every node knows its own.
    const roams = !holdsDecisions(row)
    const ageMs = clock.now() - (row.decidedAt ?? row.expiresAt)
    // The one who asked goes first: request ids of two hosts may be alike.
    const first = row.asker !== null && deps.cluster.isAlive(row.asker)
    if (!own && first && !(roams && ageMs >= ROAMED_MS)) return
    // While nobody was here a host had nothing to come back to: that time does not count.
    const leftMs = ORPHAN_MS - Math.min(ageMs, clock.now() - bornAt)
    const done = await relay(row, leftMs <= 0 || (own && !roams))
    if (!done && roams) await awaitHost(row, leftMs)
  }

  const lookAgain = (id: string, afterMs: number) => {
    expiries.get(id)?.()
    expiries.set(
      id,
      clock.after(afterMs, () => {
        expiries.delete(id)
        void settleSoon(id)
      }),
    )
  }

  const awaitHost = async (row: ApprovalRow, leftMs: number) => {
    lookAgain(row.id, leftMs)
    if (!isOwn(row)) return
    await retire(row, true)
    // Another node may have passed it on just now: what is said last must be how it ended.
    const now = store.shared ? await store.approval(row.id) : null
    if (now && now.state !== 'decided') await retire(now, true, 'again')
  }

  const retire = (row: ApprovalRow, passedOn: boolean, again?: 'again') =>
    storeRetry.persist('tell how an approval stands', async () => {
      const sends = await words(row, passedOn, again)
      if (sends.length > 0) await store.enqueue(sends)
    })

  const hostWaits: Approvals['hostWaits'] = async (agent, host, requests) => {
    const rows = await store.approvals({ agent, states: ['pending', 'decided'], limit: 1_000 })
    for (const { id, hostId, ask } of rows) {
      if (hostId === null || ask.host !== host || !requests.includes(hostId)) continue
      if (store.shared) await storeRetry.persist('adopt an approval', () => store.adoptApproval(id))
      await settle(id)
    }
  }

  const holdsDecisions = ({ agent }: ApprovalRow) => deps.roster.get(agent)?.connector.holdsDecisions ?? true

  /** Asked here. A node answers for its former lives, too. */
  const isOwn = ({ asker }: ApprovalRow) =>
    !store.shared || asker === null || nodeOf(asker) === nodeOf(store.owner)

  /** Resolves when another node has passed it on, or after a while. */
  const passedOn = async (id: string): Promise<void> => {
    const listeners = waiting.get(id) ?? new Set()
    waiting.set(id, listeners)
    const row = await store.approval(id)
    if (row?.state === 'decided') {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(ELSEWHERE_MS, resolve)
        listeners.add(() => {
          cancel()
          resolve()
        })
      })
    }
    if (waiting.get(id) === listeners) waiting.delete(id)
  }

  const tellWaiting = (id: string) => {
    const listeners = waiting.get(id)
    if (!listeners || listeners.size === 0) return
    waiting.delete(id)
    for (const wake of listeners) wake()
  }

  /** `last`: nobody else will do it, so one that cannot be delivered is undeliverable. False: it was not settled. */
  const relay = async (row: ApprovalRow, last: boolean): Promise<boolean> => {
    expiries.get(row.id)?.()
    expiries.delete(row.id)
    const post = deps.roster.get(row.agent)
    if (!post) {
      // Its agent is not configured any more: nobody is left to tell but the chats that were asked.
      if (row.state !== 'decided') return true
      if (store.shared && last) await settled(row, 'undeliverable', false)
      return last
    }
    const holds = post.connector.holdsDecisions
    // A host with a dialog of its own is told only what a person decided; its dialog stays open otherwise.
    const tell = row.cause === 'person' || holds
    // Such a host may be there although no turn can be handed to it: its connector knows.
    const there = post.attached || !holds
    const outcome = tell && there ? await (post.connector.verdict?.(verdictOf(row)) ?? 'gone') : 'gone'
    if (row.state !== 'decided') {
      // Its chats heard of it in the commit that let it expire.
      told.add(row.id)
      for (const id of told) if (told.size > TOLD_REMEMBERED) told.delete(id)
      return true
    }
    const relayed = outcome === 'relayed'
    if (relayed || last) await settled(row, relayed ? 'relayed' : 'undeliverable', !holds)
    return relayed || last
  }

  const settled = async (row: ApprovalRow, to: 'relayed' | 'undeliverable', passed: boolean) => {
    await storeRetry.persist('settle an approval', async () =>
      store.settleApproval(row.id, to, await words({ ...row, state: to }, passed)),
    )
  }

  const withdraw = async (row: ApprovalRow) => {
    await storeRetry.persist('withdraw an approval', async () =>
      store.settleApproval(row.id, 'withdrawn', await words({ ...row, state: 'withdrawn' }, false)),
    )
  }

  const relayAgain = (row: ApprovalRow) => {
    if (row.behavior === null) return
    clock.after(0, () => {
      if (row.state === 'decided') return void settleSoon(row.id)
      const passed = deps.roster.get(row.agent)?.connector.verdict?.(verdictOf(row))
      passed?.catch((thrown) =>
        log.warn({ approval: row.id, error: String(thrown) }, 'verdict could not be passed on'),
      )
    })
  }

  const settleSoon = (id: string) =>
    settle(id).catch((thrown) => log.error({ approval: id, error: String(thrown) }, 'verdict not passed on'))

  store.onHint((hint) => {
    if (stopped) return
    if (hint.kind === 'approval') {
      tellWaiting(hint.id)
      void settleSoon(hint.id)
    }
    if (hint.kind === 'missed') sweep().catch(() => undefined)
  })

  /** Decided and not passed on; due and not expired: whoever finds it first. */
  const sweep = async () => {
    for (const { id } of await store.approvals({ states: ['decided'], limit: 1_000 })) await settle(id)
    const due = await store.approvals({ states: ['pending'], dueBefore: clock.now(), limit: 1_000 })
    for (const { id } of due) await expire(id)
  }

  const keepSweeping = () => {
    if (stopped || !store.shared) return
    cancelSweep = clock.after(SWEEP_MS, () => {
      sweep()
        .catch((thrown) =>
          log.warn({ error: String(thrown) }, 'approvals could not be looked at; will try again'),
        )
        .finally(keepSweeping)
    })
  }

  return {
    ask,
    async settle(id) {
      await settle(id)
      if (store.shared) await passedOn(id)
    },
    hostWaits,
    async withdraw(agent, turns) {
      for (const row of await store.approvals({ agent, states: ['pending'], limit: 1_000 })) {
        if (row.turn === null || !turns.includes(row.turn)) continue
        await withdraw(row)
      }
    },
    async forsake(agents) {
      for (const row of await store.approvals({ states: ['pending', 'decided'], limit: 1_000 })) {
        if (agents.includes(row.agent)) continue
        if (row.state === 'pending') await withdraw(row)
        else await settled(row, 'undeliverable', false)
      }
    },
    async start() {
      for (const row of await store.approvals({ states: ['pending'], limit: 1_000 })) expectExpiry(row)
      for (const row of await store.approvals({ states: ['decided'], limit: 1_000 })) await settle(row.id)
      keepSweeping()
    },
    stop() {
      stopped = true
      storeRetry.stop()
      cancelSweep()
      for (const cancel of expiries.values()) cancel()
      expiries.clear()
    },
  }
}
