// Fired schedules: one row per schedule and time, so each fires once, on the first node that notices. The turn that it
// starts is in the same commit.
import type { Firing, ReceiveItem, ReceiveResult } from '../../../contract/index.ts'
import { run } from '../../statement.ts'
import { oneByOne, recordFact, type Verb } from '../../verb-context.ts'
import { keep } from './keep-turns.ts'

export interface FireCall {
  readonly firing: Firing
  readonly item: ReceiveItem | null
}

export interface Fired {
  readonly won: boolean
  readonly received: ReceiveResult | null
}

export const fireSchedule: Verb<FireCall, Fired> = oneByOne(function* (context, { firing, item }) {
  const { agent, schedule, fireAt, outcome, times } = firing
  const added = yield* run(
    `INSERT INTO schedules_fired (agent, schedule, fire_at, outcome, node, at, times) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (agent, schedule, fire_at) DO NOTHING`,
    [agent, schedule, fireAt, outcome, context.node, context.now, times],
  )
  if (added === 0) return { won: false, received: null }
  recordFact(context, { kind: 'schedule', ref: `${agent}/${schedule}`, to: outcome }, { at: String(fireAt) })
  if (!item) return { won: true, received: null }
  const [received = null] = yield* keep(context, [item])
  yield* run('UPDATE schedules_fired SET turn = $4 WHERE agent = $1 AND schedule = $2 AND fire_at = $3', [
    agent,
    schedule,
    fireAt,
    received?.id ?? null,
  ])
  return { won: true, received }
})
