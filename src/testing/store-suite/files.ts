// Store suite: files that all nodes need. A file is stored completely or not at all, belongs to its integration, and
// expires by age.
import { describe, expect, it } from 'vitest'
import type { Store } from '../../contract/index.ts'
import { type MakeStoreFixture, openBeforeEach, queueOne } from './fixture.ts'

const MIB = 1_048_576

export function describeFiles(make: MakeStoreFixture): void {
  describe('files', () => {
    const { fixture, store: one, reopen } = openBeforeEach(make)

    /** Bytes of every value, with no two parts alike. */
    const content = (length: number) =>
      Buffer.from(Array.from({ length }, (_, at) => (at * 7 + at / 997) & 255))
    const keep = (name: string, bytes: Uint8Array, integration = 'web') =>
      one.keepFile({ integration, name, bytes })
    const parts = async () => Number((await fixture.sql('SELECT count(*) AS n FROM files'))[0]?.n)

    it('[I6.files-shared] what one node keeps is the same on another, and after a restart, whatever its length', async () => {
      const files = [0, 1, MIB, MIB + 1, 2 * MIB + 17].map((length) => content(length))
      for (const bytes of files) await keep(`${bytes.length}.png`, bytes)
      const two = await fixture.open('two')
      const same = async (store: Store) => {
        for (const bytes of files)
          expect(Buffer.compare(await got(store, `${bytes.length}.png`), bytes), `${bytes.length}`).toBe(0)
      }
      await same(two)
      await two.close()
      await one.close()
      await reopen('one')
      await same(one)
      expect(await parts()).toBe(1 + 1 + 1 + 2 + 3)
    })

    const got = async (store: Store, name: string): Promise<Uint8Array> => {
      const bytes = await store.keptFile('web', name)
      if (bytes === null) throw new Error(`there is no ${name}`)
      return bytes
    }

    it('[I6.files-shared] a name is its integration’s own, and the first file under it stays', async () => {
      await keep('a', Buffer.from('first'))
      await keep('a', Buffer.from('second'))
      await keep('a', Buffer.from('other'), 'tg')
      expect(Buffer.from(await got(one, 'a')).toString()).toBe('first')
      expect(await one.keptFile('tg', 'a')).toEqual(Buffer.from('other'))
      for (const [integration, name] of [
        ['web', 'b'],
        ['tg2', 'a'],
        ['', ''],
      ] as const)
        expect(await one.keptFile(integration, name)).toBeNull()
    })

    it('[I6.files-shared] a file that lost a part is not there', async () => {
      for (const gone of [0, 1, 2]) {
        await keep(`f${gone}`, content(2 * MIB + 1))
        await fixture.sql(`DELETE FROM files WHERE name = 'f${gone}' AND part = ${gone}`)
        expect(await one.keptFile('web', `f${gone}`)).toBeNull()
      }
    })

    it('[I6.files-pruned] old ones go, some parts at a time; the young stay, and the ledger tells of it', async () => {
      await queueOne(one)
      await keep('old', content(2 * MIB + 1))
      await keep('as old', content(1))
      await fixture.clock.advance(10_000)
      await keep('young', content(3))
      expect(await one.pruneFiles(5_000, 2)).toBe(2)
      expect(await one.keptFile('web', 'old')).toBeNull()
      const both = await Promise.all([one.pruneFiles(5_000, 16), one.pruneFiles(5_000, 16)])
      expect(both[0] + both[1]).toBe(2)
      expect(await one.pruneFiles(5_000, 16)).toBe(0)
      expect(await one.keptFile('web', 'as old')).toBeNull()
      expect(await got(one, 'young')).toHaveLength(3)
      expect(await parts()).toBe(1)
      const told = (await one.ledger({ afterSeq: 0, limit: 100 })).filter(({ ref }) => ref === 'files')
      expect(told).toMatchObject([
        { kind: 'audit', to: 'pruned' },
        { kind: 'audit', to: 'pruned' },
      ])
    })

    it('[I6.files-pruned] they are found by their age, not by looking at all', async () => {
      const plan = await fixture.explain(
        'SELECT integration, name, part FROM files WHERE at < 5 ORDER BY at LIMIT 16',
      )
      expect(plan).toContain('files_age')
    })
  })
}
