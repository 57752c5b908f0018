// Three real daemons and their database: it is killed and comes back; one node is cut off from it, told or untold.
import { expect, it } from 'vitest'
import {
  expectMovedInTime,
  expectNothingLost,
  followMove,
  MOVED_WITHIN_MS,
  POLLER,
  seconds,
  tell,
} from './cluster/cluster-checks.ts'
import { openCluster } from './cluster/cluster-scene.ts'
import { startLoad } from './cluster/load.ts'
import { createScene } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()
const AWAY_MS = 6_000

const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status

it('[I6.db-killed] [I6.one-poller] the database is killed and comes back: 503 meanwhile, nothing acknowledged is lost, everything resumes by itself', async () => {
  const cluster = await openCluster(scene)
  const { nodes, postgres, telegram } = cluster
  const load = startLoad({ urls: nodes.map((node) => node.url), telegram })
  await pause(3_000)
  await postgres.crash()
  const wentAt = Date.now()
  for (const node of nodes)
    await until('the node says that it cannot store', async () => (await readiness(node.url)) === 503)
  // What was acknowledged a moment before the end has been answered by now; from here on nothing may be.
  const acknowledged = load.acknowledged.size
  await pause(AWAY_MS)
  expect(load.acknowledged.size).toBe(acknowledged)
  expect(load.refusals.get(503) ?? 0).toBeGreaterThan(0)
  await postgres.start()
  const backAt = Date.now()
  for (const node of nodes)
    await until('the node is ready by itself', async () => (await readiness(node.url)) === 200)
  await until('messages are taken again', () => load.lastAt() > backAt)
  const firstMs = load.lastAt() - backAt
  const polls = telegram.updates.polls.length
  await until('somebody polls', () => telegram.updates.polls.length > polls)
  await pause(3_000)
  const outcome = await expectNothingLost(cluster, load)
  expect(outcome.conflicts).toBe(0)
  expect(firstMs).toBeLessThanOrEqual(MOVED_WITHIN_MS)
  tell(
    `database away for ${seconds(backAt - wentAt)} (taken again after ${seconds(firstMs)}, 503: ${load.refusals.get(503)})`,
    outcome,
  )
})

async function loseTheDatabase(how: 'cut' | 'swallowed'): Promise<void> {
  const cluster = await openCluster(scene)
  const { nodes, probe, wire, telegram } = cluster
  const lonely = nodes.at(-1)
  if (!lonely) throw new Error('there are no nodes')
  const load = startLoad({ urls: nodes.map((node) => node.url), telegram })
  await pause(2_000)
  const owner = await until('it holds something', async () => {
    const held = await probe.held()
    return [...held.turns.keys()].find((one) => one.startsWith(`${lonely.name()}/`))
  })
  const held = await probe.held()
  if (how === 'cut') wire.cut()
  else wire.freeze()
  const moved = await followMove(probe, owner, held.at)
  await until('it says that it cannot store', async () => (await readiness(lonely.url)) === 503)
  await pause(2_000)
  wire.mend()
  await until('it is ready by itself', async () => (await readiness(lonely.url)) === 200)
  await pause(2_000)
  const outcome = await expectNothingLost(cluster, load)
  const polled = held.leases.get(POLLER) === owner ? 'it polled' : 'another polled'
  tell(`connections of one node ${how} (${polled})`, outcome, moved)
  expectMovedInTime(moved)
  expect(outcome.conflicts).toBe(0)
}

it('[I6.cut] one node’s connections are cut: its work moves within 15 s, it says 503, and comes back by itself', () =>
  loseTheDatabase('cut'))

it('[I6.cut-silent] the same when the network swallows everything and tells nobody', () =>
  loseTheDatabase('swallowed'))
