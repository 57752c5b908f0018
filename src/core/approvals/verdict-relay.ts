// A decided approval on its way back: the verdict is passed on to the asking host, then every surface hears how it ended.
// The node whose connector asked goes first; when that node is gone, whoever has the host now does, and at last somebody
// says that it could not be, while nobody else has the agent. A host outlives its daemon and its line: a verdict waits for
// it to come back, and says so.
import {
  type ApprovalRow,
  type Clock,
  createBoundedMap,
  createSerialLines,
  type Logger,
  type NewSend,
  nodeOf,
  type Store,
  SwitchboardError,
  type Verdict,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Roster } from '../dispatch/roster.ts'
import type { KeyedTimers } from '../keyed-timers.ts'
import type { StoreRetry } from '../store-retry.ts'
import type { Surfaces } from './surfaces.ts'
import { verdictOf } from './verdict-of.ts'

export interface VerdictRelayDeps {
  readonly store: Pick<Store, 'approval' | 'onHint' | 'owner' | 'settleApproval' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isAlive' | 'isElsewhere'>
  readonly storeRetry: StoreRetry
  /** One appointment an approval: its expiry, or the next look for its host. */
  readonly timers: KeyedTimers
  readonly words: Surfaces['words']
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
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
  /** A call that was asked again and is decided: its verdict is told once more. */
  relayAgain(row: ApprovalRow): void
  /** decided → relayed or undeliverable, pending → withdrawn, and the chats are told. */
  settled(row: ApprovalRow, to: Ended, passed: boolean): Promise<boolean>
  /** Switchboard holds the decision; a host with a dialog of its own does not need it. */
  holdsDecisions(row: ApprovalRow): boolean
  stop(): void
}

/** How long a host that is gone may take to come back, here or elsewhere, before its verdict is undeliverable. */
const ORPHAN_MS = 15_000
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
    const row = await store.approval(id)
    if (row?.state !== 'decided' && row?.state !== 'expired') return false
    if (row.state === 'expired' && told.has(row.id)) return false
    const own = isOwn(row)
    // A host is attached to one node at a time and may have moved: the connector of every node knows its own.
    const roams = !holdsDecisions(row)
    const ageMs = clock.now() - (row.decidedAt ?? row.expiresAt)
    // The one who asked goes first: request ids of two hosts may be alike.
    const first = row.asker !== null && deps.cluster.isAlive(row.asker)
    if (!own && first && !(roams && ageMs >= ROAMED_MS)) return false
    if (!own && !roams && isOnlyElsewhere(row)) return false
    // While nobody was here a host had nothing to come back to: that time does not count.
    const leftMs = ORPHAN_MS - Math.min(ageMs, clock.now() - bornAt)
    const done = await relay(row, leftMs <= 0 || (own && !roams))
    if (!done && roams) await awaitHost(row, leftMs)
    return true
  }

  const awaitHost = async (row: ApprovalRow, leftMs: number) => {
    timers.set(row.id, leftMs, () => settleSoon(row.id))
    if (!isOwn(row)) return
    await retire(row, true)
    // Another node may have passed it on just now: what is said last must be how it ended.
    const now = store.shared ? await store.approval(row.id) : null
    if (now && now.state !== 'decided') await retire(now, true, 'again')
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
      if (row.state === 'decided' && !(await settled(row, 'relayed', false))) continue
      timers.cancel(row.id)
      return verdictOf(row)
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

  /** `last`: nobody else will do it, so one that cannot be delivered is undeliverable. False: it was not settled. */
  const relay = async (row: ApprovalRow, last: boolean): Promise<boolean> => {
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
    const there = post.attached || !holds
    const outcome = tell && there ? await (post.connector.verdict?.(verdictOf(row)) ?? 'gone') : 'gone'
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

  const settled = async (row: ApprovalRow, to: Ended, passed: boolean): Promise<boolean> => {
    const written = await storeRetry.persist('settle an approval', async () =>
      store.settleApproval(row.id, to, await words({ ...row, state: to }, passed)),
    )
    return written !== null
  }

  const relayAgain = (row: ApprovalRow) => {
    if (row.behavior === null) return
    const again = async () => {
      if (row.state === 'decided' && (await settle(row.id))) return
      // Passed on while it was asked again: to the run before, which is over.
      await deps.roster.get(row.agent)?.connector.verdict?.(verdictOf(row))
    }
    clock.after(0, () => {
      again().catch((thrown) =>
        log.warn({ approval: row.id, error: String(thrown) }, 'verdict could not be passed on'),
      )
    })
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
    relayAgain,
    settled,
    holdsDecisions,
    stop() {
      stopped = true
    },
  }
}
