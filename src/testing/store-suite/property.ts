// Store suite: random sequences of store calls against the model. Two nodes, passing time and restarts, then the audit.
import type * as FastCheck from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationLane, type Store, sessionId, sessionKey } from '../../contract/index.ts'
import { expectSound, item, LEASE_MS, type MakeStoreFixture, type StoreFixture, send } from './fixture.ts'
import { createModel, type Model } from './model.ts'

/** Loads fast-check when the test runs, so tests of platforms and connectors do not need it. */
async function loadFastCheck(): Promise<typeof FastCheck> {
  return await import('fast-check')
}

function commandOf(fc: typeof FastCheck) {
  const chat = fc.nat({ max: 2 })
  const node = fc.nat({ max: 1 })
  const nth = fc.nat({ max: 12 })
  const token = fc.option(fc.nat({ max: 4 }), { nil: null, freq: 3 })
  const kind = fc.constantFrom('turns' as const, 'sends' as const)

  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('receive' as const),
        node,
        chat,
        id: fc.nat({ max: 6 }),
        state: fc.constantFrom('queued' as const, 'queued' as const, 'refused' as const, 'consumed' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('enqueue' as const),
        node,
        chat,
        key: fc.option(fc.nat({ max: 3 }), { nil: null }),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('take' as const), node, chat, kind, token }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('move' as const),
        node,
        chat,
        kind,
        nth,
        token: fc.integer({ min: 1, max: 4 }),
        to: fc.constantFrom('queued', 'seen', 'answered', 'failed', 'sent', 'unknown'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('release' as const),
        node,
        chat,
        kind,
        token: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('operate' as const),
        node,
        nth,
        verb: fc.constantFrom('retry' as const, 'cancel' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        ms: fc.integer({ min: 1, max: LEASE_MS + 1 }),
      }),
    },
  )
}
type Command = ReturnType<typeof commandOf> extends FastCheck.Arbitrary<infer Value> ? Value : never

export function describeProperties(make: MakeStoreFixture, runs: number): void {
  describe('property', () => {
    it('[I2.property-model] random verbs by two nodes give what the model gives, and the audit holds', async () => {
      const fc = await loadFastCheck()
      const command = commandOf(fc)
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
          const fixture = await make()
          try {
            await compare(fixture, commands)
          } finally {
            await fixture.dispose()
          }
        }),
        { numRuns: runs, interruptAfterTimeLimit: 60_000, examples: [[UNTAKEN]] },
      )
    }, 120_000)
  })
}

/** A waiting send was never sent. So the holder of its lane cannot call it unknown or sent. */
const UNTAKEN: Command[] = [
  { do: 'take', node: 1, chat: 0, kind: 'sends', token: null },
  { do: 'enqueue', node: 0, chat: 0, key: null },
  { do: 'move', node: 1, chat: 0, kind: 'sends', nth: 0, token: 1, to: 'unknown' },
  { do: 'move', node: 1, chat: 0, kind: 'sends', nth: 0, token: 1, to: 'sent' },
]

async function compare(fixture: StoreFixture, commands: readonly Command[]): Promise<void> {
  const stores = [await fixture.open('n0'), await fixture.open('n1')]
  const model = createModel(LEASE_MS)
  const ids = { turns: [] as string[], sends: [] as string[] }
  for (const step of commands) {
    const store = stores['node' in step ? step.node : 0] as Store
    await apply({ fixture, store, model, ids }, step)
  }
  const [store] = stores as [Store]
  for (const [at, id] of ids.turns.entries()) {
    const { state, attempts, repeat } = model.turns[at] ?? {}
    expect(await store.turn(id)).toMatchObject({ state, attempts, repeat })
  }
  for (const [at, id] of ids.sends.entries()) {
    expect(await store.send(id)).toMatchObject({
      state: model.sends[at]?.state,
      attempts: model.sends[at]?.attempts,
    })
  }
  expect(await tally(store)).toEqual(modelTally(model))
  await expectSound(store)
}

interface World {
  readonly fixture: StoreFixture
  readonly store: Store
  readonly model: Model
  readonly ids: { readonly turns: string[]; readonly sends: string[] }
}

const at = (chatNumber: number) => ({ integration: 'demo', conversation: `c${chatNumber}` })
const laneName = (of: 'turns' | 'sends', chatNumber: number) =>
  of === 'turns' ? sessionId(sessionKey('kate', at(chatNumber)), 1) : conversationLane(at(chatNumber))

async function apply({ fixture, store, model, ids }: World, step: Command): Promise<void> {
  const owner = 'node' in step ? `n${step.node}` : ''
  switch (step.do) {
    case 'receive': {
      const { conversation } = at(step.chat)
      const reason = step.state === 'queued' ? null : step.state === 'refused' ? 'flood' : 'command'
      const [result] = await store.receive([
        item({ conversation, messageId: `m${step.id}`, state: step.state, reason }),
      ])
      const expected = model.receive(`${step.chat} ${step.id}`, laneName('turns', step.chat), step.state)
      if (!expected.duplicate) ids.turns.push(result?.id ?? '')
      expect(result).toMatchObject({ duplicate: expected.duplicate, id: ids.turns[expected.nth] })
      return
    }
    case 'enqueue': {
      const idempotencyKey = step.key === null ? {} : { idempotencyKey: `k${step.key}` }
      const [result] = await store.enqueue([send({ to: at(step.chat), ...idempotencyKey })])
      const expected = model.enqueue(laneName('sends', step.chat), step.key === null ? null : `k${step.key}`)
      if (!expected.repeated) ids.sends.push(result?.id ?? '')
      expect(result).toMatchObject({ repeated: expected.repeated, id: ids.sends[expected.nth] })
      return
    }
    case 'take': {
      const lane = laneName(step.kind, step.chat)
      const told = await take(
        store,
        ids,
        step.kind,
        step.token === null ? { lane } : { lane, token: step.token },
      )
      expect(told).toBe(model.take(step.kind, owner, lane, step.token, fixture.clock.now()))
      return
    }
    case 'move': {
      const turns = step.kind === 'turns'
      const allowed = turns
        ? ['queued', 'seen', 'answered', 'failed']
        : ['queued', 'sent', 'failed', 'unknown']
      const id = ids[step.kind][step.nth]
      if (id === undefined || !allowed.includes(step.to)) return
      const lane = laneName(step.kind, step.chat)
      const move = { lane, token: step.token, to: step.to as 'queued' | 'failed' }
      const [outcome] = turns
        ? await store.moveTurns([{ ...move, turn: id, ...(step.to === 'queued' ? { repeat: true } : {}) }])
        : await store.moveSends([{ ...move, id }])
      expect(outcome).toBe(model.move(step.kind, owner, lane, step.token, step.nth, step.to))
      return
    }
    case 'release': {
      const lane = laneName(step.kind, step.chat)
      await store.releaseLanes(step.kind, [{ lane, token: step.token }])
      model.release(step.kind, owner, lane, step.token)
      return
    }
    case 'operate': {
      const id = ids.turns[step.nth]
      if (id === undefined) return
      expect((await store.operateTurn(id, step.verb, 'op')) !== null).toBe(model.operate(step.nth, step.verb))
      return
    }
    case 'wait':
      fixture.clock.jump(fixture.clock.now() + step.ms)
  }
}

async function take(
  store: Store,
  ids: World['ids'],
  of: 'turns' | 'sends',
  request: { readonly lane: string; readonly token?: number },
): Promise<string> {
  if (of === 'turns') {
    const [taken] = await store.takeTurns([request], LEASE_MS)
    if (taken?.outcome !== 'taken') return taken?.outcome ?? ''
    const left = taken.unsettled.map((turn) => ids.turns.indexOf(turn.id))
    const took = taken.handed[0] ? ids.turns.indexOf(taken.handed[0].id) : '-'
    return `token ${taken.token} took ${took} left ${left.join()}`
  }
  const [taken] = await store.takeSends([request], LEASE_MS)
  if (taken?.outcome !== 'taken') return taken?.outcome ?? ''
  const left = taken.unsettled.map((row) => ids.sends.indexOf(row.id))
  const took = taken.sending ? ids.sends.indexOf(taken.sending.id) : '-'
  return `token ${taken.token} took ${took} left ${left.join()}`
}

async function tally(store: Store): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { name, count } of await store.counters()) found[name] = (found[name] ?? 0) + count
  for (const name of Object.keys(found)) if (found[name] === 0) delete found[name]
  return found
}

function modelTally(model: Model): Record<string, number> {
  const told: Record<string, number> = {}
  const add = (name: string) => {
    told[name] = (told[name] ?? 0) + 1
  }
  for (const turn of model.turns) {
    add('received')
    add(turn.state)
  }
  for (const row of model.sends) add(`send:${row.state}`)
  return told
}
