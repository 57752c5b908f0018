// Erased text disappears from the file too: long texts have their own pages, which the engine only marks as free.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PERSON_START } from '../../contract/index.ts'
import { expectSound, mustTake, mustTakeSend, queueOne, send } from '../../testing/store-suite/fixture.ts'
import { createSqliteFixture, type SqliteFixture } from './fixtures/sqlite-fixture.ts'

let fixture: SqliteFixture
beforeEach(async () => {
  fixture = await createSqliteFixture()
})
afterEach(() => fixture.dispose())

it('[I35.b35] no file of the database, and no backup, holds a long prompt of an erased person', async () => {
  const store = await fixture.open()
  const words = Array.from({ length: 2_000 }, (_, n) => `secret-of-ann-${n}`).join(' ')
  const { id, lane } = await queueOne(store, { conversation: 'ann', sender: 'ann', messageId: 'm1' })
  const { token } = await mustTake(store, { lane })
  const boss = { integration: 'other', conversation: 'boss' }
  const question = {
    ...{ id: 'hers1', turn: id, hostId: null, agent: 'kate', session: 's', inputHash: 'h' },
    ask: { toolName: 'rm', description: 'removes', input: words },
    expiresAt: fixture.clock.now() + 60_000,
  }
  const prompt = send({ to: boss, text: words, cause: 'prompt', turn: id, approval: 'hers1' })
  await store.ask(question, [prompt])
  const taken = await mustTakeSend(store, { lane: 'other:boss' })
  const by = { lane: 'other:boss', token: taken.token }
  await store.moveSends([{ ...by, id: taken.sending?.id ?? '', to: 'sent' }])
  await store.releaseLanes('sends', [by])
  await store.decide({ id: 'hers1', behavior: 'allow', cause: 'person', by: 'boss', via: 'other' })
  await store.settleApproval('hers1', 'relayed', [])
  await store.accept([], [{ lane, token, turn: id, to: 'answered' }])
  const held = () =>
    [fixture.file, `${fixture.file}-wal`].filter(
      (file) => existsSync(file) && readFileSync(file).includes('secret-of-ann-'),
    )
  expect(held()).not.toEqual([])
  const who = { integration: 'demo', sender: 'ann' }
  expect(await store.erasePerson(who, PERSON_START, 'op')).toMatchObject({ sends: 1, open: 0 })
  await store.file?.wipeFree?.()
  expect(held()).toEqual([])
  const copy = `${fixture.file}.copy`
  await store.file?.copyTo(copy)
  expect(readFileSync(copy).includes('secret-of-ann-')).toBe(false)
  // The file is still ours and remains usable.
  expect(store.file?.misplaced()).toBeNull()
  await queueOne(store, { conversation: 'bob', sender: 'bob', messageId: 'm2' })
  await expectSound(store)
})

const MB = 1_048_576
const WORDS = 'secret-of-bob-'

/** A store whose file has this many megabytes of free pages full of text. */
async function withFreePages(megabytes: number) {
  const closing = await fixture.open()
  await closing.close()
  const row = `'${WORDS.repeat(MB / WORDS.length)}'`
  await fixture.sql(
    `CREATE TABLE long (x); INSERT INTO long VALUES ${Array(megabytes).fill(`(${row})`).join()}`,
  )
  await fixture.sql('PRAGMA secure_delete = OFF; DROP TABLE long')
  const store = await fixture.open()
  await fixture.sql('PRAGMA wal_checkpoint(TRUNCATE)')
  const held = () =>
    [fixture.file, `${fixture.file}-wal`].some(
      (file) => existsSync(file) && readFileSync(file).includes(WORDS),
    )
  const tables = () => fixture.sql("SELECT name FROM sqlite_master WHERE name = 'wiped'")
  return { store, held, tables }
}

it('[I35.b35-pieces] free pages are overwritten in pieces: others write between them, and the log stays short', async () => {
  const { store, held, tables } = await withFreePages(20)
  expect(held()).toBe(true)
  const log = () => statSync(`${fixture.file}-wal`).size
  let [isOver, turns, longest] = [false, 0, 0]
  const wiped = store.file?.wipeFree?.().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await queueOne(store, { conversation: 'ann', sender: 'ann', messageId: `m${turns}` })
    turns += 1
    longest = Math.max(longest, log())
  }
  await wiped
  // 20 MB are five pieces of zeros, and each is returned.
  expect(turns).toBeGreaterThanOrEqual(5)
  expect(longest).toBeLessThan(12 * MB)
  expect(held()).toBe(false)
  expect(log()).toBeLessThan(MB)
  expect(await tables()).toEqual([])
  await expectSound(store)
  // The pages are free again, and the next writes use them.
  const size = statSync(fixture.file).size
  await queueOne(store, { conversation: 'ann', sender: 'ann', messageId: 'last', text: 'x'.repeat(8 * MB) })
  expect(statSync(fixture.file).size).toBeLessThan(size + MB)
})

it('[I35.b35-pieces] a wipe that was cut off is finished when the file is opened again', async () => {
  const { store, held, tables } = await withFreePages(20)
  const wiped = store.file?.wipeFree?.()
  await new Promise((resolve) => setImmediate(resolve))
  await store.close()
  await expect(wiped).rejects.toThrow('the store is closed')
  expect(await tables()).toHaveLength(1)
  expect(held()).toBe(true)
  const again = await fixture.open()
  await expect.poll(tables).toEqual([])
  // Runs after the automatic one.
  await again.file?.wipeFree?.()
  expect(held()).toBe(false)
  await expectSound(again)
})

it('[I35.b35-pieces] whoever reads the log is waited for, and nobody stands still meanwhile', async () => {
  const { store, held } = await withFreePages(1)
  const reader = new DatabaseSync(fixture.file)
  reader.exec('BEGIN; SELECT count(*) FROM turns')
  let isOver = false
  const wiped = store.file?.wipeFree?.().finally(() => {
    isOver = true
  })
  for (let at = 0; at < 5; at++)
    await queueOne(store, { conversation: 'ann', sender: 'ann', messageId: `m${at}` })
  expect(isOver).toBe(false)
  reader.exec('COMMIT')
  reader.close()
  await wiped
  expect(held()).toBe(false)
})
