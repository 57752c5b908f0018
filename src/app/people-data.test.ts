// Who is meant by a name, what is written out of them, and what erasing does besides emptying rows.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Attachment, Identity, PersonLine, Settings, Store } from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import { createFileShelf } from '../platforms/web/files.ts'
import { ROUTES } from '../server/api/routes.ts'
import { openStore } from '../store/open.ts'
import { expectSound, item, queueOne } from '../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom } from '../testing/test-clock.ts'
import { createFileMirror } from './file-mirror.ts'
import { createEraser, exportPerson, identitiesOf } from './people-data.ts'

let store: Store
let folder: string
const settings = {
  users: [{ id: 'kate', identities: ['tg:1', 'channel:slack@a:u:2'], notifyTo: null, roles: ['owner'] }],
  integrations: [{ id: 'tg' }, { id: 'channel:slack@a' }, { id: 'web' }],
} as unknown as Settings

beforeEach(async () => {
  const clock = createTestClock()
  const random = createTestRandom('people')
  store = await openStore('sqlite::memory:', { clock, random, node: 'n', ledgerKey: Buffer.alloc(32) })
  folder = mkdtempSync(join(tmpdir(), 'sb-people-'))
})
afterEach(async () => {
  await expectSound(store)
  await store.close()
  rmSync(folder, { recursive: true })
})

const eraser = (forgetFiles: (who: Identity, files: readonly Attachment[]) => Promise<number | null>) =>
  createEraser({
    store,
    settings: () => settings,
    cancel: (turn, by) => store.operateTurn(turn, 'cancel', by),
    forgetFiles,
    grantsChanged: async () => undefined,
  })

it('[I14.erase] a person is a user with all identities, or one identity, whatever colons it holds', async () => {
  expect(await identitiesOf('kate', settings, store)).toEqual([
    { integration: 'tg', sender: '1' },
    { integration: 'channel:slack@a', sender: 'u:2' },
  ])
  expect(await identitiesOf('gone:7', settings, store)).toEqual([{ integration: 'gone', sender: '7' }])
  for (const wrong of ['nobody', 'tg:', ':1', ''])
    await expect(identitiesOf(wrong, settings, store)).rejects.toMatchObject({ code: 'input_invalid' })
})

it('[I14.export] everything is written out, line by line', async () => {
  await queueOne(store, { integration: 'tg', sender: '1', text: 'secret plan' })
  await queueOne(store, { integration: 'tg', sender: '2', text: 'another' })
  await store.grant({ integration: 'tg', sender: '1', right: 'talk', by: 'op' })
  const lines: PersonLine[] = []
  for await (const line of exportPerson('kate', settings, store)) lines.push(line)
  expect(lines.map((line) => line.kind)).toEqual(['identity', 'identity', 'grant', 'turn'])
  expect(JSON.stringify(lines)).toContain('secret plan')
  expect(JSON.stringify(lines)).not.toContain('another')
})

it('[I14.erase] [I14.erase-files] open turns end first, files go from disk and mirror, rights stay unless asked', async () => {
  const random = createTestRandom('files')
  const files = createFileShelf({ dir: folder, random, mirror: createFileMirror(store, 'web') })
  const upload = (sender: string) =>
    files.save({ sender, name: 'a.png', mime: 'image/png', bytes: Buffer.from(sender) })
  const [attachment] = [await upload('ann'), await upload('ann')]
  const kept = await upload('bob')
  await store.receive([
    item({
      integration: 'web',
      sender: 'ann',
      body: { text: 'see', kind: 'message', attachments: [attachment as Attachment] },
    }),
  ])
  await store.grant({ integration: 'web', sender: 'ann', right: 'talk', by: 'op' })
  const erase = eraser(({ sender }) => files.forget(sender))
  const erased = await erase('web:ann', { revoke: false }, 'op')
  expect(erased).toMatchObject({ turns: 1, files: 2, open: 0, grants_revoked: 0, files_left: [] })
  const [turn] = await store.turns({ limit: 1 })
  expect(turn).toMatchObject({ state: 'failed', reason: 'cancelled', body: null })
  expect(await files.reply(attachment?.ref ?? '')).toBeNull()
  expect(await files.reply(kept.ref)).not.toBeNull()
  expect(readdirSync(folder)).toHaveLength(2)
  expect(await store.keptFile('web', `${attachment?.ref}.json`)).toBeNull()
  expect(await store.grants()).toHaveLength(1)
  expect(await erase('web:ann', { revoke: true }, 'op')).toMatchObject({ turns: 0, grants_revoked: 1 })
})

it('an integration that does not run is named: its files were not looked at', async () => {
  const erase = eraser(async () => null)
  expect(await erase('tg:1', { revoke: false }, 'op')).toMatchObject({ files_left: ['tg'] })
})

it('[I14.erase-owner] the owner alone may read a person out or erase one', () => {
  const routes = ROUTES.filter((route) => route.path.startsWith('/api/people/'))
  expect(routes.map(({ path }) => path).sort()).toEqual(['/api/people/erase', '/api/people/export'])
  const may = (roles: readonly string[], action: (typeof routes)[number]['action']) =>
    authorize({ kind: 'user', id: 'u', roles }, action, { kind: 'gateway' }).allowed
  for (const { action } of routes) {
    expect(may(['owner'], action)).toBe(true)
    for (const role of ['operator', 'approver', 'viewer']) expect(may([role], action), role).toBe(false)
    expect(authorize({ kind: 'agent', id: 'a' }, action, { kind: 'gateway' }).allowed).toBe(false)
  }
})
