// A statement is a round trip: what many lanes need is asked for all of them at once, however many there are.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Store, sendLane } from '../../contract/index.ts'
import { expectSound, item, send } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { sentWhile } from './fixtures/sent-statements.ts'

const LEASE_MS = 15_000

describe('round trips', () => {
  let fixture: PostgresFixture
  let store: Store
  beforeEach(async () => {
    fixture = await createPostgresFixture()
    store = await fixture.open('one')
  })
  afterEach(async () => {
    await expectSound(store)
    await fixture.dispose()
  })

  /** Statements of each step of so many messages, each in a conversation of its own. */
  const countSteps = async (messages: number): Promise<Readonly<Record<string, number>>> => {
    const places = Array.from({ length: messages }, (_, at) => `${messages}-${at}`)
    const steps: Record<string, number> = {}
    const count = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      let result: Result | undefined
      const sent = await sentWhile(async () => {
        result = await work()
      })
      steps[name] = sent.length
      return result as Result
    }
    const received = await count('receive', () =>
      store.receive(places.map((conversation) => item({ conversation }))),
    )
    const lanes = received.map((one) => ({ lane: one.session ?? '', window: 1 }))
    const taken = await count('take turns', () => store.takeTurns(lanes, LEASE_MS))
    const held = taken.flatMap((one) => (one.outcome === 'taken' ? [one] : []))
    expect(held.map((one) => one.handed.length)).toEqual(places.map(() => 1))
    const replies = places.map((conversation) => send({ to: { integration: 'demo', conversation } }))
    const answered = held.flatMap(({ lane, token, handed }) =>
      handed.map(({ id }) => ({ lane, token, turn: id, to: 'answered' as const })),
    )
    await count('answer', () => store.accept(replies, answered))
    const sends = await count('take sends', () =>
      store.takeSends(
        replies.map((reply) => ({ lane: sendLane(reply) })),
        LEASE_MS,
      ),
    )
    const sending = sends.flatMap((one) =>
      one.outcome === 'taken' && one.sending ? [{ ...one, id: one.sending.id }] : [],
    )
    expect(sending).toHaveLength(messages)
    const moves = sending.map(({ lane, token, id }) => ({
      lane,
      token,
      id,
      to: 'sent' as const,
      platformIds: [id],
    }))
    expect(await count('sent', () => store.moveSends(moves))).toEqual(places.map(() => 'moved'))
    return steps
  }

  it('[I23.pg-trips] as many statements for twenty messages as for two, at every step of their way', async () => {
    // The first opens the ledger's chain.
    await store.receive([item({ conversation: 'first' })])
    const two = await countSteps(2)
    expect(Object.keys(two)).toEqual(['receive', 'take turns', 'answer', 'take sends', 'sent'])
    expect(await countSteps(20)).toEqual(two)
  })
})
