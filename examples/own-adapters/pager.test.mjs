// Runs the platform suite on the pager.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { deliverTo, describePlatform, testPlatformDeps } from 'switchboard/testing'
import { createPager } from './pager.mjs'

const TOKEN = 'planted-pager-token'

describePlatform(
  'pager',
  async ({ fault }) => {
    const shown = new Map()
    const pages = []
    const pager = createServer(async (request, response) => {
      if (fault === 'silent') return
      if (fault === 'down') return response.writeHead(503).end()
      if (fault === 'rejects') return response.writeHead(400).end()
      if (fault === 'busy') return response.writeHead(429, { 'retry-after': '2' }).end()
      const key = request.headers['idempotency-key']
      shown.set(key, 1)
      pages.push((await json(request)).text)
      response.end('paged')
    })
    await new Promise((resolve) => pager.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${pager.address().port}/`
    const given = { options: { token: 'env:TOKEN', url }, secrets: { 'env:TOKEN': TOKEN } }
    const deps = testPlatformDeps(given)
    const clock = { ...deps.clock, after: (ms, run) => later(ms, run) }
    const adapter = createPager({ ...deps, clock }, { timeoutMs: 200 })
    const post = (body, token = TOKEN) => ({
      method: 'POST',
      path: '',
      query: new URLSearchParams(),
      headers: { 'x-pager-token': token },
      body: Buffer.from(body),
      fromLoopback: true,
    })
    const deliver = (name, ...request) => ({
      name,
      deliver: () => deliverTo(adapter.endpoint, post(...request)),
    })
    return {
      adapter,
      inbound: [deliver('a page', '{"id":"1","from":"kate","text":"the disk is full"}')],
      malformed: [deliver('no JSON', '{'), deliver('no text', '{"id":"2","from":"kate"}')],
      unverified: [deliver('no token', '{}', ''), deliver('another token', '{}', 'guess')],
      address: { integration: 'test', conversation: 'kate' },
      shown: async (key) => shown.get(key) ?? 0,
      reads: async () => pages.at(-1),
      planted: [TOKEN],
      logLines: () => deps.log.lines,
      async close() {
        pager.closeAllConnections()
        await new Promise((resolve) => pager.close(resolve))
      },
    }
  },
  {
    faults: ['down', 'silent', 'rejects', 'busy'],
    without: { history: 'a page that was answered stands nowhere: the pager posts again until it is' },
  },
)

function later(ms, run) {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
