// Posting to a peer's URL: redirects, limits of time and size, and errors without the URL.
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { SwitchboardError } from '../../contract/index.ts'
import { createGuardedFetch } from '../http/guarded-fetch.ts'
import { postChorus } from './post.ts'

const clock = {
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}
const fetch = createGuardedFetch({ clock })
const servers: Server[] = []

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox/sk_planted`
}
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const to = (url: string, more = {}) =>
  postChorus({ url, body: { a: 1 }, whom: 'the agent', allowPrivate: true, now: 0, ...more }, fetch)
const failure = (work: Promise<void>) =>
  work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: SwitchboardError) => error,
  )

describe('postChorus', () => {
  it('[S8.ssrf-redirects] follows no redirect', async () => {
    let asked = 0
    const url = await serve((_, response) => {
      asked += 1
      response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
    })
    expect(await failure(to(url))).toMatchObject({
      code: 'platform_rejected',
      message: 'the agent answered 307',
    })
    expect(asked).toBe(1)
  })

  it('[S8.ssrf-addresses] refuses loopback and plain http unless allowed', async () => {
    const url = await serve((_, response) => response.end())
    await to(url)
    for (const closed of [url, url.replace('http:', 'https:')]) {
      const error = await failure(to(closed, { allowPrivate: false }))
      expect(error).toMatchObject({ code: 'forbidden' })
      expect(error.message + error.stack).not.toContain('sk_planted')
    }
  })

  it('[S8.ssrf-limits] waits no longer and reads no more than it should', async () => {
    const silent = await serve(() => undefined)
    expect(await failure(to(silent, { timeoutMs: 2_000 }))).toMatchObject({ code: 'outcome_unknown' })
    const endless = await serve((_, response) => {
      response.writeHead(200)
      const write = () => {
        if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(write)
        else response.once('drain', write)
      }
      write()
    })
    await to(endless)
  })

  it('[S8.handed-2xx] a receipt whose body stays open is a receipt, and a refusal a refusal', async () => {
    const held = (status: number) => serve((_, response) => void response.writeHead(status).write('x'))
    await to(await held(200))
    expect(await failure(to(await held(503)))).toMatchObject({ code: 'platform_unavailable' })
  })

  it('a key that no header can carry is left out, and the rest goes', async () => {
    const keys: unknown[] = []
    const url = await serve((request, response) => {
      keys.push(request.headers['idempotency-key'])
      response.end()
    })
    for (const idempotencyKey of ['msg_1 (2)', 'メッセージ', 'émile', 'a\nb', 'x'.repeat(513), '']) {
      await to(url, { idempotencyKey })
    }
    expect(keys).toEqual(['msg_1 (2)', undefined, undefined, undefined, undefined, undefined])
  })

  it('[S8.urls-not-logged] names neither URL nor what the peer said', async () => {
    for (const status of [400, 404, 429, 500]) {
      const url = await serve((_, response) => response.writeHead(status).end('sk_planted'))
      const error = await failure(to(url))
      expect(error.message).toBe(`the agent answered ${status}`)
      expect(error.stack).not.toContain('sk_planted')
    }
  })
})
