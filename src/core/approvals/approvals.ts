// APPROVALS: a tool call waits for a person's yes or no. One durable row, one winner by compare-and-set, and every
// surface hears how it ended. The connector learns of the verdict from the row, so any node may decide.
//   pending ──▶ decided ──▶ relayed | undeliverable        pending ──▶ expired (a denial) | withdrawn
import { hash } from 'node:crypto'
import {
  type ApprovalRow,
  type Cancel,
  type Clock,
  createBoundedMap,
  everyRow,
  inSlices,
  type Logger,
  type NewSend,
  type Random,
  type Settings,
  type Store,
  SwitchboardError,
  type Verdict,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Roster } from '../dispatch/roster.ts'
import { createKeyedTimers } from '../keyed-timers.ts'
import type { Links } from '../outbound/links.ts'
import type { GrantBook } from '../people/approvers.ts'
import { createStoreRetry } from '../store-retry.ts'
import { freshApprovalId, isApprovalId } from './approval-id.ts'
import { type AskOrder, createSurfaces } from './surfaces.ts'
import { denial } from './verdict-of.ts'
import { createVerdictRelay } from './verdict-relay.ts'

export interface ApprovalsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isAlive' | 'isElsewhere'>
  readonly links: Links
  readonly grants: GrantBook
  /** Puts what is said by itself into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  /** Whether somebody is looking at a surface that is not a chat (console, event stream). */
  readonly watched: () => boolean
}

export interface Approvals {
  /** What an earlier life left is taken up in slices, beside whatever comes in. */
  start(): void
  /** Returns the approval's id. The same call of the same turn, asked again after a crash, is the same approval. */
  ask(order: AskOrder): Promise<string>
  /** Resolves when a decided approval was passed on, or could not be, or waits for its host to come back. */
  settle(id: string): Promise<void>
  /** A host that attached here still waits for the answers to these requests of its own. */
  hostWaits(agent: string, host: string, requests: readonly string[]): Promise<void>
  /** How an approval of that turn stands: `not_found` for another's, `gone` for one that was given up. */
  fetchVerdict(
    id: string,
    of: { readonly agent: string; readonly turn: string },
  ): Promise<Verdict | 'pending'>
  /** The turns behind them were cancelled: nobody needs to answer any more. */
  withdraw(agent: string, turns: readonly string[]): Promise<void>
  /** Agents that are not configured any more: what they asked needs no answer, and what was decided reaches nobody. */
  endForRemovedAgents(configured: readonly string[]): Promise<void>
  stop(): void
}

/** Hints are lossy, timers die with their node: what is due is looked for. */
const SWEEP_MS = 5_000
const JOINED_REMEMBERED = 10_000
/** Questions of one turn that wait at once: a person reads no more, and none of them is to drown the one that counts. */
const MOST_OF_A_TURN = 10
const TOO_MANY_MS = 5_000

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, clock, log } = deps
  const storeRetry = createStoreRetry(clock, log, store)
  const { surfaces, prompts, words } = createSurfaces(deps)
  const timers = createKeyedTimers(clock)
  const relay = createVerdictRelay({ ...deps, storeRetry, timers, words })
  const { settle } = relay
  /** Approvals that a repeated call was joined to, by hand-over: an allow is for one call, so each is joined once. */
  const joined = createBoundedMap<string, true>(JOINED_REMEMBERED)
  let cancelSweep: Cancel = () => undefined
  let cancelResume: Cancel = () => undefined
  let stopped = false

  const ask = async (order: AskOrder): Promise<string> => {
    const inputHash = hash('sha256', JSON.stringify([order.ask.toolName, order.ask.input]))
    const known = await sameCall(order, inputHash)
    if (known) {
      if (store.shared) await storeRetry.persist('adopt an approval', () => store.adoptApproval(known.id))
      if (known.state === 'pending') expectExpiry(known)
      else relay.relayAgain(known)
      return known.id
    }
    await roomFor(order)
    const chats = await surfaces(order)
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
      const outcome = await storeRetry.persist('ask', () =>
        store.ask(row, prompts(id, order, chats, expiresAt)),
      )
      if (outcome === 'collision') continue
      await asked(id, order, chats.length, expiresAt)
      return id
    }
  }

  /** A host of the channel goes on without us when nobody is asked: how often it may ask is counted at its line. */
  const roomFor = async ({ agent, turn }: AskOrder) => {
    if (turn === null || !deps.roster.get(agent)?.connector.holdsDecisions) return
    const waiting = await store.approvals({ agent, turn, states: ['pending'], limit: MOST_OF_A_TURN })
    if (waiting.length < MOST_OF_A_TURN) return
    throw new SwitchboardError(
      'rate_limited',
      `${MOST_OF_A_TURN} questions of this message wait for a person`,
      {
        retryAfterMs: TOO_MANY_MS,
        hint: 'wait until one of them is decided, then ask again',
      },
    )
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
    for await (const row of all({ agent: order.agent, turn })) {
      const joins = `${row.id}@${handedAt}`
      // What was withdrawn has no answer, and never will.
      if (row.state === 'withdrawn' || row.inputHash !== inputHash) continue
      if (row.createdAt >= handedAt || joined.has(joins)) continue
      joined.set(joins, true)
      return row
    }
    return null
  }

  /** A host never uses a request's id twice: the same one again was sent again because nobody confirmed it. */
  const sameRequest = async ({ agent, ask }: AskOrder, inputHash: string): Promise<ApprovalRow | null> => {
    const { requestId, host } = ask
    if (requestId === undefined || host === undefined) return null
    for await (const row of all({ agent, hostId: requestId, states: ['pending', 'decided'] }))
      if (row.ask.host === host && row.inputHash === inputHash) return row
    return null
  }

  type Which = Omit<Parameters<Store['approvals']>[0], 'limit' | 'beforeSeq'>
  const all = (which: Which) => everyRow((page) => store.approvals({ ...which, ...page }))
  const inTurn = (rows: AsyncIterable<ApprovalRow>, work: (row: ApprovalRow) => unknown) =>
    inSlices(rows, clock, work, { stopped: () => stopped })

  /** What an earlier life asked expires, and what was decided is passed on: all of it, while new ones are asked. */
  const resume = () => {
    const resumed = async () => {
      await inTurn(all({ states: ['pending'] }), expectExpiry)
      await inTurn(all({ states: ['decided'] }), ({ id }) =>
        settle(id).catch((thrown) =>
          log.error({ approval: id, error: String(thrown) }, 'verdict not passed on'),
        ),
      )
    }
    resumed().catch((thrown) => {
      log.warn({ error: String(thrown) }, 'approvals could not be resumed; will try again')
      cancelResume = clock.after(SWEEP_MS, resume)
    })
  }

  const expectExpiry = ({ id, expiresAt }: Pick<ApprovalRow, 'id' | 'expiresAt'>) =>
    timers.set(id, expiresAt - clock.now(), () => {
      expire(id).catch((thrown) => log.error({ approval: id, error: String(thrown) }, 'expiry failed'))
    })

  const expire = async (id: string) => {
    await storeRetry.persist('expire an approval', async () => {
      const row = await store.approval(id)
      if (row?.state !== 'pending') return
      const told = await words({ ...row, state: 'expired', cause: 'expired' }, !relay.holdsDecisions(row))
      await store.decide(denial(id, 'expired'), told)
    })
    await settle(id)
  }

  const hostWaits: Approvals['hostWaits'] = async (agent, host, requests) => {
    for await (const { id, hostId, ask } of all({ agent, states: ['pending', 'decided'] })) {
      if (hostId === null || ask.host !== host || !requests.includes(hostId)) continue
      if (store.shared) await storeRetry.persist('adopt an approval', () => store.adoptApproval(id))
      await settle(id)
    }
  }

  store.onHint((hint) => {
    if (!stopped && hint.kind === 'missed') sweep().catch(() => undefined)
  })

  /** Decided and not passed on; due and not expired: whoever finds it first. */
  const sweep = async () => {
    await inTurn(all({ states: ['decided'] }), ({ id }) => settle(id))
    await inTurn(all({ states: ['pending'], dueBefore: clock.now() }), ({ id }) => expire(id))
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
      if (store.shared) await relay.passedOn(id)
    },
    hostWaits,
    fetchVerdict: relay.fetchVerdict,
    async withdraw(agent, turns) {
      for (const turn of turns)
        for await (const row of all({ agent, turn, states: ['pending'] }))
          await relay.settled(row, 'withdrawn', false)
    },
    async endForRemovedAgents(configured) {
      for await (const row of all({ states: ['pending', 'decided'] })) {
        if (configured.includes(row.agent)) continue
        if (row.state === 'pending') await relay.settled(row, 'withdrawn', false)
        else await relay.settled(row, 'undeliverable', false)
      }
    },
    start() {
      resume()
      keepSweeping()
    },
    stop() {
      stopped = true
      storeRetry.stop()
      cancelSweep()
      cancelResume()
      relay.stop()
      timers.clear()
    },
  }
}
