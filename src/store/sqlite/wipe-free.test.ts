// What is erased is gone from the file, too: long texts have pages of their own, which the engine only marks as free.
import { existsSync, readFileSync } from 'node:fs'
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
  // It is still our own file, and goes on.
  expect(store.file?.misplaced()).toBeNull()
  await queueOne(store, { conversation: 'bob', sender: 'bob', messageId: 'm2' })
  await expectSound(store)
})
