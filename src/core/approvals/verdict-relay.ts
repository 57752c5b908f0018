// A decided approval on its way back: the verdict is passed on to the asking host, then every surface hears how it ended.
// `passing` is committed before the verdict is written. A row found `passing` after a crash may have been used: it ends, and
// the call is asked again. Only a host that outlived its daemon, and still waits for that very request, is told once more.
// While a turn is being taken up again after an interruption its verdict waits for it: the call comes again.
// The node whose connector asked goes first; when that node is gone, whoever has the host now does, and at last somebody
// says that it could not be, while nobody else has the agent. A host outlives its daemon and its line: a verdict waits for
// it to come back, and says so.
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
import type { Roster } from '../dispatch/agent/roster.ts'
import type { KeyedTimers } from '../keyed-timers.ts'
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
  /** One appointment an approval: its expiry, or the next look for its host. */
  readonly timers: KeyedTimers
  readonly words: Surfaces['words']
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  /** It was asked in this process, or what was asked before was joined. */
  readonly isAskedHere: (id: string) => boolean
  /** For tests that end the process at a named point. */
  readonly crashPoint?: (name: string) => void
}

type Ended = 'relayed' | 'undeliverable' | 'withdrawn'

export interface VerdictRelay {
  /** Passes a verdict on, or finds that somebody else does. Looks of one approval follow one another. */
  settle(id: string): Promise<unknown>
  /** The same for whoever cannot wait: what fails is logged. */
  settleSoon(id: string): void
  /** Resolves when another node has passed it on, or after a while. */
  passedOn(id: string): Promise<void>
  /** The agent came for it: it is passed on by that. */
  fetchVerdict(
    id: string,
    of: { readonly agent: string; readonly turn: string },
  ): Promise<Verdict | 'pending'>
  /** decided → relayed or undeliverable, pending → withdrawn, and the chats are told. */
  settled(row: ApprovalRow, to: Ended, passed: boolean): Promise<boolean>
  /** Switchboard holds the decision; a host with a dialog of its own does not need it. */
  holdsDecisions(row: ApprovalRow): boolean
  stop(): void
}

/** How long a host that is gone may take to come back, here or elsewhere, before its verdict is undeliverable. */
const ORPHAN_MS = 15_000
/** How long a turn that was interrupted may take to come back to its call. */
const TAKEN_UP_MS = 60_000
/** What another node was passing on when it died is over by then, whoever passed it on. */
const PASSED_MS = 2 * 60_000
/** An agent that fetches asks again within seconds; one that does not for so long is gone. */
const FETCH_MS = 10 * 60_000
/** What its asker could not pass on by then may be asked of the hosts of others. */
const ROAMED_MS = 2_000
/** A verdict given here and passed on by another node: waited for this long by whoever gave it. */
const ELSEWHERE_MS = 3_000
const TOLD_REMEMBERED = 1_000

export function createVerdictRelay(deps: VerdictRelayDeps): VerdictRelay {
  const { store, clock, log, storeRetry, timers, words } = deps
  const settling = createSerialLines<string>()
  /** Expired ones whose connector was told from here: their row says no more about it. */
  const told = createBoundedMap<string, true>(TOLD_REMEMBERED)
  /** Those who wait for another node to pass a verdict on. */
  const waiting = new Map<string, Set<() => void>>()
  const bornAt = clock.now()
  let stopped = false

  /** Passes the verdict on to the asking host, then tells every surface how it ended. False: there was nothing to do. */
  const settle = (id: string): Promise<boolean> => {
    if (stopped) return Promise.resolve(false)
    // Behind the one that runs, not with it: that one may have looked before what we were told of was true.
    return settling.run(id, () => settleOnce(id))
  }

  const settleOnce = async (id: string) => {
    const found = await store.approval(id)
    if (found?.state !== 'decided' && found?.state !== 'expired' && found?.state !== 'passing') return false
    if (found.state === 'expired' && told.has(found.id)) return false
    const own = isOwn(found)
    // A host is attached to one node at a time and may have moved: the connector of every node knows its own.
    const roams = !holdsDecisions(found)
    const ageMs = clock.now() - (found.decidedAt ?? found.expiresAt)
    // The one who asked goes first: request ids of two hosts may be alike.
    const first = found.asker !== null && deps.cluster.isAlive(found.asker)
    const row =
      found.state === 'passing' ? await interrupted(found, own || (!first && ageMs > PASSED_MS)) : found
    if (row === null) return false
    if (!own && first && !(roams && ageMs >= ROAMED_MS)) return false
    if (!own && !roams && isOnlyElsewhere(row)) return false
    const isInterrupted = !roams && (await isTakenUp(row))
    const waits = roams || isInterrupted
    // While nobody was here a host had nothing to come back to: that time does not count.
    const leftMs = (waits && !roams ? TAKEN_UP_MS : ORPHAN_MS) - Math.min(ageMs, clock.now() - bornAt)
    // Nobody here knows it by its id before the call has come again.
    const unheard = isInterrupted && !deps.isAskedHere(row.id)
    const done = await relay(row, { last: leftMs <= 0 || (own && !waits), unheard })
    if (!done && waits) await awaitHost(row, leftMs)
    return true
  }

  /** Its turn was interrupted after it asked, and goes on: it comes to its call again, and asks again. */
  const isTakenUp = async ({ turn: id, createdAt }: ApprovalRow): Promise<boolean> => {
    const turn = id === null ? null : await store.turn(id)
    if (!turn || !OPEN_TURN_STATES.some((state) => state === turn.state)) return false
    // One from the future was asked before the clock was set back, so before this start.
    return createdAt < bornAt || createdAt > clock.now() || turn.state !== 'seen'
  }

  /**
   * Found `passing`: whoever passed it on was cut off, and may have written it. A host that lives on is asked anew, which
   * takes each of its requests once. Null: it is over, or somebody else is at it.
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
    // Another node may have passed it on just now: what is said last must be how it ended.
    const now = store.shared ? await store.approval(row.id) : null
    const isOver = now && now.state !== 'decided' && now.state !== 'passing'
    if (isOver) await retire(now, !holdsDecisions(now), 'again')
  }

  /** False: it did not come for too long. */
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
      // Somebody else settled it between the look and the write: look again.
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

  /** Who has the agent knows more: it may come for its verdict there, to the node that began anew or to another. */
  const isOnlyElsewhere = ({ agent }: ApprovalRow) =>
    !deps.roster.get(agent)?.attached && deps.cluster.isElsewhere(agent)

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

  /**
   * `last`: nobody else will do it, so one that cannot be delivered is undeliverable. `unheard`: a connector that is told what
   * it has to do has nobody yet to tell it to. False: it was not settled.
   */
  const relay = async (
    row: ApprovalRow,
    { last, unheard }: { readonly last: boolean; readonly unheard: boolean },
  ): Promise<boolean> => {
    timers.cancel(row.id)
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
    const there = holds ? post.attached && (!unheard || post.connector.fetchesVerdicts) : true
    const outcome = tell && there ? await passOn(row, post.connector) : 'gone'
    if (outcome === 'elsewhere') return true
    if (row.state !== 'decided') {
      // Its chats heard of it in the commit that let it expire.
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
