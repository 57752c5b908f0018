// Gives up turns that waited longer than the queue keeps them, with a notice to their senders.
import type { Cancel, Clock, Logger, NewSend, Settings, Store, TurnRow } from '../../contract/index.ts'
import { notice, noticeTarget } from '../notices.ts'
import type { TurnEnd } from '../outbound/notify-on.ts'
import { type SignalSink, tellTurnState } from '../signals.ts'

export interface TurnExpiryDeps {
  readonly store: Pick<Store, 'overdueTurns' | 'expireTurns'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly signal: SignalSink
  readonly canSpeak: (integration: string) => boolean
  readonly ended: (row: TurnRow, end: TurnEnd) => readonly NewSend[]
}

const SWEEP_MS = 60_000

export function createTurnExpiry(deps: TurnExpiryDeps): { start(): void; stop(): void } {
  const { store, clock, log } = deps
  let cancel: Cancel = () => undefined
  let stopped = false

  const wordsFor = (row: TurnRow): readonly NewSend[] => {
    const isNoticed = deps.canSpeak(row.integration)
    const notices = isNoticed
      ? [notice(noticeTarget(row), (words) => words.notices.givenUp({ reason: 'queue_expired' }))]
      : []
    return [...notices, ...deps.ended(row, { to: 'expired', reason: 'queue_expired' })]
  }

  const expireOld = async () => {
    const { queueExpiryMs } = deps.settings().tunables
    const overdue = await store.overdueTurns(queueExpiryMs, 100)
    if (overdue.length === 0) return
    const turns = overdue.map((row) => ({ id: row.id, words: wordsFor(row) }))
    const rows = await store.expireTurns(queueExpiryMs, turns)
    for (const row of rows) tellTurnState(deps.signal, row, 'expired', 'queue_expired')
  }

  const start = () => {
    cancel = clock.after(SWEEP_MS, () => {
      expireOld().catch((thrown) => log.warn({ error: String(thrown) }, 'expiry sweep failed'))
      if (!stopped) start()
    })
  }

  return {
    start,
    stop() {
      stopped = true
      cancel()
    },
  }
}
