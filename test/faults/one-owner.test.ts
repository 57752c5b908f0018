// Who owns a data folder, and in what state it is found: one daemon at a time by a lock of the kernel, and never a
// start on top of a damaged database.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acknowledged, postDemo } from './hook-client.ts'
import { settled, turnsOf } from './river-checks.ts'
import { askJson, createScene, switchboard } from './scene.ts'

const scene = createScene()

describe('two daemons on one data folder', () => {
  it('[I2.two-daemons] [S6.one-daemon] the second ends with 1 and says who holds it; the first goes on', async () => {
    const data = scene.folder()
    const first = await scene.start({ data })
    const second = scene.launch({ data })
    expect(await second.ready).toBeNull()
    expect((await second.exited).code).toBe(1)
    const told = JSON.parse(second.stderr()) as { code: string; error: string; hint: string }
    expect(told.code).toBe('data_folder_held')
    expect(told.error).toContain(`process ${first.pid} at ${first.url}`)
    expect(told.hint).toContain('--data')
    expect((await postDemo(first.url, 'still here')).status).toBe(200)

    const forPeople = await switchboard(data, 'up', '--port', '0')
    expect(forPeople).toMatchObject({ code: 1, stdout: '' })
    expect(forPeople.stderr).toMatch(/error: .*is held by process \d+ at http/)
    expect(forPeople.stderr).toContain('hint: ')
  })

  it('[S6.lock-kernel] after kill -9 the next one starts at once, many times in a row', async () => {
    const data = scene.folder()
    for (let time = 0; time < 4; time += 1) {
      const daemon = await scene.start({ data })
      acknowledged(await postDemo(daemon.url, `time ${time}`))
      expect(await daemon.kill9()).toEqual({ code: null, signal: 'SIGKILL' })
    }
    await scene.start({ data })
    expect((await settled(data)).counts).toMatchObject({ received: 4, answered: 4 })
  })

  it('[S6.one-daemon] of several started at the same moment exactly one comes up', async () => {
    const data = scene.folder()
    const started = Array.from({ length: 4 }, () => scene.launch({ data }))
    const ready = (await Promise.all(started.map((one) => one.ready))).filter((daemon) => daemon !== null)
    expect(ready).toHaveLength(1)
    const url = ready[0]?.url ?? ''
    expect((await postDemo(url, 'hello')).status).toBe(200)
  })
})

describe('a damaged database', () => {
  /** A database with some weight, left in order, nothing in its log. */
  async function written(): Promise<{ data: string; file: string }> {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    for (let n = 0; n < 40; n += 1) acknowledged(await postDemo(daemon.url, `${n} ${'x'.repeat(2_000)}`))
    await settled(data)
    expect((await daemon.terminate()).code).toBe(0)
    return { data, file: join(data, 'switchboard.db') }
  }

  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

  function overwrite(file: string, at: number, bytes: number): void {
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, at)
    closeSync(handle)
  }

  const PLACES: readonly (readonly [string, (size: number) => readonly [number, number]])[] = [
    ['header', () => [0, 64]],
    ['middle', (size) => [Math.floor(size / 2 / 4096) * 4096, 4096]],
    ['tail', (size) => [size - 8192, 8192]],
  ]

  it.each(PLACES)(
    '[I2.corrupt-db] ends with 1, an error and a hint, and overwrites nothing: %s',
    async (_name, place) => {
      const { data, file } = await written()
      overwrite(file, ...place(statSync(file).size))
      const before = digest(file)
      const started = scene.launch({ data })
      expect(await started.ready).toBeNull()
      expect((await started.exited).code).toBe(1)
      expect(JSON.parse(started.stderr())).toMatchObject({
        ok: false,
        code: 'store_corrupt',
        error: expect.stringContaining('damaged'),
        hint: expect.stringContaining('backup'),
      })
      expect(digest(file)).toBe(before)
    },
  )

  it('[I2.corrupt-db] is started again once the backup is back', async () => {
    const { data, file } = await written()
    const backup = readFileSync(file)
    overwrite(file, 0, 64)
    expect((await scene.launch({ data }).exited).code).toBe(1)
    const handle = openSync(file, 'r+')
    writeSync(handle, backup, 0, backup.length, 0)
    closeSync(handle)
    await scene.start({ data })
    expect(await turnsOf(data)).toHaveLength(40)
    expect(await askJson(data, 'audit', 'verify')).toMatchObject({ ok: true, chain: 'intact' })
  })
})
