// PostgreSQL behind the fault proxy, under a real daemon: the database is away, silent, slow, or breaks off at a commit. Whoever
// writes is told 503 meanwhile; nothing acknowledged is lost, nothing is done twice, and the daemon goes on by itself.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFaultProxy, type ProxyFault } from '../../src/testing/faults/fault-proxy.ts'
import { type SharedPostgres, sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingPlace } from './cluster/recording-place.ts'
import { type Acknowledged, type Message, persist, postCrowd } from './hook-client.ts'
import { AGAIN, expectLedgerHolds, settled, turnsOf } from './river-checks.ts'
import { CROWD_SECRET, createScene, switchboard } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()
let postgres: SharedPostgres
beforeAll(async () => {
  postgres = await sharedPostgres()
}, 120_000)
afterAll(() => postgres?.stop())

const began = Date.now()
const cells: string[] = []
afterAll(() =>
  console.log(`fault × database (${Math.round((Date.now() - began) / 1_000)} s)\n${cells.join('\n')}`),
)

const CASE_MS = 180_000
const CONVERSATIONS = ['c1', 'c2', 'c3']

/** Until it is healed. */
const LASTING: readonly (ProxyFault & { readonly name: string })[] = [
  { name: 'refuse', kind: 'refuse' },
  { name: 'silent', kind: 'silent' },
  { name: 'half-open', kind: 'half-open' },
  { name: 'reset before', kind: 'reset-before' },
  { name: 'reset after', kind: 'reset-after' },
  { name: 'cut header', kind: 'cut-header' },
  { name: 'cut body', kind: 'cut-body' },
  { name: 'slow', kind: 'slow' },
]

/** At a commit, a few times: whether it came about nobody heard. */
const AT_COMMIT: readonly (ProxyFault & { readonly name: string })[] = [
  { name: 'reset after the commit', kind: 'reset-after', onAnswer: /COMMIT/, times: 3 },
  { name: 'cut in the answer to the commit', kind: 'cut-body', onAnswer: /COMMIT/, times: 3 },
  { name: 'no answer to the commit', kind: 'half-open', onAnswer: /COMMIT/, times: 1 },
]

async function begin() {
  const direct = await postgres.freshDatabase()
  const proxy = await createFaultProxy({ port: Number(new URL(direct).port) })
  scene.onEnd(() => proxy.stop())
  const place = await createRecordingPlace()
  scene.onEnd(() => place.stop())
  const through = new URL(direct)
  through.port = String(proxy.port)
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'crowd.secret'), CROWD_SECRET, { mode: 0o600 })
  writeFileSync(
    config,
    `store: env:DATABASE_URL
tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: crowd, platform: webhook, secret: "file:crowd.secret", signature: plain,
      out: { url: "${place.url}", allow_private: true } }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: crowd }] }
`,
  )
  const daemon = await scene.start({ data, config, env: { DATABASE_URL: through.href } })
  return { daemon, data, place, proxy, load: startLoad(daemon.url) }
}

/** People who write one message after the other, each until it is acknowledged. */
function startLoad(url: string) {
  const taken = new Map<string, Acknowledged & { readonly message: Message }>()
  let isOver = false
  const writes = async (conversation: string) => {
    for (let n = 0; !isOver; n++) {
      const key = `${conversation}-${n}`
      const message = { conversation, key, text: `m${key}.` }
      const answer = await persist(
        () => url,
        (at) => postCrowd(at, message),
      )
      taken.set(key, { ...answer, message })
      await pause(50)
    }
  }
  const writing = Promise.all(CONVERSATIONS.map(writes))
  scene.onEnd(() => {
    isOver = true
  })
  return {
    taken,
    async stop() {
      isOver = true
      await writing
    },
  }
}

type Bench = Awaited<ReturnType<typeof begin>>

const readiness = async (url: string) =>
  (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(20_000) })).status

const more = (load: Bench['load'], count: number) => {
  const from = load.taken.size
  return until('messages are taken', () => load.taken.size >= from + count)
}

/** Everything taken was answered, once or labelled, in order where that is asked; and `doctor` has nothing to say. */
async function expectNothingLost({ daemon, data, load, place }: Bench, isOrdered = true) {
  await load.stop()
  await settled(data)
  const turns = await turnsOf(data)
  expect(turns.map((turn) => turn.message_id).toSorted()).toEqual([...load.taken.keys()].toSorted())
  expect(turns.filter((turn) => turn.state !== 'answered')).toEqual([])
  for (const { id, message_id } of turns) expect(load.taken.get(message_id)?.id).toBe(id)
  for (const { message } of load.taken.values()) {
    const copies = place.arrivals.filter(({ text }) => text.includes(message.text))
    const plain = copies.filter(({ labelled }) => !labelled)
    expect([message.key, copies.length > 0, plain.length < 2]).toEqual([message.key, true, true])
  }
  for (const conversation of isOrdered ? CONVERSATIONS : []) {
    const inOrder = place.arrivals.filter(
      (one) => one.conversation === conversation && !one.labelled && !one.text.includes(AGAIN),
    )
    const numbers = inOrder.map(({ text }) => Number(/-(\d+)\./.exec(text)?.[1]))
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
  }
  await expectLedgerHolds(data)
  await until('doctor has nothing to say', async () => (await switchboard(data, 'doctor')).code === 0)
  expect((await daemon.terminate()).code).toBe(0)
}

describe('[I35.a1-postgres] a database behind the fault proxy', () => {
  it.each(LASTING)(
    '$name until it heals: 503 meanwhile, and doctor says why; then it goes on by itself',
    async ({ name, ...fault }) => {
      const bench = await begin()
      const { daemon, data, load, proxy } = bench
      await more(load, 10)
      await proxy.fail(fault)
      const from = Date.now()
      await until('it says that it cannot store', async () => (await readiness(daemon.url)) === 503)
      const before = load.taken.size
      const { code, stdout, stderr } = await switchboard(data, 'doctor', '--json')
      const shown = Date.now() - from
      expect(load.taken.size).toBe(before)
      // Its report stands in the database: that it is away is all that it can say.
      expect(code).toBe(1)
      expect(`${stdout}${stderr}`).toMatch(/store_unavailable|store-away/)
      await pause(500)
      await proxy.heal()
      await until('it is ready by itself', async () => (await readiness(daemon.url)) === 200)
      await more(load, 10)
      // The demo agent works at several messages at once: an answer whose commit hung is said after those of later messages.
      await expectNothingLost(bench, !['silent', 'half-open', 'slow'].includes(fault.kind))
      cells.push(`${name.padEnd(32)} met ${proxy.fired}, taken ${load.taken.size}, doctor after ${shown} ms`)
    },
    CASE_MS,
  )

  it.each(AT_COMMIT)(
    '$name: nothing is lost and nothing is done twice',
    async ({ name, ...fault }) => {
      const bench = await begin()
      const { load, proxy } = bench
      await more(load, 10)
      await proxy.fail(fault)
      await until('it met it', () => proxy.fired >= (fault.times ?? 1))
      await more(load, 10)
      await expectNothingLost(bench)
      cells.push(`${name.padEnd(32)} met ${proxy.fired}, taken ${load.taken.size}`)
    },
    CASE_MS,
  )
})
