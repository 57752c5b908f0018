// How a node reads the rows of others: which nodes live, which goes first, and since when an agent is unreachable.
import { describe, expect, it } from 'vitest'
import type { AttachmentRow, NodeRow } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import type { Roster } from '../roster.ts'
import { createCluster } from './cluster.ts'
import { firstInLine } from './first-in-line.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

async function opened() {
  const clock = createTestClock()
  const nodes = new Map<string, NodeRow>()
  const attachments: AttachmentRow[] = []
  let away = false
  const row = (owner: string, more: Partial<NodeRow> = {}): NodeRow => ({
    ...{
      owner,
      node: owner.split('/')[0] ?? '',
      version: '',
      url: '',
      digest: '',
      skewMs: 0,
      watched: false,
    },
    ...{ links: [], activity: {}, agents: [], startedAt: 0, leftAt: null, alive: true },
    seenAt: clock.now(),
    ...more,
  })
  const attach = (owner: string, agent: string, endedAt: number | null = null) =>
    void attachments.push({ owner, agent, detail: null, trouble: null, since: 0, endedAt })
  const gone: string[] = []
  const errors: string[] = []
  const roster = { all: () => [], get: () => undefined, onAttached() {}, onDetached() {} }
  const cluster = createCluster({
    store: {
      owner: 'a/2',
      shared: true,
      async beat() {
        if (away) throw new Error('the database is away')
      },
      leave: async () => undefined,
      nodes: async () => [...nodes.values()],
      attachments: async () => attachments,
      onHint: () => undefined,
    },
    clock,
    log: { ...quiet, error: (_fields: unknown, text: string) => void errors.push(text) },
    roster: roster as unknown as Roster,
    report: () => row('a/2'),
  })
  cluster.onGone((owner) => gone.push(owner))
  const hear = (owner: string, more: Partial<NodeRow> = {}) => void nodes.set(owner, row(owner, more))
  const databaseAway = (is: boolean) => {
    away = is
  }
  return { clock, cluster, hear, attach, gone, errors, databaseAway }
}

describe('the cluster as a node knows it', () => {
  it('[I6.nodes-rows] a node that falls silent is gone after ten seconds; so is its agent, since then', async () => {
    const { clock, cluster, hear, attach, gone } = await opened()
    hear('b/1')
    attach('b/1', 'kate')
    const heardAt = clock.now()
    await cluster.start()
    expect(cluster.reaches('kate')).toBe(true)
    expect(cluster.outageOf('kate')).toBeNull()
    await clock.advance(10_000)
    expect(gone).toEqual([])
    await clock.advance(2_500)
    expect(gone).toEqual(['b/1'])
    expect(cluster.reaches('kate')).toBe(false)
    expect(cluster.outageOf('kate')).toBe(heardAt)
    await cluster.stop()
  })

  it('a former boot of this very node is gone at once, one that said goodbye too', async () => {
    const { cluster, hear } = await opened()
    hear('a/1')
    hear('b/1')
    hear('c/1', { leftAt: 1 })
    await cluster.start()
    expect(['a/1', 'a/2', 'b/1', 'c/1'].filter(cluster.isAlive)).toEqual(['a/2', 'b/1'])
    await cluster.stop()
  })

  it('[I6.one-name] a second daemon under one name is known by being heard of again; one that was killed is not', async () => {
    const { clock, cluster, hear, errors } = await opened()
    const up = () => cluster.nodes().flatMap(({ owner, alive }) => (alive ? [owner] : []))
    const everybody = (...owners: string[]) => {
      for (const owner of owners) hear(owner, { startedAt: Number(owner.slice(2)) })
    }
    everybody('a/1', 'a/2', 'b/1', 'b/2')
    await cluster.start()
    expect(up()).toEqual(['a/2', 'b/2'])
    everybody('a/2', 'b/2')
    await clock.advance(2_500)
    expect([up(), errors.length]).toEqual([['a/2', 'b/2'], 0])
    // The other nodes were not killed.
    everybody('a/1', 'a/2', 'b/1', 'b/2')
    await clock.advance(2_500)
    expect([up(), errors.length]).toEqual([['a/1', 'a/2', 'b/1', 'b/2'], 1])
    expect(errors[0]).toContain('another daemon runs under the name of this node')
    for (let beats = 0; beats < 5; beats++) {
      everybody('a/2', 'b/2')
      await clock.advance(2_500)
    }
    expect([up(), errors.length]).toEqual([['a/2', 'b/2'], 1])
    await cluster.stop()
  })

  it('after the database was away nobody is taken for gone before there was time to be heard again', async () => {
    const { clock, cluster, hear, gone, databaseAway } = await opened()
    hear('b/1')
    await cluster.start()
    databaseAway(true)
    await clock.advance(30_000)
    databaseAway(false)
    await clock.advance(2_500)
    expect(cluster.isAlive('b/1')).toBe(true)
    expect(gone).toEqual([])
    await clock.advance(12_500)
    expect(gone).toEqual(['b/1'])
    await cluster.stop()
  })

  it('another node’s hint is left to where it came from, else one of those who reach the agent acts on it', async () => {
    const { cluster, hear, attach } = await opened()
    hear('b/1')
    hear('c/1')
    attach('b/1', 'kate')
    await cluster.start()
    const lanes = Array.from({ length: 100 }, (_, at) => `lane ${at}`)
    expect(lanes.some((lane) => cluster.isMine(lane, 'kate', 'b/1'))).toBe(false)
    const mine = lanes.filter((lane) => cluster.isMine(lane, 'kate', 'c/1'))
    expect(mine).toEqual(lanes.filter((lane) => firstInLine(lane, ['a/2', 'b/1']) === 'a/2'))
    expect(mine.length).toBeGreaterThan(25)
    expect(mine.length).toBeLessThan(75)
    await cluster.stop()
  })

  it('of all living nodes one goes first for a lane; alone it is always this one', async () => {
    const { cluster } = await opened()
    const lanes = Array.from({ length: 100 }, (_, at) => `lane ${at}`)
    await cluster.start()
    expect(lanes.every((lane) => cluster.isFirst(lane))).toBe(true)
    await cluster.stop()
    const three = await opened()
    three.hear('b/1')
    three.hear('c/1')
    await three.cluster.start()
    const first = lanes.filter((lane) => three.cluster.isFirst(lane))
    expect(first).toEqual(lanes.filter((lane) => firstInLine(lane, ['a/2', 'b/1', 'c/1']) === 'a/2'))
    expect(first.length).toBeLessThan(60)
    await three.cluster.stop()
  })
})
