// Store suite: two stores on one database. Races for lanes, duplicates, first sight and verdicts, with one audit.
import { describe, expect, it } from 'vitest'
import { counts, item, LEASE_MS, type MakeStoreFixture, openTwoBeforeEach, queueOne } from './fixture.ts'

export function describeNodes(make: MakeStoreFixture): void {
  describe('two nodes', () => {
    const { fixture, one, two } = openTwoBeforeEach(make)

    it('[S13.lane-lock] race for the same lanes: each lane has one winner', async () => {
      const lanes: string[] = []
      for (let at = 0; at < 12; at++) lanes.push((await queueOne(one, { conversation: `c${at}` })).lane)
      const requests = lanes.map((lane) => ({ lane }))
      const [mine, theirs] = await Promise.all([
        one.takeTurns(requests, LEASE_MS),
        two.takeTurns([...requests].reverse(), LEASE_MS),
      ])
      for (const lane of lanes) {
        const outcomes = [mine, theirs].map((all) => all.find((taken) => taken.lane === lane)?.outcome)
        expect(outcomes.toSorted()).toEqual(['busy', 'taken'])
      }
      expect(await counts(one)).toMatchObject({ handed: 12 })
    })

    it('[S2.dup-key] receive the same message at once: one row, one count', async () => {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          (at % 2 === 0 ? one : two).receive([item({ messageId: `m${at >> 1}` })]),
        ),
      )
      const results = all.map(([result]) => result)
      expect(results.filter((result) => result?.duplicate === false)).toHaveLength(10)
      expect(new Set(results.map((result) => result?.id)).size).toBe(10)
      expect(await counts(one)).toEqual({ received: 10, queued: 10 })
    })

    it('[S5.same-on-other-node] meet a conversation for the first time at once: one session', async () => {
      const [mine, theirs] = await Promise.all([queueOne(one), queueOne(two)])
      expect(mine.lane).toBe(theirs.lane)
      expect(mine.id).not.toBe(theirs.id)
    })

    it('see each other’s /new', async () => {
      const before = await queueOne(one)
      const at = { integration: 'demo', conversation: 'c1' }
      const effects = [{ kind: 'new_session', agent: 'kate', at }] as const
      await two.receive([item({ state: 'consumed', reason: 'command', effects })])
      const after = await queueOne(one)
      expect(after.lane).not.toBe(before.lane)
      expect(await two.sessionAt('kate', at)).toMatchObject({ id: after.lane, generation: 2 })
    })

    it('decide the same approval at once: one winner', async () => {
      const ask = { toolName: 't', description: 'd', input: 'i' }
      const expiresAt = fixture.clock.now() + 1000
      await one.ask(
        {
          id: 'abcde',
          hostId: null,
          agent: 'kate',
          session: 's',
          turn: null,
          ask,
          inputHash: 'h',
          expiresAt,
        },
        [],
      )
      const verdict = { id: 'abcde', cause: 'person', via: 'web' } as const
      const outcomes = await Promise.all([
        one.decide({ ...verdict, behavior: 'allow', by: 'ann' }),
        two.decide({ ...verdict, behavior: 'deny', by: 'bob' }),
      ])
      expect(outcomes.filter((outcome) => outcome.won)).toHaveLength(1)
      expect(outcomes[0]?.approval?.decidedBy).toBe(outcomes[1]?.approval?.decidedBy)
    })

    it('[I14.status-line] a line that tells of a turn is made by one of them, and both know its name', async () => {
      const { id: turn } = await queueOne(one)
      const to = 'chat:c'
      const claims = await Promise.all(
        [one, two].map((store) => store.keepStatusLine({ turn, to, line: '' })),
      )
      const [owner] = [...new Set(claims.map((claim) => claim.owner))]
      expect(claims.map((claim) => claim.owner)).toEqual([owner, owner])
      const [maker, other] = owner === one.owner ? [one, two] : [two, one]
      // A node that does not own the line cannot name it.
      expect(await other.keepStatusLine({ turn, to, line: 'stolen' })).toMatchObject({ owner, line: '' })
      expect(await maker.keepStatusLine({ turn, to, line: '17' })).toMatchObject({ owner, line: '17', to })
      expect(await other.keepStatusLine({ turn, to, line: '' })).toMatchObject({ owner, line: '17' })
      const [line] = await other.statusLines(10)
      expect(line).toMatchObject({ turn, to, line: '17', owner })
      expect(await other.statusLines(10, line)).toEqual([])
      await other.forgetStatusLine(turn)
      expect(await maker.statusLines(10)).toEqual([])
    })

    it('[I14.erase-nodes] an order to forget files is for every node but the one that gave it, until it has carried it out', async () => {
      const order = { integration: 'tg', sender: 'ann', refs: ['a', 'b'] }
      await one.keepFileOrder(order)
      expect(await one.fileOrders()).toEqual([])
      const [found] = await two.fileOrders()
      expect(found).toMatchObject(order)
      const late = await fixture.open('late')
      expect(await late.fileOrders()).toHaveLength(1)
      await two.doneFileOrder(found?.id ?? '')
      await two.doneFileOrder(found?.id ?? '')
      expect(await two.fileOrders()).toEqual([])
      expect(await late.fileOrders()).toHaveLength(1)
      await fixture.clock.advance(100 * 24 * 3_600_000)
      await one.keepFileOrder({ ...order, sender: 'bob' })
      expect((await late.fileOrders()).map(({ sender }) => sender)).toEqual(['bob'])
    })

    it('[S2.conservation] [S2.conservation-each] share counters and keep chains of their own', async () => {
      const rounds = Array.from({ length: 10 }, (_, at) => at)
      await Promise.all(
        rounds.flatMap((at) => [
          queueOne(one, { conversation: `a${at}` }),
          queueOne(two, { conversation: `b${at}`, integration: 'other' }),
        ]),
      )
      expect(await counts(two)).toEqual({ received: 10, queued: 10 })
      expect(await counts(one, 'other')).toEqual({ received: 10, queued: 10 })
      const chains = new Set((await one.ledger({ afterSeq: 0, limit: 100 })).map((entry) => entry.chain))
      expect(chains.size).toBeGreaterThanOrEqual(2)
    })
  })
}
