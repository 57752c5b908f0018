// The store is away: the disk is full, or another process holds the database. A sender is told 503 and never a false
// "received"; the log, /readyz and status say why; and it goes on by itself.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, type TestContext } from 'vitest'
import type { Daemon } from './daemon.ts'
import { acknowledged, type Posted, postDemo } from './hook-client.ts'
import { expectLedgerHolds, type Status, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene, run } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

/** Posts fresh messages until one is refused; what was acknowledged before is kept. */
function postUntilRefused(daemon: Daemon, stored: Map<string, string>): Promise<Posted> {
  let n = 0
  return until('a message is refused', async () => {
    n += 1
    const key = `try-${n}`
    const posted = await postDemo(daemon.url, `${key} ${'x'.repeat(4_000)}`, key)
    if (posted.status !== 200) return posted
    stored.set(key, acknowledged(posted).id)
    return null
  })
}

async function expectToldWhy(daemon: Daemon, refused: Posted, why: RegExp): Promise<void> {
  expect(refused.status).toBe(503)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(JSON.parse(refused.text)).toMatchObject({ ok: false, code: 'store_unavailable' })
  expect(JSON.parse(refused.text)).toMatchObject({ hint: expect.stringMatching(why) })

  const readiness = await fetch(`${daemon.url}/readyz`)
  expect(readiness.status).toBe(503)
  expect(await readiness.text()).toMatch(why)
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200)
  const status = await askJson<Status>(daemon.data, 'status')
  expect(status.ready).toBe(false)
  expect(status.store.problem).toMatch(why)
  const line = daemon.log().find((one) => one.msg === 'messages cannot be stored')
  expect(line?.hint).toMatch(why)
}

async function expectGoesOn(daemon: Daemon, stored: Map<string, string>): Promise<void> {
  await until('it is ready by itself', async () => (await fetch(`${daemon.url}/readyz`)).status === 200)
  const posted = await until('it takes messages again', async () => {
    const one = await postDemo(daemon.url, 'after', 'after')
    return one.status === 200 ? one : null
  })
  stored.set('after', acknowledged(posted).id)
  const { ready, store } = await askJson<Status>(daemon.data, 'status')
  expect({ ready, problem: store.problem }).toEqual({ ready: true, problem: undefined })
  await expectStored(daemon.data, stored)
}

/** Every acknowledged message is there and answered; nothing that was refused is counted. */
async function expectStored(data: string, stored: ReadonlyMap<string, string>): Promise<void> {
  const { counts } = await settled(data)
  expect(counts).toMatchObject({ received: stored.size, answered: stored.size })
  const turns = await turnsOf(data)
  expect(new Map(turns.map((turn) => [turn.message_id, turn.id]))).toEqual(new Map(stored))
  await expectLedgerHolds(data)
}

/** A small filesystem of its own as data folder; null where mounting is not ours to do. */
async function smallDisk(): Promise<string | null> {
  const path = scene.folder()
  const mounted = await run(
    'mount',
    ['-t', 'tmpfs', '-o', 'size=6m,mode=0700', 'swb-fault', path],
    '/',
  ).catch(() => null)
  if (mounted?.code !== 0) return null
  scene.onEnd(async () => void (await run('umount', ['--lazy', path], '/')))
  return path
}

/** Takes all the room that is left. */
function fill(ballast: string): void {
  const file = openSync(ballast, 'a')
  for (const size of [65_536, 4_096, 512]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1))
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown
    }
  }
  closeSync(file)
}

describe('the disk is full', () => {
  it('[I2.disk-full] [S14.http-readyz] refuses with 503, says why, and goes on when there is room', async (context: TestContext) => {
    const data = await smallDisk()
    if (data === null) return context.skip('mounting a small filesystem needs root and the right to mount')
    const daemon = await scene.start({ data })
    const stored = new Map<string, string>()
    stored.set('before', acknowledged(await postDemo(daemon.url, 'before', 'before')).id)
    await settled(data)
    const ballast = join(data, 'ballast')
    fill(ballast)
    const refused = await postUntilRefused(daemon, stored)
    await expectToldWhy(daemon, refused, /disk is full/)
    expect((await postDemo(daemon.url, 'again', 'again')).status).toBe(503)

    rmSync(ballast)
    await expectGoesOn(daemon, stored)
    // And what is on the disk is whole: another process finds the same.
    await daemon.kill9()
    await scene.start({ data })
    await expectStored(data, stored)
  })

  it('[I2.disk-full] refuses alike when a file may not grow (a limit instead of a filesystem)', async (context: TestContext) => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const stored = new Map<string, string>()
    stored.set('before', acknowledged(await postDemo(daemon.url, 'before', 'before')).id)
    await settled(data)
    const limit = (size: string) => run('prlimit', ['--pid', String(daemon.pid), `--fsize=${size}`], data)
    const limited = await limit('300000:').catch(() => null)
    if (limited?.code !== 0) return context.skip('prlimit (util-linux) is missing')
    const refused = await postUntilRefused(daemon, stored)
    await expectToldWhy(daemon, refused, /disk/)
    await limit('unlimited:')
    await expectGoesOn(daemon, stored)
  })
})

describe('another process holds the database', () => {
  it.each(['IMMEDIATE', 'EXCLUSIVE'])(
    '[I2.locked-db] [S16.nothing-half-done] refuses with 503 during BEGIN %s, and recovers',
    async (kind) => {
      const data = scene.folder()
      const daemon = await scene.start({ data })
      const stored = new Map<string, string>()
      stored.set('before', acknowledged(await postDemo(daemon.url, 'before', 'before')).id)
      await settled(data)
      const other = new DatabaseSync(join(data, 'switchboard.db'), { timeout: 20_000 })
      other.exec(`BEGIN ${kind}`)
      const refused = await postUntilRefused(daemon, stored)
      await expectToldWhy(daemon, refused, /another process/)
      other.exec('ROLLBACK')
      other.close()
      await expectGoesOn(daemon, stored)
    },
  )

  it('[I2.locked-db] [F7.session-db-failure] a message under way when the lock comes is kept and answered', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const other = new DatabaseSync(join(data, 'switchboard.db'), { timeout: 20_000 })
    const count = (state: string) =>
      other.prepare('SELECT count(*) AS n FROM outbox WHERE state = ?').get(state)?.n
    const ids: string[] = []
    // The lock must come after the answer was confirmed (or the sender waits to write that, and takes nothing) and before
    // the reminder is due: how long that takes is for the machine to say, so the next one is asked for later.
    for (const seconds of [2, 10, 60]) {
      const key = `m${seconds}`
      ids.push(acknowledged(await postDemo(daemon.url, `remind me in ${seconds}s to look up`, key)).id)
      await until('it is answered', () => Number(count('sent')) >= 2 * ids.length - 1)
      other.exec('BEGIN IMMEDIATE')
      if (count('queued') === 1) break
      other.exec('ROLLBACK')
    }
    expect({ sent: count('sent'), queued: count('queued') }).toEqual({ sent: 2 * ids.length - 1, queued: 1 })
    // The reminder falls due while nothing can be written: it must wait, not be lost.
    await until('the log says that the outbox waits', () =>
      daemon.log().some((line) => line.queue === 'sends' && /taken/.test(line.msg)),
    )
    other.exec('ROLLBACK')
    other.close()
    const { outbox } = await settled(data)
    expect(outbox).toMatchObject({ sent: 2 * ids.length, failed: 0, unknown: 0 })
    expect((await turnsOf(data)).map((turn) => turn.id)).toEqual(ids)
  })
})

it('[I2.disk-full] a start without room fails with a clear error', async (context: TestContext) => {
  const data = await smallDisk()
  if (data === null) return context.skip('mounting a small filesystem needs root and the right to mount')
  fill(join(data, 'ballast'))
  const started = scene.launch({ data })
  expect((await started.exited).code).toBe(1)
  expect(JSON.parse(started.stderr())).toMatchObject({
    code: 'store_unavailable',
    hint: expect.stringContaining('the disk is full'),
  })
})
