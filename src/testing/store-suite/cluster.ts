// Store suite: clusters. Nodes and attachments as rows, turns settled for another node, tokens from one shared bucket,
// leases that fence, and the locks of a former boot.
import { describe, expect, it } from 'vitest'
import type { Hint, NodeReport, Store } from '../../contract/index.ts'
import {
  counts,
  item,
  LEASE_MS,
  type MakeStoreFixture,
  mustTake,
  openTwoBeforeEach,
  queueOne,
  send,
  takeTurn,
} from './fixture.ts'

function nodeReport(more: Partial<NodeReport> = {}): NodeReport {
  return {
    node: 'one',
    version: '1.0.0',
    startedAt: 1,
    digest: 'd1',
    url: 'http://127.0.0.1:1',
    skewMs: 0,
    watched: false,
    links: [{ integration: 'demo', state: 'up' }],
    activity: { demo: { lastInAt: 5, lastOutAt: null } },
    agents: [{ agent: 'kate', detail: 'one host' }],
    ...more,
  }
}

const UNREACHABLE = { state: 'unreachable', detail: 'ECONNREFUSED', since: 7 } as const

export function describeCluster(make: MakeStoreFixture): void {
  describe('a cluster', () => {
    const { fixture, one, two } = openTwoBeforeEach(make)

    it('[I6.nodes-rows] a node is a row while it is heard of; one that fell silent is gone, one that said goodbye has left', async () => {
      await one.beat(nodeReport())
      await two.beat(nodeReport({ node: 'two', digest: 'd2', agents: [] }))
      const [, first] = [...(await two.nodes())].sort((a, b) => (a.node < b.node ? 1 : -1))
      expect(first).toMatchObject({
        ...nodeReport(),
        owner: one.owner,
        alive: true,
        leftAt: null,
        seenAt: fixture.clock.now(),
      })
      fixture.clock.jump(fixture.clock.now() + 10_001)
      await two.beat(nodeReport({ node: 'two', agents: [] }))
      const alive = async () => Object.fromEntries((await two.nodes()).map((node) => [node.node, node.alive]))
      expect(await alive()).toEqual({ one: false, two: true })
      await one.beat(nodeReport())
      expect(await alive()).toEqual({ one: true, two: true })
      await one.leave()
      expect(await alive()).toEqual({ one: false, two: true })
      expect((await two.nodes()).find((node) => node.node === 'one')?.leftAt).toBe(fixture.clock.now())
    })

    it('[I6.attachments-rows] which agent is attached to which node is a row, with when it came and went', async () => {
      await one.beat(nodeReport({ agents: [{ agent: 'kate' }, { agent: 'lena' }] }))
      await two.beat(nodeReport({ node: 'two', agents: [{ agent: 'kate' }] }))
      const came = fixture.clock.now()
      fixture.clock.jump(came + 5_000)
      await one.beat(nodeReport({ agents: [{ agent: 'lena', detail: 'busy', trouble: UNREACHABLE }] }))
      expect(await two.attachments()).toEqual([
        { agent: 'kate', owner: one.owner, detail: null, trouble: null, since: came, endedAt: came + 5_000 },
        { agent: 'kate', owner: two.owner, detail: null, trouble: null, since: came, endedAt: null },
        { agent: 'lena', owner: one.owner, detail: 'busy', trouble: UNREACHABLE, since: came, endedAt: null },
      ])
      const shown = (await two.nodes()).find(({ owner }) => owner === one.owner)?.agents
      expect(shown).toEqual([{ agent: 'lena', detail: 'busy', trouble: UNREACHABLE }])
      await two.leave()
      expect((await one.attachments()).every((row) => row.owner === one.owner || row.endedAt !== null)).toBe(
        true,
      )
      await one.beat(nodeReport({ agents: [{ agent: 'kate' }] }))
      expect((await one.attachments())[0]).toMatchObject({ since: came + 5_000, endedAt: null })
    })

    it('a heartbeat tells others when something changed, and only then', async () => {
      const heard: Hint['kind'][] = []
      one.onHint((hint) => heard.push(hint.kind))
      await one.beat(nodeReport())
      await one.beat(nodeReport({ activity: {} }))
      expect(heard).toEqual(['nodes'])
      await one.beat(nodeReport({ agents: [] }))
      await one.beat(nodeReport({ agents: [], digest: 'other' }))
      expect(heard).toEqual(['nodes', 'nodes', 'nodes'])
    })

    it('[I6.settle-anywhere] a turn is settled for the node that holds it, once; its lane stays where it is', async () => {
      const { id, lane } = await queueOne(one)
      const { token } = await mustTake(one, { lane })
      const answer = [send({ turn: id, session: lane, text: 'done' })]
      expect(await two.acceptFor([], { turn: id, to: 'seen' })).toEqual({ outcome: 'accepted', sends: [] })
      const settled = await two.acceptFor(answer, { turn: id, to: 'answered' })
      expect(settled).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued' }] })
      expect(await two.acceptFor(answer, { turn: id, to: 'answered' })).toEqual({
        outcome: 'stale',
        sends: [],
      })
      expect(await one.moveTurns([{ lane, token, turn: id, to: 'answered' }])).toEqual(['noop'])
      expect(await takeTurn(two, { lane })).toMatchObject({ outcome: 'busy' })
      expect(await counts(one)).toMatchObject({ received: 1, answered: 1, 'send:queued': 1 })
    })

    it('[I6.settle-anywhere] a waiting turn cannot be settled by any node', async () => {
      const { id } = await queueOne(one)
      expect(await two.acceptFor([send()], { turn: id, to: 'answered' })).toEqual({
        outcome: 'stale',
        sends: [],
      })
      expect(await two.acceptFor([send()], { turn: 'no such turn', to: 'seen' })).toMatchObject({
        outcome: 'stale',
      })
      expect(await two.sends({ limit: 10 })).toEqual([])
    })

    it('[I6.former-boots] lanes and leases of a former boot are free at once for its next boot, and for no other node', async () => {
      const { lane } = await queueOne(one)
      const { token } = await mustTake(one, { lane })
      const lease = await one.lease('link:tg', LEASE_MS)
      const again = await fixture.open('one')
      expect(again.owner).not.toBe(one.owner)
      if (one.shared) {
        expect(await takeTurn(two, { lane })).toMatchObject({ outcome: 'busy' })
        expect(await two.lease('link:tg', LEASE_MS)).toBeNull()
        expect(await two.findWork('turns', ['kate'], { limit: 10 })).toEqual([])
        expect(await again.findWork('turns', ['kate'], { limit: 10 })).toMatchObject([{ lane }])
      }
      expect((await mustTake(again, { lane })).token).toBeGreaterThan(token)
      expect((await again.lease('link:tg', LEASE_MS))?.token).toBeGreaterThan(lease?.token ?? 0)
      // The former boot continues. It holds nothing and can move nothing.
      expect(await one.renewLanes('turns', [{ lane, token }], LEASE_MS)).toEqual([false])
      const cursor = { integration: 'tg', value: '7', fence: { name: 'link:tg', token: lease?.token ?? 0 } }
      await expect(one.receive([item()], cursor)).rejects.toMatchObject({ code: 'platform_unavailable' })
      expect(await again.cursor('tg')).toBeNull()
    })

    it('[I6.fenced-position] only the holder of the lease moves the position that is read under it', async () => {
      const lease = await one.lease('link:tg', 1_000)
      const fence = { name: 'link:tg', token: lease?.token ?? 0 }
      await one.receive([item({ messageId: 'a' })], { integration: 'tg', value: '1', fence })
      fixture.clock.jump(fixture.clock.now() + 1_001)
      const taken = await two.lease('link:tg', 10_000)
      await two.receive([], {
        integration: 'tg',
        value: '9',
        fence: { name: 'link:tg', token: taken?.token ?? 0 },
      })
      const late = one.receive([item({ messageId: 'b' })], { integration: 'tg', value: '2', fence })
      await expect(late).rejects.toMatchObject({ code: 'platform_unavailable' })
      expect(await one.cursor('tg')).toBe('9')
      expect(await counts(one)).toEqual({ received: 1, queued: 1 })
    })

    it('[I6.bucket-shared] [I13.clock-back-limit] tokens of one bucket go to all nodes together: never more than the limit', async (context) => {
      type Draws = Parameters<NonNullable<Store['drawTokens']>>[0]
      const drawFrom = (store: Store, draws: Draws) => store.drawTokens?.(draws) ?? Promise.resolve([])
      if (!one.drawTokens) context.skip('one node writes this store: its own buckets are enough')
      const draw = (store: Store, take = 1) => drawFrom(store, [{ key: 's:anna', rps: 1, burst: 20, take }])
      const all = await Promise.all(Array.from({ length: 30 }, (_, at) => draw(at % 2 ? one : two)))
      expect(all.flat().reduce((sum, drawn) => sum + drawn.granted, 0)).toBe(20)
      expect((await draw(one))[0]).toMatchObject({ granted: 0, retryAfterMs: 1_000 })
      fixture.clock.jump(fixture.clock.now() + 3_500)
      expect(await draw(two, 10)).toMatchObject([{ granted: 3 }])
      expect(await draw(one)).toMatchObject([{ granted: 0, retryAfterMs: 500 }])
      fixture.clock.jump(fixture.clock.now() + 3_600_000)
      const both = await drawFrom(one, [
        { key: 's:bert', rps: 5, burst: 2, take: 9 },
        { key: 's:anna', rps: 1, burst: 20, take: 30 },
      ])
      expect(both.map(({ granted }) => granted)).toEqual([2, 20])
      // After a clock is set back, the bucket counts from the new time.
      fixture.clock.jump(fixture.clock.now() - 3_600_000)
      expect(await draw(two)).toMatchObject([{ granted: 0 }])
      fixture.clock.jump(fixture.clock.now() + 2_000)
      expect(await draw(two, 10)).toMatchObject([{ granted: 2 }])
    })

    it('[S4.pairing-one-code] a stranger who writes to two nodes at once gets one code', async () => {
      const stranger = (store: Store, sender: string, code: string) => {
        const to = { integration: 'demo', conversation: `dm-${sender}` }
        const pair = {
          kind: 'pair' as const,
          integration: 'demo',
          sender,
          senderName: null,
          conversation: to.conversation,
          code,
          expiresAt: fixture.clock.now() + 3_600_000,
          reply: { to, text: '{code}' },
        }
        const refused = { state: 'refused', reason: 'pairing_required', body: null } as const
        return store.receive([item({ ...refused, sender, effects: [pair] })])
      }
      for (let at = 10; at < 20; at++) {
        await Promise.all([stranger(one, `s${at}`, `aaaa${at}`), stranger(two, `s${at}`, `bbbb${at}`)])
      }
      const live = new Map((await one.pairings()).map((pairing) => [`dm-${pairing.sender}`, pairing]))
      expect(live.size).toBe(10)
      for (const told of await one.sends({ limit: 100 })) {
        const pairing = live.get(told.conversation)
        expect(told.op).toEqual({ kind: 'text', text: pairing?.code })
        expect(pairing?.replies).toBe(2)
      }
    })

    it('[I35.b17] of two approvals of one code at two nodes one counts', async () => {
      for (let at = 10; at < 20; at++) {
        const pair = {
          kind: 'pair' as const,
          integration: `chat${at}`,
          sender: 'ann',
          senderName: null,
          conversation: 'ann',
          code: `aaaa${at}`,
          expiresAt: fixture.clock.now() + 3_600_000,
          reply: { to: { integration: `chat${at}`, conversation: 'ann' }, text: '{code}' },
        }
        await one.receive([
          item({ state: 'refused', reason: 'pairing_required', body: null, effects: [pair] }),
        ])
        const both = await Promise.all([
          one.approvePairing(`aaaa${at}`, 'op', { rights: ['user:ann'] }),
          two.approvePairing(`aaaa${at}`, 'op', { rights: ['user:bob'] }),
        ])
        expect(both.filter((approved) => approved !== null)).toHaveLength(1)
      }
      const users = (await one.grants()).filter(({ right }) => right.startsWith('user:'))
      expect(users).toHaveLength(10)
      expect(await one.pairings()).toEqual([])
    })

    it('[I6.asker] an approval names the node that asks, and another one may take that over', async () => {
      const ask = { toolName: 't', description: 'd', input: 'i' }
      const row = { id: 'abcde', hostId: null, agent: 'kate', session: 's', turn: null, ask, inputHash: 'h' }
      await one.ask({ ...row, expiresAt: fixture.clock.now() + 1_000 }, [])
      expect((await two.approval('abcde'))?.asker).toBe(one.owner)
      await two.adoptApproval('abcde')
      expect((await one.approval('abcde'))?.asker).toBe(two.owner)
    })
  })
}
