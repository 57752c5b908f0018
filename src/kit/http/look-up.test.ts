// Names with dead name servers: any number of them takes one thread, and other names still resolve.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../../testing/test-clock.ts'
import { createGuardedFetch } from './guarded-fetch.ts'
import { createLookUp, lookUp } from './look-up.ts'

const FOUND = [{ address: '192.0.2.1', family: 4 }]

/** Names that begin with `dead` are never answered. Names that begin with `sly` are answered only without a thread. */
function opened() {
  const clock = createTestClock()
  const threads: string[] = []
  const asked: string[] = []
  const held = new Map<string, (found: typeof FOUND) => void>()
  const find = createLookUp({
    after: clock.after,
    answers: async (host) => {
      asked.push(host)
      return !host.startsWith('dead')
    },
    async system(host) {
      threads.push(host)
      if (!/^(dead|sly)/.test(host)) return FOUND
      return new Promise((resolve) => held.set(host, resolve))
    },
  })
  const end = async (host: string) => {
    held.get(host)?.(FOUND)
    await clock.settle()
  }
  return { clock, find, threads, asked, end }
}

describe('look-ups', () => {
  it('[I9.dead-names] names that do not answer take one thread between them, and delay no other name', async () => {
    const { clock, find, threads, end } = opened()
    const first = find('dead1.example')
    await clock.settle()
    for (const host of ['dead2.example', 'dead3.example'])
      await expect(find(host)).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(await find('quick.example')).toBe(FOUND)
    expect(threads).toEqual(['dead1.example', 'quick.example'])
    await end('dead1.example')
    expect(await first).toBe(FOUND)
    const second = find('dead2.example')
    await clock.settle()
    await end('dead2.example')
    expect(await second).toBe(FOUND)
  })

  it('a name is looked up once, however many wait for it', async () => {
    const { clock, find, threads, end } = opened()
    const all = [find('dead.example'), find('dead.example'), find('dead.example')]
    await clock.settle()
    expect(threads).toEqual(['dead.example'])
    await end('dead.example')
    expect(await Promise.all(all)).toEqual([FOUND, FOUND, FOUND])
  })

  it('one that was slow goes the narrow way from then on, until it is quick again', async () => {
    const { clock, find, threads, end, asked } = opened()
    const slow = find('sly.example')
    await clock.advance(3_000)
    await end('sly.example')
    await slow
    const dead = find('dead.example')
    await clock.settle()
    await expect(find('sly.example')).rejects.toMatchObject({ code: 'platform_unavailable' })
    await end('dead.example')
    await dead
    const again = find('sly.example')
    await clock.settle()
    await end('sly.example')
    await again
    asked.length = 0
    expect([threads.filter((host) => host === 'sly.example').length, asked]).toEqual([2, []])
  })

  it('one that was quick is not asked for twice', async () => {
    const { find, asked } = opened()
    await find('quick.example')
    await find('quick.example')
    expect(asked).toEqual(['quick.example'])
  })

  it('the names of this machine are found as ever', async () => {
    const found = await lookUp('localhost')
    expect(found.every(({ address }) => address === '127.0.0.1' || address === '::1')).toBe(true)
  })

  it('no room is told by the guard as what may be tried again, without the name', async () => {
    const { clock, find } = opened()
    void find('dead1.example')
    await clock.settle()
    const fetch = createGuardedFetch({ clock, resolve: find })
    const limits = { timeoutMs: 1_000, maxResponseBytes: 10, allowPrivate: false, allowHttp: false }
    const error = await fetch({ url: 'https://dead2.example/', method: 'GET', ...limits }).catch((e) => e)
    expect(error).toMatchObject({ code: 'platform_unavailable' })
    expect(error.message).toBe('the host name of the URL is slow to resolve')
  })
})
