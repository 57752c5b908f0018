// What a data folder holds, by real processes: a database that is taken away, backups, a person who is erased.
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BINARY, type Daemon } from './daemon.ts'
import { acknowledged, postDemo } from './hook-client.ts'
import { expectLedgerHolds, settled, turnsOf } from './river-checks.ts'
import { createScene, run, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

/** Posts until the daemon says 503; the ids of all that it acknowledged. */
async function postUntilRefused(daemon: Daemon): Promise<readonly string[]> {
  const ids: string[] = []
  await until('a message is refused', async () => {
    const posted = await postDemo(daemon.url, `message ${ids.length}`)
    if (posted.status !== 200) return posted
    ids.push(acknowledged(posted).id)
    return null
  })
  return ids
}

it('[I14.gone-503] [I14.rescued] [I14.no-empty-start] [I14.put-back] a removed database: refused, rescued, put back', async () => {
  const data = scene.folder()
  const daemon = await scene.start({ data })
  const before = acknowledged(await postDemo(daemon.url, 'before')).id
  rmSync(join(data, 'switchboard.db'))
  const ids = [before, ...(await postUntilRefused(daemon))]
  expect((await fetch(`${daemon.url}/readyz`)).status).toBe(503)
  type Doctor = { store: { problem?: string } }
  const problem = await until('it is rescued', async () => {
    const { code, stdout } = await switchboard(data, 'doctor', '--json')
    expect(code).toBe(1)
    const report = JSON.parse(stdout) as Doctor
    return report.store.problem?.includes('what it held is in') ? report.store.problem : null
  })
  const rescued = readdirSync(data).find((name) => /\.rescued-\w+$/.test(name)) ?? ''
  expect(problem).toContain(join(data, rescued))
  expect((await switchboard(data, 'backup', join(data, 'b'))).code).toBe(1)
  await daemon.terminate()

  const refused = await switchboard(data, 'up', '--port', '0')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(`switchboard restore ${join(data, rescued)}`)
  const restored = await switchboard(data, 'restore', join(data, rescued), '--json')
  expect(restored).toMatchObject({ code: 0 })
  const again = await scene.start({ data })
  expect(statSync(join(data, 'switchboard.db')).mode & 0o777).toBe(0o600)
  const found = (await turnsOf(data)).map((turn) => turn.id)
  expect(found.sort()).toEqual([...ids].sort())
  acknowledged(await postDemo(again.url, 'after'))
  await expectLedgerHolds(data)
})

it('[I14.one-database] [I14.backup] [I14.restore-live] [I14.restore-cut] two folders, one database: the second is refused; backup while it runs', async () => {
  const data = scene.folder()
  const other = scene.folder()
  const daemon = await scene.start({ data })
  const config = join(other, 'switchboard.yaml')
  writeFileSync(config, `store: sqlite:${join(data, 'switchboard.db')}\n`)
  const second = await switchboard(other, 'up', '--port', '0', '--config', config)
  expect(second.code).toBe(1)
  expect(second.stderr).toContain(`data folder ${data}`)
  const { id } = acknowledged(await postDemo(daemon.url, 'kept'))
  const taken = await switchboard(data, 'backup', join(other, 'saved.tar'), '--json')
  expect(taken.code, taken.stderr).toBe(0)
  expect(JSON.parse(taken.stdout)).toMatchObject({ ok: true, kind: 'archive', with_keys: false })
  const live = await switchboard(data, 'restore', join(other, 'saved.tar'), '--replace')
  expect(live).toMatchObject({ code: 1 })
  expect(live.stderr).toContain('live folder')
  const fresh = scene.folder()
  const kill = ['SWITCHBOARD_CRASH_AT=restore.before-rename', process.execPath, BINARY, 'restore']
  const killed = await run('env', [...kill, join(other, 'saved.tar'), '--data', fresh], fresh)
  expect(killed.code).not.toBe(0)
  expect(readdirSync(fresh).join(' ')).toMatch(/\.restore-[0-9a-f]{8} .*\.db\.restoring/)
  const restored = await switchboard(fresh, 'restore', join(other, 'saved.tar'))
  expect(restored.code, restored.stderr).toBe(0)
  expect(readdirSync(fresh).filter((name) => /restor/.test(name))).toEqual([])
  expect((await turnsOf(fresh)).map((turn) => turn.id)).toEqual([id])
  await expectLedgerHolds(fresh)
})

it('[I14.erase] [I14.erase-owner] [I14.export] a person is written out and erased by command, asked first; export works without a daemon', async () => {
  const data = scene.folder()
  const daemon = await scene.start({ data })
  acknowledged(await postDemo(daemon.url, 'my secret plan', 'key-1'))
  await settled(data)
  const out = await switchboard(data, 'people', 'export', 'demo:dev')
  expect(out.stdout).toContain('my secret plan')
  const unasked = await switchboard(data, 'people', 'erase', 'demo:dev')
  expect(unasked).toMatchObject({ code: 2, stdout: '' })
  expect(unasked.stderr).toContain('--yes')
  const erased = await switchboard(data, 'people', 'erase', 'demo:dev', '--yes', '--json')
  expect(JSON.parse(erased.stdout)).toMatchObject({ turns: 1, sends: 1 })
  expect((await switchboard(data, 'people', 'erase', 'nobody', '--yes')).code).toBe(2)
  expect(JSON.parse((await postDemo(daemon.url, 'my secret plan', 'key-1')).text)).toMatchObject({
    duplicate: true,
  })
  await expectLedgerHolds(data)
  await daemon.terminate()
  const after = await switchboard(data, 'people', 'export', 'demo:dev')
  expect(after.code).toBe(0)
  expect(after.stdout).toContain('"kind":"turn"')
  expect(after.stdout).not.toContain('secret plan')
})
