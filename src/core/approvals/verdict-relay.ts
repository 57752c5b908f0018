// Passes a decided approval back to the asking host. Then every surface shows how it ended.
//
// `passing` is committed before the verdict is written. A row found in `passing` after a crash may have been used. It
// ends as undeliverable, and the call is asked again. The exception is a host that outlived its daemon and still waits
// for that request: it gets the verdict once more.
//
// A verdict waits while its interrupted turn is being resumed, because the call will be repeated. The node whose
// connector asked goes first. When that node is gone, the node that now has the host passes the verdict on. If no node
// has the agent, one node finally reports the approval as undeliverable. A host outlives its daemon and its connection,
// so the verdict waits for the host to return, and the chats show that it waits.
import {
  type AgentConnector,
  type ApprovalRow,
  type Clock,
  createBoundedMap,
  createSerialLines,
  type Logger,
  type NewSend,
  nodeOf,
  OPEN_TURN_STATES,
  type Store,
  SwitchboardError,
  type Verdict,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { KeyedTimers } from '../keyed-timers.ts'
import type { Roster } from '../roster.ts'
import type { StoreRetry } from '../store-retry.ts'
import type { Surfaces } from './surfaces.ts'
import { verdictOf } from './verdict-of.ts'

export interface VerdictRelayDeps {
  readonly store: Pick<Store, 'approval' | 'onHint' | 'owner' | 'settleApproval' | 'shared' | 'turn'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isAlive' | 'isElsewhere'>
  readonly storeRetry: StoreRetry
  /** One timer per approval: its expiry, or the next look for its host. */
  readonly timers: KeyedTimers
  readonly words: Surfaces['words']
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  /** The approval was asked in this process, or a call in this process joined it. */
  readonly isAskedHere: (id: string) => boolean
  /** For tests that end the process at a named point. */
  readonly crashPoint?: (name: string) => void
}

type Ended = 'relayed' | 'undeliverable' | 'withdrawn'

export interface VerdictRelay {
  /** Passes a verdict on, or finds that another node does. Calls for one approval run one after another. */
  settle(id: string): Promise<unknown>
  /** The same without waiting. Errors are logged. */
  settleSoon(id: string): void
  /** Resolves when another node has passed the verdict on, or after a while. */
  passedOn(id: string): Promise<void>
  /**
   * Returns the verdict to an agent that fetches it. Fetching a decided verdict passes it on. Throws `not_found` or
   * `gone`.
   */
  fetchVerdict(
    id: string,
    of: { readonly agent: string; readonly turn: string },
  ): Promise<Verdict | 'pending'>
  /**
   * Moves decided → relayed or undeliverable, or pending → withdrawn, and updates the chats. False: the row had moved
   * already.
   */
  settled(row: ApprovalRow, to: Ended, passed: boolean): Promise<boolean>
  /** Whether Switchboard holds the decision. A host with a dialog of its own does not depend on it. */
  holdsDecisions(row: ApprovalRow): boolean
  stop(): void
}

/** How long a missing host may take to return, here or elsewhere, before its verdict is undeliverable. */
const ORPHAN_MS = 15_000
/** How long an interrupted turn may take to return to its call. */
const TAKEN_UP_MS = 60_000
/** After this time, a verdict that a dead node was passing on counts as interrupted, and any node may settle it. */
const PASSED_MS = 2 * 60_000
/** A fetching agent asks again within seconds. One that stays silent this long is gone. */
const FETCH_MS = 10 * 60_000
/** After this time, other nodes may offer the verdict to their hosts. */
const ROAMED_MS = 2_000
/** How long the caller waits for another node to pass the verdict on. */
const ELSEWHERE_MS = 3_000
const TOLD_REMEMBERED = 1_000

export function createVerdictRelay(deps: VerdictRelayDeps): VerdictRelay {
  const { store, clock, log, storeRetry, timers, words } = deps
  const settling = createSerialLines<string>()
  /** Expired approvals whose connector was informed from here. Their row does not record that. */
  const told = createBoundedMap<string, true>(TOLD_REMEMBERED)
  /** Callers that wait for another node to pass a verdict on. */
  const waiting = new Map<string, Set<() => void>>()
  const bornAt = clock.now()
  let stopped = false

  /** Passes the verdict on to the asking host, then updates every surface. False: there was nothing to do. */
  const settle = (id: string): Promise<boolean> => {
    if (stopped) return Promise.resolve(false)
    // Runs after the current call, not together with it. The current call may have read the row too early.
    return settling.run(id, () => settleOnce(id))
  }

  const settleOnce = async (id: string) => {
    const found = await store.approval(id)
    if (found?.state !== 'decided' && found?.state !== 'expired' && found?.state !== 'passing') return false
    if (found.state === 'expired' && told.has(found.id)) return false
    const own = isOwn(found)
    // A host attaches to one node at a time and may move. The connector of each node knows its own hosts.
    const roams = !holdsDecisions(found)
    const ageMs = clock.now() - (found.decidedAt ?? found.expiresAt)
    // The asking node goes first, because two hosts may use the same request id.
    const first = found.asker !== null && deps.cluster.isAlive(found.asker)
    const row =
      found.state === 'passing' ? await interrupted(found, own || (!first && ageMs > PASSED_MS)) : found
    if (row === null) return false
    if (!own && first && !(roams && ageMs >= ROAMED_MS)) return false
    if (!own && !roams && isOnlyElsewhere(row)) return false
    const isInterrupted = !roams && (await isTakenUp(row))
    const waits = roams || isInterrupted
    // A host cannot return while no daemon runs, so that time does not count.
    const leftMs = (waits && !roams ? TAKEN_UP_MS : ORPHAN_MS) - Math.min(ageMs, clock.now() - bornAt)
    // No connector here knows the id before the call is repeated.
    const unheard = isInterrupted && !deps.isAskedHere(row.id)
    const done = await relay(row, { last: leftMs <= 0 || (own && !waits), unheard })
    if (!done && waits) await awaitHost(row, leftMs)
    return true
  }

  /** The turn was interrupted after it asked, and continues. It will reach its call and ask again. */
  const isTakenUp = async ({ turn: id, createdAt }: ApprovalRow): Promise<boolean> => {
    const turn = id === null ? null : await store.turn(id)
    if (!turn || !OPEN_TURN_STATES.some((state) => state === turn.state)) return false
    // A row from the future was asked before the clock was set back, so before this start.
    return createdAt < bornAt || createdAt > clock.now() || turn.state !== 'seen'
  }

  /**
   * The node that passed this verdict on was cut off, and may have written it. A host with its own dialog gets the
   * verdict again, because it takes each request once. Null: the approval is over, or another node handles it.
   */
  const interrupted = async (row: ApprovalRow, ours: boolean): Promise<ApprovalRow | null> => {
    if (!ours) return null
    if (!holdsDecisions(row)) return move(row, 'decided')
    await storeRetry.persist('settle an approval', async () =>
      store.settleApproval(row.id, 'undeliverable', await words(row, false)),
    )
    return null
  }

  const move = (row: ApprovalRow, to: 'passing' | 'decided') =>
    storeRetry.persist('pass a verdict on', () => store.settleApproval(row.id, to))

  const awaitHost = async (row: ApprovalRow, leftMs: number) => {
    timers.set(row.id, leftMs, () => settleSoon(row.id))
    if (!isOwn(row)) return
    await retire(row, true)
    // Another node may have passed the verdict on just now. The last message must state the outcome.
    const now = store.shared ? await store.approval(row.id) : null
    const isOver = now && now.state !== 'decided' && now.state !== 'passing'
    if (isOver) await retire(now, !holdsDecisions(now), 'again')
  }

  /** False: the agent did not fetch the verdict in time. */
  const awaitFetch = async (row: ApprovalRow): Promise<boolean> => {
    const leftMs = FETCH_MS - (clock.now() - (row.decidedAt ?? row.expiresAt))
    if (leftMs <= 0) return false
    timers.set(row.id, leftMs, () => settleSoon(row.id))
    await retire(row, true)
    return true
  }

  const fetchVerdict: VerdictRelay['fetchVerdict'] = async (id, { agent, turn }) => {
    for (;;) {
      const row = await store.approval(id)
      if (row?.agent !== agent || row.turn !== turn)
        throw new SwitchboardError('not_found', 'there is no such approval of this turn')
      if (row.state === 'pending') return 'pending'
      if (row.state === 'undeliverable' || row.state === 'withdrawn')
        throw new SwitchboardError('gone', `the approval is over: ${row.state}`)
      // Another caller settled the row between the read and the write. Read it again.
      const passes = row.state === 'decided' || row.state === 'passing'
      if (passes) deps.crashPoint?.('approvals.before-passing')
      if (passes && !(await settled(row, 'relayed', false))) continue
      if (passes) deps.crashPoint?.('approvals.passing')
      timers.cancel(row.id)
      return { ...verdictOf(row), ...(row.state === 'relayed' ? { repeat: true } : {}) }
    }
  }

  const retire = (row: ApprovalRow, passedOn: boolean, again?: 'again') =>
    storeRetry.persist('tell how an approval stands', async () => {
      await deps.say(await words(row, passedOn, again))
    })

  const holdsDecisions = ({ agent }: ApprovalRow) => deps.roster.get(agent)?.connector.holdsDecisions ?? true

  /** The node that has the agent knows more. The agent may fetch its verdict there. */
  const isOnlyElsewhere = ({ agent }: ApprovalRow) =>
    !deps.roster.get(agent)?.attached && deps.cluster.isElsewhere(agent)

  /** The approval was asked here. A node also answers for its earlier runs. */
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

  /**
   * `last`: no other node will do it, so a verdict that cannot be delivered becomes undeliverable. `unheard`: the call
   * has not come again, so the connector has no caller for the verdict yet. False: the approval was not settled.
   */
  const relay = async (
    row: ApprovalRow,
    { last, unheard }: { readonly last: boolean; readonly unheard: boolean },
  ): Promise<boolean> => {
    timers.cancel(row.id)
    const post = deps.roster.get(row.agent)
    if (!post) {
      // The agent is no longer configured. Only the chats that were asked remain to be updated.
      if (row.state !== 'decided') return true
      if (store.shared && last) await settled(row, 'undeliverable', false)
      return last
    }
    const holds = post.connector.holdsDecisions
    // A host with a dialog of its own receives only decisions of people. Otherwise its dialog stays open.
    const tell = row.cause === 'person' || holds
    // Such a host may be present although it takes no turns. Its connector knows.
    const there = holds ? post.attached && (!unheard || post.connector.fetchesVerdicts) : true
    const outcome = tell && there ? await passOn(row, post.connector) : 'gone'
    if (outcome === 'elsewhere') return true
    if (row.state !== 'decided') {
      // The commit of the expiry already updated the chats.
      told.set(row.id, true)
      return true
    }
    if (outcome === 'fetched' && (await awaitFetch(row))) return true
    const relayed = outcome === 'relayed'
    if (relayed || last) await settled(row, relayed ? 'relayed' : 'undeliverable', !holds)
    return relayed || last
  }

  /** `gone`: nothing was written, and the row is `decided` again. `elsewhere`: another node was first. */
  const passOn = async (row: ApprovalRow, connector: AgentConnector) => {
    const tell = async () => (await connector.verdict?.(verdictOf(row))) ?? 'gone'
    if (row.state !== 'decided' || connector.fetchesVerdicts) return tell()
    deps.crashPoint?.('approvals.before-passing')
    if ((await move(row, 'passing')) === null) return 'elsewhere'
    deps.crashPoint?.('approvals.passing')
    const outcome = await tell().catch((thrown) => {
      log.error({ approval: row.id, error: String(thrown) }, 'a verdict could not be written')
      return 'unknown' as const
    })
    deps.crashPoint?.('approvals.written')
    if (outcome === 'relayed') return outcome
    if (outcome !== 'unknown') await move(row, 'decided')
    else await interrupted({ ...row, state: 'passing' }, true)
    return 'gone'
  }

  const settled = async (row: ApprovalRow, to: Ended, passed: boolean): Promise<boolean> => {
    const written = await storeRetry.persist('settle an approval', async () =>
      store.settleApproval(row.id, to, await words({ ...row, state: to }, passed)),
    )
    return written !== null
  }

  const settleSoon = (id: string) =>
    void settle(id).catch((thrown) =>
      log.error({ approval: id, error: String(thrown) }, 'verdict not passed on'),
    )

  store.onHint((hint) => {
    if (stopped || hint.kind !== 'approval') return
    tellWaiting(hint.id)
    settleSoon(hint.id)
  })

  return {
    settle,
    settleSoon,
    passedOn,
    fetchVerdict,
    settled,
    holdsDecisions,
    stop() {
      stopped = true
    },
  }
}
