// Opening a store: which store a URL selects, and the error for an invalid one.
import { describe, expect, it } from 'vitest'
import { createTestClock, createTestRandom } from '../testing/test-clock.ts'
import { openStore } from './open.ts'

const options = {
  clock: createTestClock(),
  random: createTestRandom(),
  node: 'n',
  ledgerKey: Buffer.alloc(32),
}

describe('openStore', () => {
  it('opens sqlite:PATH', async () => {
    const store = await openStore('sqlite::memory:', options)
    expect((await store.durability()).kind).toBe('sqlite')
    expect((await store.verify()).ok).toBe(true)
    await store.close()
  })

  it('tells of a server that is away, without the password', async () => {
    const error = await openStore('postgres://user:hush@127.0.0.1:1/db', options).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'store_unavailable' })
    expect(String(error)).not.toContain('hush')
  })

  it('refuses anything else without repeating it', async () => {
    for (const url of ['', 'sqlite:', 'mysql://user:hush@host/db']) {
      const error = await openStore(url, options).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'config_invalid' })
      expect(String(error)).not.toContain('hush')
    }
  })
})
