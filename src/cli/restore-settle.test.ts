// `restore --settle` on a PostgreSQL database that its own tool put back: by the command itself.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { dataFolderAt, openKeyRing, prepareDataFolder } from '../config/index.ts'
import type { Store } from '../contract/index.ts'
import { createNodeClock, createRealRandom } from '../runtime/real-clock.ts'
import { openStore } from '../store/open.ts'
import { sharedPostgres } from '../testing/postgres/server.ts'
import { expectSound, queueOne, send } from '../testing/store-suite/fixture.ts'
import { command } from './fixtures/fake-daemon.ts'

let data: string
let config: string
let url: string
let giveBack: () => Promise<void>
const open = (): Promise<Store> => {
  const { ledgerKey } = openKeyRing({ dataDir: data, env: {} })
  return openStore(url, { clock: createNodeClock(), random: createRealRandom(), node: 'one', ledgerKey })
}

beforeEach(async () => {
  const lent = await (await sharedPostgres()).lend('settle', async () => undefined)
  ;({ url } = lent)
  giveBack = lent.giveBack
  data = mkdtempSync(join(tmpdir(), 'sb-settle-'))
  prepareDataFolder(dataFolderAt({ data, env: {} }))
  config = join(data, 'switchboard.yaml')
  writeFileSync(config, `store: ${url}\n`)
})
afterEach(async () => {
  rmSync(data, { recursive: true })
  await giveBack()
})

it('[I14.restore-sends] open sends become unknown, open turns are repeats, the chain holds; not while a node runs', async () => {
  const before = await open()
  const turn = await queueOne(before)
  const [queued] = await before.enqueue([send({ text: 'maybe sent since' })])
  const report = { node: 'one', version: '1', startedAt: 0, url: '', digest: 'd', skewMs: 0 }
  await before.beat({ ...report, watched: false, links: [], agents: [], activity: [] } as never)
  const settle = () => command(['restore', '--settle', '--json', '--data', data, '--config', config])
  const live = await settle()
  expect(live.code).toBe(1)
  expect(live.err).toContain('the node one uses this database')
  await before.leave()
  await before.close()

  const settled = await settle()
  expect(settled.err).toBe('')
  expect(settled).toMatchObject({ code: 0, lines: [{ ok: true, sends_unknown: 1 }] })
  const after = await open()
  expect(await after.send(queued?.id ?? '')).toMatchObject({ state: 'unknown', reason: 'restored' })
  expect(await after.turn(turn.id)).toMatchObject({ state: 'queued' })
  expect(await after.restored()).not.toBeNull()
  await expectSound(after)
  await after.close()
  const named = await command(['restore', 'backup.tar', '--settle', '--data', data, '--config', config])
  expect(named.code).toBe(2)
})
