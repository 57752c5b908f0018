// APPROVALS: a tool call waits for a person to allow or deny it. Each approval is one durable row. Compare-and-set lets
// exactly one decision win, and every surface shows how it ended. The connector reads the verdict from the row, so any
// node may decide.
//
//   pending ──▶ decided ──▶ passing ──▶ relayed | undeliverable     pending ──▶ expired (a denial) | withdrawn
//
// An allow is valid for one call. `passing` is committed before the verdict is written to the host. A repeated call
// never joins a row that has reached `passing`.
import { hash } from 'node:crypto'
import {
  type ApprovalRow,
  type ApprovalState,
  type Ask,
  type Cancel,
  type Clock,
  createBoundedMap,
  everyRow,
  inSlices,
  type Logger,
  type NewSend,
  OPEN_APPROVAL_STATES,
  type Random,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type Verdict,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createKeyedTimers } from '../keyed-timers.ts'
import type { Links } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import type { Roster } from '../roster.ts'
import { createStoreRetry } from '../store-retry.ts'
import { freshApprovalId, isApprovalId } from './approval-id.ts'
import { type AskOrder, createSurfaces } from './surfaces.ts'
import { denial } from './verdict-of.ts'
import { createVerdictRelay } from './verdict-relay.ts'

export interface ApprovalsDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isAlive' | 'isElsewhere'>
  readonly links: Links
  readonly grants: GrantList
  /** Puts messages from Switchboard itself into the outbox. */
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  /** Whether an approver is watching a surface that is not a chat (console, event stream). */
  readonly watched: () => boolean
  readonly crashPoint?: (name: string) => void
}

export interface Approvals {
  /** Resumes approvals of an earlier run in slices, while new ones are accepted. */
  start(): void
  /**
   * Returns the approval's id. A repeated call of an interrupted turn joins the earlier approval if its verdict was
   * never passed on. Otherwise the question is asked again, with a note that the call may already have run. Throws
   * `rate_limited` when too many questions of the turn are pending.
   */
  ask(order: AskOrder): Promise<string>
  /** Resolves when a decided approval was passed on, could not be passed on, or waits for its host to return. */
  settle(id: string): Promise<void>
  /** A host that attached here still waits for the answers to these requests. */
  hostWaits(agent: string, host: string, requests: readonly string[]): Promise<void>
  /**
   * Returns the verdict of an approval of that turn, or `pending`. Throws `not_found` for an approval of another turn,
   * and `gone` for one that was given up.
   */
  fetchVerdict(
    id: string,
    of: { readonly agent: string; readonly turn: string },
  ): Promise<Verdict | 'pending'>
  /** Withdraws the questions of cancelled turns. They need no answer any more. */
  withdraw(agent: string, turns: readonly string[]): Promise<void>
  /**
   * Ends the approvals of agents that are no longer configured. Pending questions are withdrawn; decided ones become
   * undeliverable.
   */
  endForRemovedAgents(configured: readonly string[]): Promise<void>
  stop(): void
}

/** Hints may be lost and timers end with their node, so a sweep looks for due approvals. */
const SWEEP_MS = 5_000
const JOINED_REMEMBERED = 10_000
/** Pending questions per turn. A person reads no more, and a flood must not hide the important one. */
const MOST_OF_A_TURN = 10
const TOO_MANY_MS = 5_000

/** Decided, but the asking host may not know yet. */
const ON_THE_WAY = ['decided', 'passing'] as const

const MAY_HAVE_RUN = 'It may already have run: it was allowed before an interruption.'

interface AskedBefore {
  /** The approval that this call joins. */
  readonly same: ApprovalRow | null
  /** The same call was allowed before an interruption. */
  readonly mayHaveRun: boolean
}

export function createApprovals(deps: ApprovalsDeps): Approvals {
  const { store, clock, log } = deps
  const storeRetry = createStoreRetry(clock, log, store)
  const { surfaces, prompts, words } = createSurfaces(deps)
  const timers = createKeyedTimers(clock)
  const isAskedHere = (id: string) => askedHere.has(id)
  const relay = createVerdictRelay({ ...deps, storeRetry, timers, words, isAskedHere })
  const { settle } = relay
  const askedHere = createBoundedMap<string, true>(JOINED_REMEMBERED)
  /**
   * Hand-overs in which a repeated call joined an approval. An allow is for one call, so each approval is joined once.
   */
  const joined = createBoundedMap<string, true>(JOINED_REMEMBERED)
  let cancelSweep: Cancel = () => undefined
  let cancelResume: Cancel = () => undefined
  let stopped = false

  const ask = async (given: AskOrder): Promise<string> => {
    const inputHash = hash('sha256', JSON.stringify([given.ask.toolName, given.ask.input]))
    const { same, mayHaveRun } = await askedBefore(given, inputHash)
    if (same) {
      askedHere.set(same.id, true)
      if (isOpen(same)) await storeRetry.persist('adopt an approval', () => store.adoptApproval(same.id))
      if (same.state === 'pending') expectExpiry(same)
      // Runs after the answer, which gives the asker the id to wait for. The approval may have been decided meanwhile.
      if (isOpen(same)) clock.after(0, () => relay.settleSoon(same.id))
      return same.id
    }
    await roomFor(given)
    const order = mayHaveRun ? { ...given, ask: withMayHaveRun(given.ask) } : given
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
      askedHere.set(id, true)
      const outcome = await storeRetry.persist('ask', () =>
        store.ask(row, prompts(id, order, chats, expiresAt)),
      )
      if (outcome === 'collision') continue
      await asked(id, order, chats.length, expiresAt)
      return id
    }
  }

  /**
   * Channel hosts (no `holdsDecisions`) go on without us when the question is refused. Their connection limits them
   * instead.
   */
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
   * A repeated call joins an earlier approval while its verdict was never passed on. The host's own request id is
   * compared first, then equal content. Content counts only if it was asked before the present hand-over: the same
   * call twice in one run is two calls.
   */
  const askedBefore = async (order: AskOrder, inputHash: string): Promise<AskedBefore> => {
    const { turn, handedAt } = order
    const again = await sameRequest(order, inputHash)
    if (again) return { same: again, mayHaveRun: false }
    let mayHaveRun = false
    if (!turn || handedAt === null) return { same: null, mayHaveRun }
    for await (const row of all({ agent: order.agent, turn })) {
      if (row.inputHash !== inputHash || row.createdAt >= handedAt) continue
      const joins = `${row.id}@${handedAt}`
      if ((row.state === 'pending' || row.state === 'decided') && !joined.has(joins)) {
        joined.set(joins, true)
        return { same: row, mayHaveRun: false }
      }
      if (row.behavior === 'allow' && row.state !== 'decided') mayHaveRun = true
    }
    return { same: null, mayHaveRun }
  }

  /**
   * The same request again: a host repeats it because it got no confirmation, or an agent fetches an earlier verdict.
   */
  const sameRequest = async ({ agent, ask }: AskOrder, inputHash: string): Promise<ApprovalRow | null> => {
    const { requestId, host } = ask
    if (requestId === undefined || host === undefined) return null
    const { fetchesVerdicts = false, holdsDecisions = true } = deps.roster.get(agent)?.connector ?? {}
    const states: ApprovalState[] = ['pending', 'decided']
    if (!holdsDecisions) states.push('passing')
    if (fetchesVerdicts) states.push('relayed', 'expired')
    for await (const row of all({ agent, hostId: requestId, states }))
      if (row.ask.host === host && row.inputHash === inputHash) return row
    return null
  }

  type Which = Omit<Parameters<StoreBesideOutlet['approvals']>[0], 'limit' | 'beforeSeq'>
  const all = (which: Which) => everyRow((page) => store.approvals({ ...which, ...page }))
  const inTurn = (rows: AsyncIterable<ApprovalRow>, work: (row: ApprovalRow) => unknown) =>
    inSlices(rows, clock, work, { stopped: () => stopped })

  /**
   * Resumes approvals of an earlier run: pending ones get their expiry timer, decided ones are passed on. New
   * questions are accepted meanwhile.
   */
  const resume = () => {
    const resumed = async () => {
      await inTurn(all({ states: ['pending'] }), expectExpiry)
      await inTurn(all({ states: ON_THE_WAY }), ({ id }) =>
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
    for await (const { id, hostId, ask } of all({ agent, states: OPEN_APPROVAL_STATES })) {
      if (hostId === null || ask.host !== host || !requests.includes(hostId)) continue
      if (store.shared) await storeRetry.persist('adopt an approval', () => store.adoptApproval(id))
      await settle(id)
    }
  }

  store.onHint((hint) => {
    if (!stopped && hint.kind === 'missed') sweep().catch(() => undefined)
  })

  /**
   * Finds decided approvals that were not passed on, and due ones that did not expire. The first node to find one
   * settles it.
   */
  const sweep = async () => {
    await inTurn(all({ states: ON_THE_WAY }), ({ id }) => settle(id))
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
        for await (const row of all({ agent, turn, states: ['pending', 'decided'] }))
          if (row.state === 'pending') await relay.settled(row, 'withdrawn', false)
          else await settle(row.id)
    },
    async endForRemovedAgents(configured) {
      for await (const row of all({ states: OPEN_APPROVAL_STATES })) {
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

function isOpen({ state }: ApprovalRow): boolean {
  return OPEN_APPROVAL_STATES.some((open) => open === state)
}

/** The note comes first, so a long description cannot hide it. */
function withMayHaveRun(ask: Ask): Ask {
  return { ...ask, description: `${MAY_HAVE_RUN} ${ask.description}`.trim() }
}
