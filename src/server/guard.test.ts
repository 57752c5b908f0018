// Access control: Host and Origin, the admin token, public addresses, the control socket, files.
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer as createNetServer, type Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Principal, SwitchboardError } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { type Opened, openServer, TOKEN, talk } from './fixtures/open-server.ts'
import { probeProxies } from './probe-proxies.ts'

let open: Opened | null = null
let folder = ''
const opened = async (...how: Parameters<typeof openServer>): Promise<Opened> => {
  open = await openServer(...how)
  return open
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sb-'))
})
afterEach(async () => {
  await open?.server.close({ graceMs: 100 })
  open = null
  await rm(folder, { recursive: true, force: true })
})

const get = (path: string, host: string, more = '', method = 'GET') =>
  `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${more}\r\n`
const status = (answer: string) => Number(answer.slice(9, 12))

/** A proxy that changes the head of each connection's first request, and nothing else. */
async function proxyTo(target: number, change: (head: string) => string) {
  const server: NetServer = createNetServer((socket) => {
    const behind = connect(target, '127.0.0.1')
    socket.once('data', (bytes) => behind.write(change(bytes.toString('latin1'))))
    behind.pipe(socket)
    for (const one of [socket, behind]) one.on('error', () => {})
    socket.on('close', () => behind.destroy())
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  return { server, port }
}

describe('browsers', () => {
  const pages = ['/', '/chat', '/chat/x', '/events', '/api/status', '/assets/x.js']

  it('[I3.dns-rebinding] a Host that is not ours is refused on every page and API', async () => {
    const { raw } = await opened()
    for (const path of pages) {
      for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:80']) {
        expect([
          path,
          host,
          status(await raw(get(path, host, `authorization: Bearer ${TOKEN}\r\n`))),
        ]).toEqual([path, host, 403])
      }
    }
    for (const host of ['localhost', '127.0.0.1:4747', '[::1]:1', 'sb.example.com', 'sb.example.com:443']) {
      expect([
        host,
        status(await raw(get('/api/status', host, `authorization: Bearer ${TOKEN}\r\n`))),
      ]).toEqual([host, 200])
    }
  })

  it('[I14.host-malformed] what is no host at all is refused at every door, also without a public URL', async () => {
    const settings = () => ({ maxBodyBytes: 1_000, publicUrl: null })
    const { raw } = await opened({ settings })
    const malformed = [
      '',
      'a b',
      'localhost:999999',
      'localhost:x',
      '[::1',
      '[zz]',
      'a@localhost',
      'a/b',
      '<x>',
      '::1',
    ]
    for (const path of [...pages, '/hooks/demo', '/metrics', '/callback/x', '/inbox/x', '/healthz', '/mcp']) {
      for (const host of malformed) {
        const answer = await raw(get(path, host, `authorization: Bearer ${TOKEN}\r\n`))
        expect([path, host, status(answer)]).toEqual([path, host, 400])
      }
    }
  })

  it('[I14.host-once] two Host or Authorization headers are refused at every door, in whatever order or case', async () => {
    const attach = { admit: () => Promise.reject(new SwitchboardError('internal', 'asked')) }
    const { raw, calls } = await opened({ attach })
    const right = `authorization: Bearer ${TOKEN}\r\n`
    const twice = [
      [get('', 'localhost', `Host: evil.example\r\n${right}`), 'another name'],
      [get('', 'localhost', `host: localhost\r\n${right}`), 'the same name'],
      [get('', 'localhost', `${right}Authorization: Bearer x\r\n`), 'another bearer'],
      [get('', 'localhost', `AUTHORIZATION: Basic eA==\r\n${right}`), 'another form'],
    ]
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n'
    for (const path of [...pages, '/hooks/demo', '/metrics', '/callback/x', '/healthz', '/mcp', '/attach']) {
      for (const [head = '', what] of twice) {
        const bytes = head.replace('GET ', `GET ${path}`)
        expect([path, what, status(await raw(bytes))]).toEqual([path, what, 400])
        if (path !== '/attach') continue
        const socket = bytes.replace('connection: close\r\n', upgrade)
        expect([path, what, status(await raw(socket))]).toEqual([path, what, 400])
      }
    }
    expect(calls).toEqual([])
  })

  it('[I14.metrics-host] /metrics is asked under our own names only', async () => {
    const { raw } = await opened({ settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }) })
    const right = `authorization: Bearer ${TOKEN}\r\n`
    expect(status(await raw(get('/metrics', 'evil.example', right)))).toBe(403)
    expect(status(await raw(get('/metrics', 'localhost', right)))).toBe(200)
  })

  it('[I14.forwarded-not-near] [I35.b39] whoever came through a proxy is not near, and with a public URL nobody is', async () => {
    const settings = (publicUrl: string | null) => ({ settings: () => ({ maxBodyBytes: 1_000, publicUrl }) })
    const own = () => `localhost:${open?.port}`
    const near = async (host: string, more = '') =>
      /"near":true/.test((await open?.raw(get('/hooks/demo', host, more))) ?? '')
    const metrics = async (more = '') => status((await open?.raw(get('/metrics', own(), more))) ?? '')
    await opened(settings(null))
    expect([await near(own()), await near(`127.0.0.1:${open?.port}`), await metrics()]).toEqual([
      true,
      true,
      200,
    ])
    expect(await near('rebound.example')).toBe(false)
    const added = [
      'Via',
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-Proto',
      'X-Forwarded-Host',
      'X-Forwarded-Whatever',
    ]
    for (const name of [...added, 'CF-Connecting-IP', 'X-Real-IP', 'x-forwarded-for', 'VIA']) {
      expect([name, await near(own(), `${name}: x\r\n`), await metrics(`${name}: \r\n`)]).toEqual([
        name,
        false,
        401,
      ])
    }
    await open?.server.close({ graceMs: 100 })
    await opened(settings('https://sb.example.com'))
    expect([await near(own()), await metrics()]).toEqual([false, 401])
    await open?.server.close({ graceMs: 100 })
    // It names this machine, so nothing is public.
    await opened(settings('http://127.0.0.1:4747'))
    expect([await near(own()), await near(own(), 'via: x\r\n')]).toEqual([true, false])
  })

  it('[I35.b39] a Host with another port, HTTP/1.0 and a page of another name are not this machine', async () => {
    await opened({ settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }) })
    const own = `127.0.0.1:${open?.port}`
    const ask = async (bytes: string) => ((await open?.raw(bytes)) ?? '').split('\r\n\r\n')[1] ?? ''
    const near = async (bytes: string) => /"near":true/.test(await ask(bytes))
    expect(await near(get('/hooks/demo', own))).toBe(true)
    expect(await near(get('/hooks/demo', own, `origin: http://${own}\r\n`))).toBe(true)
    const doubtful = {
      'no port': get('/hooks/demo', '127.0.0.1'),
      'another port': get('/hooks/demo', '127.0.0.1:1'),
      'a name of ours in the wrong place': get('/hooks/demo', `${own}.evil.example`),
      'as nginx asks unless told otherwise': get('/hooks/demo', own).replace('HTTP/1.1', 'HTTP/1.0'),
      'a page under another name': get('/hooks/demo', own, 'origin: https://sb.example.com\r\n'),
      'a link on such a page': get('/hooks/demo', own, 'referer: https://sb.example.com/x\r\n'),
    }
    for (const [what, bytes] of Object.entries(doubtful)) {
      expect([what, await near(bytes)]).toEqual([what, false])
      const scrape = await open?.raw(bytes.replace('/hooks/demo', '/metrics'))
      expect([what, [400, 401, 403].includes(status(scrape ?? ''))]).toEqual([what, true])
    }
    const marks = [
      'X-Original-URL',
      'X-Envoy-Peer-Metadata',
      'X-Amzn-Trace-Id',
      'Proxy-Connection',
      'X-Real-Port',
      'X-Varnish',
      'Surrogate-Capability',
      'WL-Proxy-Client-IP',
      'Client-IP',
      'DO-Connecting-IP',
      'X-Originating-IP',
      'X-SSL-Client-Verify',
    ]
    for (const name of marks)
      expect([name, await near(get('/hooks/demo', own, `${name}: x\r\n`))]).toEqual([name, false])
  })

  it('[I35.b39] the probe finds a proxy that hides its visitors, and none that names them', async () => {
    const clock = {
      after: (ms: number, run: () => void) => {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
    }
    await opened({ settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }), probeKey: 'key-of-this-run' })
    const target = open?.port ?? 0
    const hiding = await proxyTo(target, (head) => head.replace(/^host:.*$/im, `Host: 127.0.0.1:${target}`))
    const naming = await proxyTo(target, (head) =>
      head.replace(/^host:.*$/im, `Host: 127.0.0.1:${target}\r\nX-Forwarded-For: 192.0.2.1`),
    )
    // HAProxy with its defaults, or a tunnel: a visitor can send our Host.
    const passing = await proxyTo(target, (head) => head)
    const silent = createNetServer(() => {})
    const silentPort = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port))
    })
    const places = [hiding.port, passing.port, naming.port, silentPort, target].map((port) => ({
      host: '127.0.0.1',
      port,
      tls: false,
    }))
    const probe = { clock, places, ownPort: target, timeoutMs: 300 }
    expect(await probeProxies({ ...probe, key: 'key-of-this-run' })).toEqual([
      `http://127.0.0.1:${hiding.port}`,
      `http://127.0.0.1:${passing.port}`,
    ])
    // Others do not get the result.
    expect(await probeProxies({ ...probe, key: 'a guess' })).toEqual([])
    for (const server of [hiding.server, passing.server, naming.server, silent]) server.close()
  })

  it('[I3.foreign-origin] a change from a page of another site is refused', async () => {
    const { raw, calls } = await opened()
    const change = (more: string) =>
      raw(get('/api/reload', 'localhost:1', `authorization: Bearer ${TOKEN}\r\n${more}`, 'POST')).then(status)
    for (const more of [
      'origin: https://evil.example\r\n',
      'origin: http://localhost:2\r\n',
      'origin: null\r\n',
      'origin: file://\r\n',
      'sec-fetch-site: cross-site\r\n',
      'sec-fetch-site: same-site\r\n',
    ]) {
      expect([more, await change(more)]).toEqual([more, 403])
    }
    expect(calls).toEqual([])
    for (const more of [
      '',
      'origin: http://localhost:1\r\n',
      'origin: https://sb.example.com\r\nsec-fetch-site: same-origin\r\n',
    ]) {
      expect([more, await change(more)]).toEqual([more, 200])
    }
    expect(status(await raw(get('/chat', 'localhost', 'origin: https://evil.example\r\n', 'POST')))).toBe(403)
  })

  it('pages and API carry the security headers', async () => {
    const { fetch } = await opened()
    for (const path of ['/chat', '/api/status', '/nothing']) {
      const { headers } = await fetch(path)
      expect(headers.get('content-security-policy')).toContain("default-src 'self'")
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        'nosniff',
        'no-referrer',
      ])
    }
  })

  it('[S14.http-console] / is the console; assets are served for good, and nothing beside them', async () => {
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'assets', 'app-1a2b.js'), 'let x')
    await writeFile(join(folder, 'secret.txt'), 'no')
    const { fetch, raw } = await opened({ webRoot: folder })
    await writeFile(join(folder, 'console.html'), 'the console')
    const home = await fetch('/')
    expect([home.status, await home.text()]).toEqual([200, 'the console'])
    expect(home.headers.get('content-type')).toContain('text/html')
    const asset = await fetch('/assets/app-1a2b.js')
    expect([asset.status, await asset.text()]).toEqual([200, 'let x'])
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect(asset.headers.get('content-type')).toContain('javascript')
    for (const path of [
      '/assets/../secret.txt',
      '/assets/..%2fsecret.txt',
      '/assets/%2e%2e/secret.txt',
      '/assets//etc/passwd',
      '/assets/none.js',
      '/assets/',
      '/assets/app-1a2b.js%00',
    ]) {
      expect([path, status(await raw(get(path, 'localhost')))]).toEqual([path, 404])
    }
  })
})

describe('the admin token', () => {
  it('[S14.http-api] [S16.401] /api and /events need it', async () => {
    const { fetch, calls } = await opened()
    for (const path of ['/api/status', '/api/nothing', '/events', '/api/openapi.json']) {
      for (const authorization of ['', 'Bearer nope', `Basic ${TOKEN}`, TOKEN, 'Bearer ']) {
        const response = await fetch(path, { headers: { authorization } })
        expect([path, authorization, response.status]).toEqual([path, authorization, 401])
        expect(response.headers.get('www-authenticate')).toContain('Bearer')
      }
    }
    expect(calls).toEqual([])
  })

  it('a good token for something else is 403', async () => {
    const { fetch } = await opened({ authenticate: async () => ({ kind: 'agent', id: 'kate' }) })
    for (const path of ['/api/status', '/events']) {
      expect((await fetch(path, { headers: { authorization: 'Bearer x' } })).status).toBe(403)
    }
  })

  it('[S1.authorize-one] a stream ends with the token that opened it, and not because the store is away', async () => {
    const clock = createTestClock()
    let answer: () => Promise<Principal | null> = async () => ({ kind: 'operator', id: 'admin' })
    const { fetch } = await opened({ clock, authenticate: () => answer() })
    const stream = await fetch('/events', { headers: { authorization: 'Bearer x' } })
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
    const next = async () => Buffer.from((await reader.read()).value ?? []).toString()
    expect(await next()).toBe(': connected\n\n')
    answer = () => Promise.reject(new SwitchboardError('store_unavailable', 'away'))
    await clock.advance(15_000)
    expect(await next()).toBe(': alive\n\n')
    answer = async () => null
    await clock.advance(15_000)
    expect(await next()).toBe(': alive\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  it('[S14.public-needs-token] refuses a public address without one', async () => {
    const tcp = { host: '0.0.0.0', port: 0 }
    await expect(openServer({}, { tcp })).rejects.toMatchObject({
      code: 'config_invalid',
      hint: expect.any(String),
    })
    await expect(openServer({}, { tcp: { host: '::', port: 0 } })).rejects.toMatchObject({
      code: 'config_invalid',
    })
    const { fetch } = await opened({ adminTokenConfigured: () => true }, { tcp })
    expect((await fetch('/healthz')).status).toBe(200)
  })
})

describe('the control socket', () => {
  it('needs no token, is the owner’s alone, and asks as the command line', async () => {
    const path = join(folder, 'run', 'control.sock')
    const { calls } = await opened({}, { socketPath: path })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700)
    expect(status(await talk({ path }, get('/api/status', 'whatever')))).toBe(200)
    const body = '{"behavior":"allow"}'
    const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
    await talk({ path }, get('/api/approvals/abcde/decide', 'localhost', headers, 'POST') + body)
    const decided = { id: 'abcde', behavior: 'allow', cause: 'person', by: 'local', via: 'cli' }
    expect(calls.at(-1)).toEqual(['decide', decided])
  })

  it('a socket left behind is replaced; a live one and a plain file are not', async () => {
    const path = join(folder, 'c.sock')
    const left = createNetServer().listen(path)
    await new Promise((resolve) => left.once('listening', resolve))
    await expect(openServer({}, { tcp: null, socketPath: path })).rejects.toMatchObject({
      code: 'data_folder_held',
    })
    await new Promise((resolve) => left.close(resolve))
    const { server } = await opened({}, { socketPath: path })
    expect(status(await talk({ path }, get('/healthz', 'x')))).toBe(200)
    await server.close({ graceMs: 100 })
    await writeFile(path, 'mine')
    await expect(openServer({}, { tcp: null, socketPath: path })).rejects.toMatchObject({
      code: 'config_invalid',
    })
    expect(await readFile(path, 'utf8')).toBe('mine')
    await expect(
      openServer({}, { tcp: null, socketPath: join(folder, 'x'.repeat(120)) }),
    ).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })
})
