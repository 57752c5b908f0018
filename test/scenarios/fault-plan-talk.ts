// One talk under a fault plan, the same for every platform with a history: three messages with answers, one that asks
// for a decision, and a tap that decides. Whatever the wire does, each arrives and is answered once, and the ledger
// agrees.
import { expect } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import type { MatrixCell, NamedPlan } from '../../src/testing/faults/fault-matrix.ts'
import type { FaultPlan } from '../../src/testing/faults/fault-plan.ts'
import { until } from '../faults/until.ts'
import { dealtPlans, SCOPE } from './deal.ts'
import { ARRANGEMENTS, type Arrangement } from './emulated-river.ts'

const WORDS = ['alpha', 'bravo', 'charlie']
/**
 * The history brings messages that the platform gave up on, 75 s after the last connect. They are late but not lost. A
 * busy machine takes longer.
 */
export const LATE_MS = 240_000
/** The limit for the whole test. */
export const TALK_LIMIT_MS = 600_000

export interface TalkingRiver {
  readonly kate: { says(text: string): unknown; sees(): readonly string[]; taps(label: string): unknown }
  readonly fake: { readonly fired: FaultPlan['fired'] }
  readonly store: Store
}

/** Combines each plan with the arrangements of this run. */
export function plansOnArrangements(
  plans: readonly NamedPlan[],
): readonly (NamedPlan & { readonly arrangement: Arrangement })[] {
  const product = plans.flatMap((plan) =>
    ARRANGEMENTS.map((arrangement) => ({ ...plan, arrangement })).slice(0, SCOPE === 'first' ? 1 : 3),
  )
  return dealtPlans(product, ({ name }) => name)
}

/**
 * Plans that need minutes to pass, on stores that several nodes share. They run in real time, because the database has
 * its own clock. Only `npm run test:all` runs them.
 */
export function plansOnSharedStores(
  plans: readonly NamedPlan[],
): readonly (NamedPlan & { readonly arrangement: Arrangement })[] {
  const shared = ARRANGEMENTS.filter((one) => one !== 'sqlite')
  return SCOPE === 'all'
    ? plans.flatMap((plan) => shared.map((arrangement) => ({ ...plan, arrangement })))
    : []
}

/** Throws if something was lost or repeated. Before that it passes the cell of the matrix to `onCell`. */
export async function talkUnderFaults(
  { kate, fake, store }: TalkingRiver,
  plan: NamedPlan,
  { platform, onCell }: { readonly platform: string; readonly onCell: (cell: MatrixCell) => void },
): Promise<void> {
  for (const word of [...WORDS, 'deploy']) kate.says(word)
  const copies = (part: string) => kate.sees().filter((text) => text.includes(part))
  const isSeen = (part: string) => copies(part).length > 0
  await until('the answers', () => WORDS.every((word) => isSeen(`You said: ${word}`)), LATE_MS)
  await until('the question', () => isSeen('demo wants to run Deploy'), LATE_MS)
  // The platform does not repeat a tap. The person presses again if nothing happens for a while.
  let pressedAt = Number.NEGATIVE_INFINITY
  await until('the deploy', () => {
    if (isSeen('Deployed')) return true
    if (performance.now() - pressedAt < 1_000) return false
    pressedAt = performance.now()
    try {
      kate.taps('Allow')
    } catch {
      // It is decided already.
    }
    return false
  })
  const retired = () => copies('allowed by').filter((text) => !text.includes('Deployed'))
  await until('the prompt is retired', () => retired().length > 0)
  await until('the outbox is empty', async () => {
    const open = await store.sends({ states: ['queued', 'sending'], limit: 10 })
    return open.length === 0
  })
  const expected = [...WORDS.map((word) => `You said: ${word}`), '🚀 Deployed']
  onCell({
    platform,
    plan: plan.name,
    fired: fake.fired.length,
    lost: expected.filter((part) => !isSeen(part)).length,
    repeated: expected.filter((part) => copies(part).length > 1).length,
    labelled: copies('may be a duplicate').length,
  })
  expect(expected.map((part) => [part, copies(part).length])).toEqual(expected.map((part) => [part, 1]))
  // Her chat may have two names, but it got the question once.
  expect(retired()).toHaveLength(1)
  if (plan.faults.length > 0) expect(fake.fired.length).toBeGreaterThan(0)
  // Each message was received once, whatever the wire did, and the ledger agrees.
  const turns = await store.turns({ limit: 1_000 })
  const messages = turns.filter((turn) => !turn.messageId.startsWith('tap:'))
  expect(messages.map((turn) => turn.body?.text).toSorted()).toEqual([...WORDS, 'deploy'])
  expect(messages.map((turn) => turn.state)).toEqual(['answered', 'answered', 'answered', 'answered'])
  expect(await store.verify()).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
}
