// Puts waiting turns and waiting sends into a data folder, by the store of the measured build. Its time is not
// measured. Usage: `seed-store.ts DATA_DIR ENTRY PLAN`, with the plan as JSON.
import type { NewSend, Store } from '../src/contract/index.ts'
import { benchItem } from './load/bench-item.ts'
import { inBatches, measuredStore } from './measured-store.ts'

const BATCH = 2_000

export interface SeedPlan {
  /** Turns that wait in one conversation. */
  readonly turns?: { readonly conversation: string; readonly many: number }
  /** Sends that wait, spread over conversations. */
  readonly sends?: {
    readonly integration: string
    readonly many: number
    readonly conversations: number
    /** The time until they are due. 0 means now. */
    readonly dueInMs: number
  }
}

const [dataDir = '', entry = '', text = '{}'] = process.argv.slice(2)
const plan = JSON.parse(text) as SeedPlan
const store = await (await measuredStore(dataDir, entry, 'bench-seed')).open()
await seedTurns(store)
await seedSends(store)
await store.close()

async function seedTurns(into: Store): Promise<void> {
  const { conversation = '', many = 0 } = plan.turns ?? {}
  await inBatches(many, BATCH, (from, length) =>
    into.receive(
      Array.from({ length }, (_, at) =>
        benchItem({ conversation, messageId: `seeded-${from + at}`, text: 'hello' }),
      ),
    ),
  )
}

async function seedSends(into: Store): Promise<void> {
  const { sends } = plan
  if (sends === undefined) return
  const dueAt = Date.now() + sends.dueInMs
  const send = (number: number): NewSend => ({
    to: { integration: sends.integration, conversation: `seeded-${number % sends.conversations}` },
    platform: 'webhook',
    op: { kind: 'text', text: `reminder ${number}` },
    cause: 'operator',
    agent: null,
    session: null,
    turn: null,
    dueAt,
  })
  await inBatches(sends.many, BATCH, (from, length) =>
    into.enqueue(Array.from({ length }, (_, at) => send(from + at))),
  )
}
