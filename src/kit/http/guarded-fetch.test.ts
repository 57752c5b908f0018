// The guard of foreign URLs: addresses, names that resolve to private ones, limits, and errors without the URL.
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createGuardedFetch, type GuardedRequest } from './guarded-fetch.ts'
import { mayConnect } from './public-address.ts'

const clock = {
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}
const fetchGuarded = createGuardedFetch({ clock })

const servers: Server[] = []
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

function post(url: string, more: Partial<GuardedRequest> = {}): GuardedRequest {
  const defaults = { timeoutMs: 2000, maxResponseBytes: 1000, allowPrivate: true, allowHttp: false } as const
  return { url, method: 'POST', body: 'x', ...defaults, ...more }
}

async function failure(request: GuardedRequest, fetch = fetchGuarded): Promise<SwitchboardError> {
  return fetch(request).then(
    () => Promise.reject(new Error('it should have failed')),
    (error: SwitchboardError) => error,
  )
}

describe('mayConnect', () => {
  it('private, loopback, link-local and embedded addresses are closed', () => {
    const closed = [
      ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0.0.0.0'],
      ...[
        '224.0.0.1',
        '255.255.255.255',
        '198.18.0.1',
        '::',
        '::1',
        'fe80::1',
        'fe80::1%eth0',
        'fd00::1',
        'fc00::1',
      ],
      ...[
        'ff02::1',
        '::ffff:127.0.0.1',
        '::ffff:7f00:1',
        '0:0:0:0:0:ffff:10.0.0.1',
        '64:ff9b::7f00:1',
        '2002:7f00:1::',
      ],
      ...['2001:0:1::1', '2001:db8::1', 'fd00:ec2::254', 'not an address', ''],
    ]
    for (const address of closed) expect([address, mayConnect(address, false)]).toEqual([address, false])
    for (const address of ['1.1.1.1', '8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8']) {
      expect([address, mayConnect(address, false)]).toEqual([address, true])
    }
  })

  it('allowPrivate opens our own networks, never link-local or metadata', () => {
    for (const address of ['127.0.0.1', '10.1.2.3', '::1', 'fd00::1', '::ffff:127.0.0.1']) {
      expect([address, mayConnect(address, true)]).toEqual([address, true])
    }
    for (const address of ['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '0.0.0.0', '224.0.0.1']) {
      expect([address, mayConnect(address, true)]).toEqual([address, false])
    }
  })
})

describe('guarded fetch', () => {
  it('posts and answers, redirects unfollowed', async () => {
    const port = await serve((request, response) => {
      response.writeHead(302, { location: '/elsewhere', 'x-method': request.method ?? '' })
      request.pipe(response)
    })
    const answer = await fetchGuarded(post(`http://127.0.0.1:${port}/`, { body: 'echo' }))
    expect([answer.status, answer.body.toString(), answer.headers['x-method']]).toEqual([302, 'echo', 'POST'])
  })

  it('refuses spellings of loopback without allowPrivate', async () => {
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
      const error = await failure(post(`https://${host}/secret-path`, { allowPrivate: false }))
      expect([host, error.code]).toEqual([host, 'forbidden'])
      expect(error.message).not.toContain('secret-path')
    }
  })

  it('a name with one closed address is closed, and the checked address is the one connected to', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    const answers = [[{ address: '127.0.0.1', family: 4 }], [{ address: '169.254.169.254', family: 4 }]]
    let asked = 0
    const rebinding = createGuardedFetch({ clock, resolve: async () => answers[asked++] ?? [] })
    const answer = await rebinding(post(`http://pinned.example:${port}/`))
    expect([answer.body.toString(), asked]).toEqual([`pinned.example:${port}`, 1])
    const mixed = createGuardedFetch({
      clock,
      resolve: async () => [
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    })
    expect((await failure(post('https://mixed.example/', { allowPrivate: false }), mixed)).code).toBe(
      'forbidden',
    )
  })

  it('takes no other scheme, and http only when told so', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://x/', 'nonsense', 'http://example.com/']) {
      expect((await failure(post(url, { allowPrivate: false }))).code).toBe('input_invalid')
    }
  })

  it('cuts a large response and keeps its status', async () => {
    const port = await serve((_, response) => response.end('y'.repeat(100_000)))
    const answer = await fetchGuarded(post(`http://127.0.0.1:${port}/`))
    expect([answer.status, answer.body.length, answer.truncated]).toEqual([200, 1000, true])
  })

  it('a head is an answer: a body that stays open or breaks off is only shorter', async () => {
    const open = await serve((_, response) => void response.writeHead(200).write('x'))
    const late = await fetchGuarded(post(`http://127.0.0.1:${open}/`, { timeoutMs: 2_000 }))
    expect([late.status, late.body.toString(), late.truncated]).toEqual([200, 'x', true])
    const broken = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '9' }).write('x', () => request.socket.resetAndDestroy())
    })
    const short = await fetchGuarded(post(`http://127.0.0.1:${broken}/`))
    expect([short.status, short.truncated]).toEqual([200, true])
  })

  it('resolves at the head where the body is not wanted, and lets it run out until the deadline', async () => {
    let ended = false
    const port = await serve((_, response) => {
      response.writeHead(200).write('x')
      response.on('close', () => {
        ended = true
      })
    })
    const driven = createTestClock()
    const answer = await createGuardedFetch({ clock: driven })(
      post(`http://127.0.0.1:${port}/`, { headOnly: true }),
    )
    expect([answer.status, answer.body.length, ended]).toEqual([200, 0, false])
    await driven.advance(2_000)
    await expect.poll(() => ended).toBe(true)
  })

  it('[S8.ssrf-limits] an answer that switches protocols is none, and is not waited for to the deadline', async () => {
    const switching = createSocketServer((socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
      socket.on('error', () => {}).once('data', () => socket.write(head))
    })
    await new Promise<void>((done) => switching.listen(0, '127.0.0.1', done))
    const { port } = switching.address() as AddressInfo
    // The deadline never passes, because the clock stands still.
    const error = await failure(
      post(`http://127.0.0.1:${port}/`),
      createGuardedFetch({ clock: createTestClock() }),
    )
    switching.close()
    expect(error).toMatchObject({ code: 'outcome_unknown', message: expect.stringContaining('was closed') })
  })

  it('a header that HTTP has no form for is refused, and leaves no timer behind', async () => {
    const driven = createTestClock()
    const headers = { 'x-name': '日本' }
    const error = await failure(
      post('http://127.0.0.1:1/', { headers }),
      createGuardedFetch({ clock: driven }),
    )
    expect(error).toMatchObject({ code: 'input_invalid', message: expect.stringContaining('header') })
    expect(driven.pending()).toBe(0)
  })

  it('tells what was not sent from what may have arrived, and names no URL', async () => {
    const port = await serve(() => {})
    const silent = await failure(post(`http://127.0.0.1:${port}/sk_hidden`, { timeoutMs: 2_000 }))
    expect(silent.code).toBe('outcome_unknown')
    const hangsUp = await serve((request) => request.socket.destroy())
    expect((await failure(post(`http://127.0.0.1:${hangsUp}/sk_hidden`))).code).toBe('outcome_unknown')
    servers.at(-1)?.close()
    servers.at(-1)?.closeAllConnections()
    const refused = await failure(post(`http://127.0.0.1:${hangsUp}/sk_hidden`))
    expect(refused.code).toBe('platform_unavailable')
    const unresolved = createGuardedFetch({
      clock,
      resolve: () => Promise.reject(new Error('sk_hidden.example')),
    })
    const nowhere = await failure(post('https://sk_hidden.example/'), unresolved)
    expect(nowhere.code).toBe('platform_unavailable')
    for (const error of [silent, refused, nowhere])
      expect(JSON.stringify([error.message, error.hint])).not.toContain('hidden')
  })
})

describe('aborting', () => {
  it('ends the exchange at once, before or while it waits', async () => {
    let arrived = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const port = await serve((request) => void request.resume().on('end', () => arrived()))
    const controller = new AbortController()
    const failing = failure(
      post(`http://127.0.0.1:${port}/`, { signal: controller.signal, timeoutMs: 60_000 }),
    )
    await waiting
    controller.abort()
    expect(await failing).toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('aborted'),
    })
    const never = await failure(post(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort() }))
    expect(never.code).toBe('platform_unavailable')
  })
})

describe('connections that are kept', () => {
  /** Counts the connections of a server, and records the host names of its requests. */
  async function counting() {
    const sockets = new Set<unknown>()
    const port = await serve((request, response) => {
      sockets.add(request.socket)
      response.end('ok')
    })
    return { port, sockets }
  }

  it('[I23.kept-connections] is one for requests that follow each other, and a fresh one each where nobody asked for it', async () => {
    const { port, sockets } = await counting()
    const url = `http://127.0.0.1:${port}/`
    for (let at = 0; at < 3; at++) {
      expect(await fetchGuarded(post(url, { keepAlive: true }))).toMatchObject({ status: 200 })
      // The connection is free only after the end of the answer was read.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sockets.size).toBe(1)
    for (let at = 0; at < 2; at++) await fetchGuarded(post(url))
    expect(sockets.size).toBe(3)
  })

  it('[I23.kept-connections] is used again only for the name and the addresses that it was checked for', async () => {
    const { port, sockets } = await counting()
    let addresses = [{ address: '127.0.0.1', family: 4 }]
    const fetch = createGuardedFetch({ clock, resolve: async () => addresses })
    const call = async (name: string) => {
      await fetch(post(`http://${name}:${port}/`, { keepAlive: true }))
      await new Promise((resolve) => setImmediate(resolve))
      return sockets.size
    }
    expect(await call('one.test')).toBe(1)
    expect(await call('one.test')).toBe(1)
    expect(await call('two.test')).toBe(2)
    addresses = [...addresses, { address: '::1', family: 6 }]
    expect(await call('one.test')).toBe(3)
    // The name now resolves to a closed address, so the open connection must not be used.
    addresses = [{ address: '169.254.169.254', family: 4 }]
    const error = await failure(post(`http://one.test:${port}/`, { keepAlive: true }), fetch)
    expect(error.code).toBe('forbidden')
  })

  it('[I23.kept-connections] one that its peer closed under a request is told as what it is', async () => {
    let calls = 0
    const port = await serve((request, response) => {
      if (calls++ === 0) response.end('ok')
      else request.socket.destroy()
    })
    const url = `http://127.0.0.1:${port}/`
    await fetchGuarded(post(url, { keepAlive: true }))
    await new Promise((resolve) => setImmediate(resolve))
    const error = await failure(post(url, { keepAlive: true }))
    expect(error).toMatchObject({ code: 'outcome_unknown' })
  })
})
