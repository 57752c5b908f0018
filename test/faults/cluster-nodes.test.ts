// Three real daemons on one PostgreSQL, under load: one is killed, one is frozen, all are restarted one after the other.
import { expect, it } from 'vitest'
import {
  busiest,
  expectMovedInTime,
  expectNothingLost,
  followMove,
  POLLER,
  seconds,
  tell,
} from './cluster/cluster-checks.ts'
import { type Cluster, openCluster } from './cluster/cluster-scene.ts'
import { nodeOf } from './cluster/database-probe.ts'
import { type Load, startLoad } from './cluster/load.ts'
import { createScene } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()
const FROZEN_MS = 30_000

function loadOn({ nodes, telegram }: Cluster): Load {
  return startLoad({ urls: nodes.map((node) => node.url), telegram })
}

it('[I6.sigkill] [S13.node-dies] [S13.lease] [S13.http-on-all] [I6.one-poller] [I6.lease-by-store] kill -9 of one of three under load: nothing is lost, and what it held moves within 15 s', async () => {
  const cluster = await openCluster(scene)
  const { probe, telegram } = cluster
  const load = loadOn(cluster)
  await pause(3_000)
  // The one that polls and holds lanes with work.
  const owner = await busiest(probe, POLLER)
  const doomed = cluster.node(nodeOf(owner))
  await doomed.daemon().kill9()
  const moved = await followMove(probe, owner, await probe.now())
  const polls = telegram.updates.polls.length
  await until('another node polls', () => telegram.updates.polls.length > polls)
  await pause(1_000)
  await doomed.start()
  const outcome = await expectNothingLost(cluster, load)
  tell('kill -9 of one of three', outcome, moved)
  expectMovedInTime(moved)
  expect(moved.leases).toBeGreaterThan(0)
  expect(outcome.conflicts).toBe(0)
})

/**
 * A node that polls and that waits for the confirmation of a send: the message has arrived, and the node will want to
 * write so as soon as it can.
 */
async function caughtSending(cluster: Cluster, load: Load): Promise<{ owner: string; conversation: string }> {
  const { probe, place } = cluster
  return until('the poller waits for a confirmation', async () => {
    const [conversation] = [...load.acknowledged.keys()].slice(-1).map((key) => key.split('-')[0] ?? '')
    if (conversation === undefined) return null
    place.hold(conversation)
    const sender = await until('somebody sends', () => probe.senderOf(conversation))
    const held = await probe.held()
    if (held.leases.get(POLLER) === sender && (held.turns.get(sender) ?? 0) > 0 && place.waiting() > 0)
      return { owner: sender, conversation }
    place.confirm()
    return null
  })
}

it('[I6.sigstop] [S13.frozen-node] a node frozen for 30 s: its work moves within 15 s, its late writes are refused, and it goes on', async () => {
  const cluster = await openCluster(scene)
  const { probe, place } = cluster
  const load = loadOn(cluster)
  await pause(3_000)
  const { owner, conversation } = await caughtSending(cluster, load)
  const [row] = await probe.rows<{ seq: number }>(
    `SELECT seq FROM outbox WHERE conversation = $1 AND state = 'sending'`,
    [conversation],
  )
  const frozen = cluster.node(nodeOf(owner))
  frozen.daemon().signal('SIGSTOP')
  const since = await probe.now()
  // The confirmation is in its hands, were it awake.
  expect(place.confirm()).toBeGreaterThan(0)
  const moved = await followMove(probe, owner, since)
  await until('the message is settled by another node', async () => {
    const [state] = await probe.rows<{ state: string }>('SELECT state FROM outbox WHERE seq = $1', [row?.seq])
    return state?.state === 'sent'
  })
  await pause(Math.max(0, FROZEN_MS - ((await probe.now()) - since)))
  const before = await writtenBy(cluster, owner)
  frozen.daemon().signal('SIGCONT')
  await until('the woken node is ready', async () => (await fetch(`${frozen.url}/readyz`)).status === 200)
  // It works again, under the same boot.
  await until('the woken node writes', async () => (await writtenBy(cluster, owner)) > before)
  await pause(3_000)
  const outcome = await expectNothingLost(cluster, load)
  tell('SIGSTOP of one of three for 30 s', outcome, moved)
  expectMovedInTime(moved)
  // One `sent` for the row, and not by the node that slept: what it wanted to write was refused.
  const sent = await probe.rows<{ name: string }>(
    `SELECT c.name FROM ledger l JOIN ledger_chains c ON c.id = l.chain
     WHERE l.kind = 'send' AND l.to_state = 'sent' AND l.ref LIKE '%\\_' || $1`,
    [Number(row?.seq).toString(36)],
  )
  expect(sent).toHaveLength(1)
  expect(nodeOf(sent[0]?.name ?? '')).not.toBe(nodeOf(owner))
})

/** How many ledger entries an owner has written. */
async function writtenBy({ probe }: Cluster, owner: string): Promise<number> {
  const [found] = await probe.rows<{ n: number }>(
    'SELECT count(*) AS n FROM ledger l JOIN ledger_chains c ON c.id = l.chain WHERE c.name = $1',
    [owner],
  )
  return found?.n ?? 0
}

it('[I6.rolling] [I6.one-poller] all three restarted one after the other under load: nothing lost, nothing said twice', async () => {
  const cluster = await openCluster(scene)
  const load = loadOn(cluster)
  await pause(2_000)
  const drained: number[] = []
  for (const node of cluster.nodes) {
    const asked = Date.now()
    const { code } = await node.daemon().terminate()
    drained.push(Date.now() - asked)
    expect(code).toBe(0)
    await node.start()
    await pause(1_500)
  }
  const outcome = await expectNothingLost(cluster, load)
  tell(`rolling restart (drained in ${drained.map(seconds).join(', ')})`, outcome)
  // On a machine that is kept busy a drain may run out of its grace in the middle of a send: what came twice then says so.
  expect(outcome.conflicts).toBe(0)
})
