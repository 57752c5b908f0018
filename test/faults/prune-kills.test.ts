// kill -9 while a store is pruned: in the middle of a slice, and right behind one. What is left verifies, and the next run goes on.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createPostgresFixture } from '../../src/store/postgres/fixtures/postgres-fixture.ts'
import { createSqliteFixture } from '../../src/store/sqlite/fixtures/sqlite-fixture.ts'
import {
  expectSound,
  mustTake,
  mustTakeSend,
  queueOne,
  type StoreFixture,
  send,
} from '../../src/testing/store-suite/fixture.ts'
import { buildForTest } from './build-for-test.ts'

let pruning = ''
beforeAll(async () => {
  pruning = join(await buildForTest('test/faults/fixtures/prune-and-die.mjs'), 'prune-and-die.js')
})

/** Where, at which commit of that life, and whether rows are left. Bodies go first, then rows, then entries of the ledger. */
const KILLS: readonly (readonly [string, string, boolean])[] = [
  ['store.before-commit', '2', true],
  ['store.after-commit', '3', true],
  ['store.before-commit', '3', true],
  ['store.after-commit', '3', false],
  ['store.before-commit', '4', false],
  ['store.after-commit', '4', false],
]

const STORES: readonly (readonly [string, () => Promise<{ fixture: StoreFixture; url: string }>])[] = [
  [
    'SQLite',
    async () => {
      const fixture = await createSqliteFixture()
      return { fixture, url: `sqlite:${fixture.file}` }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const fixture = await createPostgresFixture()
      return { fixture, url: fixture.url }
    },
  ],
]

describe('kill -9 while a store is pruned', () => {
  it.each(STORES)(
    '[I14.prune-killed] on %s: rows, bodies and entries go on from there, and the audit holds each time',
    async (_, make) => {
      const { fixture, url } = await make()
      const store = await fixture.open()
      for (let at = 0; at < 6; at++) {
        const { id, lane } = await queueOne(store, { conversation: `c${at}`, text: `said ${at}` })
        const { token } = await mustTake(store, { lane })
        const to = { integration: 'demo', conversation: `c${at}` }
        await store.accept([send({ to, turn: id })], [{ lane, token, turn: id, to: 'answered' }])
        const taken = await mustTakeSend(store, { lane: `demo:c${at}` })
        const sent = { lane: `demo:c${at}`, token: taken.token, id: taken.sending?.id ?? '' }
        await store.moveSends([{ ...sent, to: 'sent' }])
      }
      await store.close()
      await fixture.clock.advance(Date.now() - fixture.clock.now())

      for (const [point, times, rowsLeft] of KILLS) {
        const ran = spawnSync(process.execPath, [pruning, url, point, times], { encoding: 'utf8' })
        expect(ran.signal, `${point}@${times}: ${ran.stderr}`).toBe('SIGKILL')
        const between = await fixture.open()
        await expectSound(between)
        if (!rowsLeft) expect(await between.turns({ limit: 9 })).toEqual([])
        await between.close()
      }
      const last = spawnSync(process.execPath, [pruning, url, 'none', '1'], { encoding: 'utf8' })
      expect(last.status, last.stderr).toBe(0)
      const after = await fixture.open()
      expect(await after.turns({ limit: 9 })).toEqual([])
      expect(await after.sends({ limit: 9 })).toEqual([])
      const report = await after.verify()
      expect(report).toMatchObject({ ok: true, conservation: { received: 6, accounted: 6 } })
      const { id } = await queueOne(after, { conversation: 'new' })
      expect(Number(id.split('_').at(-1))).not.toBe(1)
      await expectSound(after)
      await after.close()
      await fixture.dispose()
    },
  )
})
