// Connections to a real PostgreSQL whose answers are lost: what came of a commit is found out and told, and nobody waits
// for ever for a read or a wake-up.
import { afterAll, expect, it } from 'vitest'
import type { Hint } from '../../src/contract/index.ts'
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { type PostgresServer, sharedPostgres, startPostgres } from '../../src/testing/postgres/server.ts'
import { item, mustTake, queueOne, send } from '../../src/testing/store-suite/fixture.ts'
import { createTestRandom } from '../../src/testing/test-clock.ts'
import { createWire } from './cluster/tcp-proxy.ts'
import { createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
afterAll(async () => (await sharedPostgres()).stop())

async function openStore(url: string, node: string, crashPoint?: (name: string) => void) {
  const store = await createPostgresStore({
    url,
    clock: { now: Date.now, after: (ms, run) => clearTimeout.bind(null, setTimeout(run, ms)) },
    random: createTestRandom(`commits of ${node}`),
    node,
    ledgerKey: Buffer.alloc(32, 7),
    ...(crashPoint ? { crashPoint } : {}),
  })
  scene.onEnd(() => store.close())
  return store
}

/** A store behind a wire, and what happens at the next commit. */
async function openBehindWire(server?: PostgresServer) {
  const direct = await (server ?? (await sharedPostgres())).freshDatabase()
  const wire = await createWire(() => [Number(new URL(direct).port)])
  scene.onEnd(() => wire.close())
  const url = new URL(direct)
  url.port = String(wire.port)
  let atCommit: (() => unknown) | null = null
  const store = await openStore(url.href, 'n', (name) => {
    if (name !== 'store.before-commit' || !atCommit) return
    const now = atCommit
    atCommit = null
    now()
  })
  const breakOff = (how: 'after' | 'before') => {
    atCommit = async () => {
      // Statements are answered one by one: the commit held when the last of them was.
      if (how === 'after') await wire.swallowAnswers('COMMIT')
      wire.cut()
      await wire.refused()
      wire.mend()
    }
  }
  const onCommit = (run: () => unknown) => {
    atCommit = run
  }
  return { direct, wire, store, breakOff, onCommit }
}

it('[I6.unheard-commit] an answer whose commit held is said once, and whoever asked learns that it was', async () => {
  const { store, breakOff } = await openBehindWire()
  const { id, lane } = await queueOne(store)
  const { token } = await mustTake(store, { lane })
  breakOff('after')
  const accepted = await store.accept([send({ turn: id })], [{ lane, token, turn: id, to: 'answered' }])
  expect(accepted).toMatchObject({ outcome: 'accepted', sends: [{}] })
  expect(await store.turn(id)).toMatchObject({ state: 'answered' })
  expect(await store.sends({ limit: 5 })).toHaveLength(1)
  expect(await store.verify()).toMatchObject({ ok: true, chain: 'intact' })
})

it('[I6.unheard-commit] one that did not hold is refused as away, and can be asked for again', async () => {
  const { store, breakOff } = await openBehindWire()
  const { id, lane } = await queueOne(store)
  const { token } = await mustTake(store, { lane })
  breakOff('before')
  const moves = [{ lane, token, turn: id, to: 'answered' }] as const
  await expect(store.accept([send({ turn: id })], moves)).rejects.toMatchObject({ code: 'store_unavailable' })
  await until('the database is back', () => store.accept([send({ turn: id })], moves))
  expect(await store.sends({ limit: 5 })).toHaveLength(1)
})

it('[I6.unheard-commit] intake is refused at once: the sender comes again, and its key tells that it was there', async () => {
  const { store, breakOff } = await openBehindWire()
  const message = item({ messageId: 'once' })
  breakOff('after')
  await expect(store.receive([message])).rejects.toMatchObject({ code: 'store_unavailable' })
  const [again] = await until('the database is back', () => store.receive([message]))
  expect(again).toMatchObject({ duplicate: true })
  expect(await store.turns({ limit: 5 })).toHaveLength(1)
})

it('[I6.unheard-commit] a database that is killed under a commit: whatever came of it, the answer is there once', async () => {
  const server = await startPostgres()
  scene.onEnd(() => server.stop())
  const { store, onCommit } = await openBehindWire(server)
  for (let round = 1; round <= 3; round += 1) {
    const { id, lane } = await queueOne(store, { conversation: `c${round}` })
    const { token } = await mustTake(store, { lane })
    let back: Promise<void> = Promise.resolve()
    onCommit(() => {
      back = server.crash().then(() => server.start())
    })
    const accept = () => store.accept([send({ turn: id })], [{ lane, token, turn: id, to: 'answered' }])
    const first = await accept().catch(() => null)
    await back
    // As the dispatcher does: what was refused is tried again, what was accepted is not.
    if (!first) await until('the database takes it', accept)
    expect(await store.turn(id)).toMatchObject({ state: 'answered' })
    expect(await store.sends({ limit: 10 })).toHaveLength(round)
  }
  expect(await store.verify()).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
})

it('[I6.half-open] connections that fell silent are noticed: a read is refused in the end, wake-ups are heard again', async () => {
  const { store, direct, wire } = await openBehindWire()
  const { lane } = await queueOne(store)
  const heard: Hint[] = []
  store.onHint((hint) => heard.push(hint))
  // Opens the connections that will be half open.
  await store.turns({ limit: 5 })
  void wire.swallowAnswers()
  await expect(store.turns({ limit: 5 })).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(await store.turns({ limit: 5 })).toHaveLength(1)
  await until('it listens again', () => heard.some(({ kind }) => kind === 'missed'))
  const other = await openStore(direct, 'other')
  await queueOne(other)
  await until('it hears the other', () => heard.some((hint) => hint.kind === 'turns' && hint.lane === lane))
})
