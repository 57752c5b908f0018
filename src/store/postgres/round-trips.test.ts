// Round trips: one query serves many lanes, and the verbs of a commit ask together.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Store, sendLane } from '../../contract/index.ts'
import { expectSound, item, send } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { sentWhile, tripsWhile } from './fixtures/sent-statements.ts'

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

  /** Counts the statements of each step for this many messages in separate conversations. */
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
    // The first message opens the ledger's chain.
    await store.receive([item({ conversation: 'first' })])
    const two = await countSteps(2)
    expect(Object.keys(two)).toEqual(['receive', 'take turns', 'answer', 'take sends', 'sent'])
    expect(Math.min(...Object.values(two))).toBeGreaterThan(2)
    expect(await countSteps(20)).toEqual(two)
  })

  /** Messages that are each one step further: the simultaneous work of a commit under load. */
  const ready = async () => {
    const place = (name: string) => ({ integration: 'demo', conversation: name })
    const names = ['queued', 'handed', 'to-send', 'sending']
    const received = await store.receive(names.map((conversation) => item({ conversation })))
    const lanes = received.map((one) => one.session ?? '')
    const taken = await store.takeTurns(
      lanes.map((lane) => ({ lane, window: 1 })),
      LEASE_MS,
    )
    const held = taken.flatMap((one) =>
      one.outcome === 'taken'
        ? [{ lane: one.lane, token: one.token, turn: one.handed[0]?.id ?? '', to: 'answered' as const }]
        : [],
    )
    const [first, answer, ...answered] = held
    await store.accept(
      [send({ to: place('to-send') }), send({ to: place('sending') })],
      [...(first ? [first] : []), ...answered],
    )
    // As in a running conversation: the session and the lane are known.
    await store.receive([item({ conversation: 'queued' })])
    const [sending] = await store.takeSends([{ lane: sendLane(send({ to: place('sending') })) }], LEASE_MS)
    if (!first || !answer || sending?.outcome !== 'taken' || !sending.sending)
      throw new Error('nothing is under way')
    const { lane, token } = sending
    const sent = { lane, token, id: sending.sending.id, to: 'sent' as const, platformIds: ['p'] }
    return { queued: { lane: first.lane, token: first.token, window: 1 }, answer, place, sent }
  }

  it('[I23.pg-trips] receives, takes, settles and sends in one commit with four round trips', async () => {
    const { queued, answer, place, sent } = await ready()
    await store.receive([item({ conversation: 'known' })])
    let done: readonly unknown[] = []
    const trips = await tripsWhile(async () => {
      const [received, taken, settled, sends, moved] = await Promise.all([
        store.receive([item({ conversation: 'known' })]),
        store.takeTurns([queued], LEASE_MS),
        store.accept([send({ to: place('handed') })], [answer]),
        store.takeSends([{ lane: sendLane(send({ to: place('to-send') })) }], LEASE_MS),
        store.moveSends([sent]),
      ])
      done = [received[0]?.duplicate, taken[0]?.outcome, settled.outcome, sends[0]?.outcome, moved]
    })
    expect(done).toEqual([false, 'taken', 'accepted', 'taken', ['moved']])
    // Begin; the reads of each verb; the takes and writes of each verb; commit.
    expect(trips).toBe(4)
  })

  it('[I23.pg-waves] two verbs of one commit that settle one turn settle it once', async () => {
    const { answer } = await ready()
    const [settled, moved] = await Promise.all([store.accept([], [answer]), store.moveTurns([answer])])
    expect([settled.outcome, moved]).toEqual(['accepted', ['noop']])
  })

  it('[I23.pg-waves] a lane that is given back in the commit that settles is free behind it', async () => {
    const { answer } = await ready()
    const { lane, token } = answer
    const [moved, , taken] = await Promise.all([
      store.moveTurns([answer]),
      store.releaseLanes('turns', [{ lane, token }]),
      store.takeTurns([{ lane, window: 1 }], LEASE_MS),
    ])
    expect(moved).toEqual(['moved'])
    expect(taken).toMatchObject([{ outcome: 'taken', token: token + 1, handed: [] }])
  })
})
