// Who is meant by a name, what is written out of them, and what erasing does besides emptying rows.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import type { Attachment, Identity, PersonLine, Settings, Store } from '../../contract/index.ts'
import type { Link } from '../../core/links.ts'
import { authorize } from '../../core/people/authorize.ts'
import { createFileMirror } from '../../gateway/files/file-mirror.ts'
import { keepForgettingFiles } from '../../gateway/files/file-orders.ts'
import { createFileStore } from '../../platforms/web/files.ts'
import { createPostgresFixture } from '../../store/postgres/fixtures/postgres-fixture.ts'
import { createSqliteFixture } from '../../store/sqlite/fixtures/sqlite-fixture.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import {
  expectSound,
  item,
  mustTake,
  queueOne,
  type StoreFixture,
} from '../../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { OPERATIONS } from '../index.ts'
import { createEraser, exportPerson, personOf } from './people-data.ts'

const STORES: readonly (readonly [string, () => Promise<StoreFixture>])[] = [
  ['SQLite', createSqliteFixture],
  ['PostgreSQL', createPostgresFixture],
]

it('[I35.b35] the file of an embedded store holds none of the words of an erased person', async () => {
  const fixture = await createSqliteFixture()
  const store = await fixture.open()
  const words = Array.from({ length: 2_000 }, (_, n) => `secret-of-ann-${n}`).join(' ')
  await queueOne(store, { integration: 'tg', sender: 'ann', text: words })
  const held = () =>
    [fixture.file, `${fixture.file}-wal`].some(
      (file) => existsSync(file) && readFileSync(file).includes('secret-of-ann-'),
    )
  expect(held()).toBe(true)
  const erase = createEraser({
    store,
    settings: () => testSettings({ integrations: [testIntegration('tg')] }),
    cancel: (turn, by) => store.operateTurn(turn, 'cancel', by),
    forgetFiles: async () => 0,
    grantsChanged: async () => undefined,
  })
  await erase('tg:ann', { revoke: false }, 'op')
  expect(held()).toBe(false)
  await fixture.dispose()
})

describe.each(STORES)('people’s own data on %s', (_, make) => {
  let fixture: StoreFixture
  let store: Store
  let folder: string
  const settings = {
    users: [{ id: 'kate', identities: ['tg:1', 'channel:slack@a:u:2'], notifyTo: null, roles: ['owner'] }],
    integrations: [{ id: 'tg' }, { id: 'channel:slack@a' }, { id: 'web' }],
  } as unknown as Settings

  beforeEach(async () => {
    fixture = await make()
    store = await fixture.open('one')
    folder = mkdtempSync(join(tmpdir(), 'sb-people-'))
  })
  afterEach(async () => {
    await expectSound(store)
    await fixture.dispose()
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
    expect((await personOf('kate', settings, store)).identities).toEqual([
      { integration: 'tg', sender: '1' },
      { integration: 'channel:slack@a', sender: 'u:2' },
    ])
    expect((await personOf('gone:7', settings, store)).identities).toEqual([
      { integration: 'gone', sender: '7' },
    ])
    for (const wrong of ['nobody', 'tg:', ':1', ''])
      await expect(personOf(wrong, settings, store)).rejects.toMatchObject({ code: 'input_invalid' })
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
    const files = createFileStore({ dir: folder, random, mirror: createFileMirror(store, 'web') })
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
    const erase = eraser(({ sender }) => files.forget({ sender, attachments: [] }))
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

  it('[I14.export] [I14.export-files] with the log of notifications, and with the bytes of files where they can be had', async () => {
    const attachment = { id: 'f1', kind: 'file', name: 'plan.txt', ref: 'tg-file-1' } as const
    const gone = { ...attachment, id: 'f2', ref: 'gone' }
    const body = { text: 'see', kind: 'message', attachments: [attachment, gone] } as const
    await store.receive([item({ integration: 'tg', sender: '1', body })])
    const attempt = {
      agent: null,
      session: null,
      channel: 'tg',
      urgency: 'normal',
      source: 'operator',
    } as const
    for (const user of ['kate', 'bob'])
      await store.logNotification({
        ...attempt,
        user,
        message: `to ${user}`,
        status: 'failed',
        error: 'away',
      })
    const bytesOf = async (_integration: string, { ref }: Attachment) => {
      if (ref === 'gone') throw new Error('it is gone')
      return { name: 'plan.txt', mime: 'text/plain', bytes: Buffer.from('the plan') }
    }
    const lines: PersonLine[] = []
    for await (const line of exportPerson('kate', settings, store, bytesOf)) lines.push(line)
    expect(lines.map(({ kind }) => kind)).toEqual([
      'identity',
      'identity',
      'turn',
      'file',
      'file',
      'notification',
    ])
    expect(lines[3]).toMatchObject({ name: 'plan.txt', base64: Buffer.from('the plan').toString('base64') })
    expect(lines[4]).toMatchObject({ attachment: 'f2', missing: expect.stringContaining('gone') })
    expect(lines[5]).toMatchObject({ message: 'to kate', status: 'failed' })
    // One of several identities is not the whole user.
    const some: PersonLine[] = []
    for await (const line of exportPerson('tg:1', settings, store)) some.push(line)
    expect(some.map(({ kind }) => kind)).toEqual(['identity', 'turn'])
    expect(await eraser(async () => 0)('kate', { revoke: false }, 'op')).toMatchObject({ notifications: 1 })
    expect((await store.notifications({ limit: 9 })).map(({ message }) => String(message)).sort()).toEqual([
      'null',
      'to bob',
    ])
  })

  it('[I14.erase-nodes] what another node fetched goes from its disk: at once, or when its integration runs', async () => {
    const clock = createTestClock()
    const orders = [{ id: 'o1', integration: 'tg', sender: '1', refs: ['a', 'b'] }]
    const done: string[] = []
    const forgotten: unknown[] = []
    const forget = async (of: unknown) => {
      forgotten.push(of)
      return 2
    }
    let link: unknown
    const stop = keepForgettingFiles({
      store: {
        shared: true,
        fileOrders: async () => orders.filter(({ id }) => !done.includes(id)),
        doneFileOrder: async (id) => void done.push(id),
      },
      clock,
      log: createRecordingLog(),
      links: { get: () => link as Link | undefined },
    })
    await clock.advance(120_000)
    expect(done).toEqual([])
    link = { adapter: { files: { forget } } }
    await clock.advance(120_000)
    expect(done).toEqual(['o1'])
    expect(forgotten).toMatchObject([{ sender: '1', attachments: [{ ref: 'a' }, { ref: 'b' }] }])
    stop()
  })

  it('[I14.erase-nodes] erasing leaves the order for the others, by the platform’s names alone', async () => {
    const order: unknown[] = []
    const shared = { ...store, shared: true, keepFileOrder: async (one: unknown) => void order.push(one) }
    const attachment = { id: 'f1', kind: 'file', name: 'my illness.pdf', ref: 'tg-file-1' } as const
    const body = { text: 'see', kind: 'message', attachments: [attachment, attachment] } as const
    await store.receive([item({ integration: 'tg', sender: '1', body })])
    const erase = createEraser({
      ...{ store: shared, settings: () => settings, forgetFiles: async () => 1 },
      cancel: (turn, by) => store.operateTurn(turn, 'cancel', by),
      grantsChanged: async () => undefined,
    })
    await erase('tg:1', { revoke: false }, 'op')
    expect(order).toEqual([{ integration: 'tg', sender: '1', refs: ['tg-file-1'] }])
  })

  it('an integration that does not run is named: its files were not looked at', async () => {
    const erase = eraser(async () => null)
    expect(await erase('tg:1', { revoke: false }, 'op')).toMatchObject({ files_left: ['tg'] })
  })

  it('[I14.export-steps] what a model was told and answered for a person is in the export, and goes with them', async () => {
    const turnOf = async (sender: string, text: string) => {
      const { id, lane } = await queueOne(store, { integration: 'tg', conversation: 'g', sender, text })
      const { token } = await mustTake(store, { lane, window: 9 }).catch(() => ({ token: 1 }))
      return { id, lane, token }
    }
    const first = await turnOf('1', 'my illness')
    await store.keepStep({ turn: first.id, n: 1, kind: 'model', body: { text: 'so you are ill', calls: [] } })
    await store.keepStep({
      turn: first.id,
      n: 2,
      kind: 'call',
      body: { id: 'c', arguments: 'look up illness' },
    })
    await store.moveTurns([{ ...first, turn: first.id, to: 'answered' }])
    const lines: PersonLine[] = []
    for await (const line of exportPerson('tg:1', settings, store)) lines.push(line)
    expect(lines.at(-1)).toMatchObject({
      kind: 'turn',
      steps: [
        { n: 1, kind: 'model', body: { text: 'so you are ill' } },
        { n: 2, kind: 'call' },
      ],
    })
    await eraser(async () => 0)('tg:1', { revoke: false }, 'op')
    expect(await store.turnSteps(first.id)).toEqual([])
    expect(await fixture.sql('SELECT * FROM turn_steps')).toEqual([])
    const after: PersonLine[] = []
    for await (const line of exportPerson('tg:1', settings, store)) after.push(line)
    expect(JSON.stringify(after)).not.toContain('ill')
  })

  it('[I14.erase-nodes] files on the disk of another node, and in the store, go: also of one that was away', async (context) => {
    if (!store.shared) return context.skip('a SQLite store has one node and one disk')
    const two = await fixture.open('two')
    const nodeAt = (at: Store, name: string) => {
      const dir = join(folder, name)
      const random = createTestRandom(name)
      const files = createFileStore({ dir, random, mirror: createFileMirror(at, 'web') })
      const adapter = { files: { forget: files.forget } }
      const on = () => (existsSync(dir) ? readdirSync(dir) : [])
      const carryOut = () =>
        keepForgettingFiles({
          ...{ store: at, clock: fixture.clock, log: createRecordingLog() },
          links: { get: () => ({ adapter }) as unknown as Link },
        })
      return { files, on, carryOut }
    }
    const [here, there, away] = [nodeAt(store, 'one'), nodeAt(two, 'two'), nodeAt(two, 'never')]
    const upload = (at: typeof here, sender: string) =>
      at.files.save({ sender, name: 'a.png', mime: 'image/png', bytes: Buffer.from(sender) })
    // Taken in over there; one of them also by a node whose disk is lost. This node has never seen any of them.
    const mine = await upload(there, 'ann')
    const lost = await upload(away, 'ann')
    const kept = await upload(there, 'bob')
    const body = { text: 'see', kind: 'message', attachments: [mine, lost] } as const
    await store.receive([item({ integration: 'web', sender: 'ann', body })])
    expect(here.on()).toEqual([])
    const erase = eraser(({ sender }, attachments) => here.files.forget({ sender, attachments }))
    expect(await erase('web:ann', { revoke: false }, 'op')).toMatchObject({ turns: 1, files: 2 })
    for (const { ref } of [mine, lost]) expect(await store.keptFile('web', `${ref}.json`)).toBeNull()
    expect(there.on().filter((name) => name.startsWith(mine.ref))).toHaveLength(2)
    const stop = there.carryOut()
    await until('its disk is clear', () => there.on().every((name) => name.startsWith(kept.ref)))
    await until('it says so', async () => (await two.fileOrders()).length === 0)
    stop()
    expect(await there.files.reply(kept.ref)).not.toBeNull()
    expect(here.on()).toEqual([])
  })
})

it('[I14.erase-owner] the owner alone may read a person out or erase one', () => {
  const routes = OPERATIONS.filter((route) => route.path.startsWith('/api/people/'))
  expect(routes.map(({ path }) => path).sort()).toEqual(['/api/people/erase', '/api/people/export'])
  const may = (roles: readonly string[], action: (typeof routes)[number]['action']) =>
    authorize({ kind: 'user', id: 'u', roles }, action, { kind: 'gateway' }).allowed
  for (const { action } of routes) {
    expect(may(['owner'], action)).toBe(true)
    for (const role of ['operator', 'approver', 'viewer']) expect(may([role], action), role).toBe(false)
    expect(authorize({ kind: 'agent', id: 'a' }, action, { kind: 'gateway' }).allowed).toBe(false)
  }
})
