// The fault proxy: what a client and a server see of each fault, over HTTP and over a line protocol.
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createFaultProxy, type FaultProxy, type ProxyFault } from './fault-proxy.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function open() {
  const bodies: string[] = []
  const server = createServer(async (asked, answer) => {
    let body = ''
    for await (const chunk of asked) body += String(chunk)
    bodies.push(body)
    answer.setHeader('x-real', 'yes').end('x'.repeat(1_000))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy = await createFaultProxy({ port: (server.address() as AddressInfo).port })
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
    () => proxy.stop(),
  )
  return { bodies, proxy }
}

/** Returns the status and length of an answer, or the reason for no answer. */
function post(proxy: FaultProxy, body: string, giveUpMs = 400): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(proxy.url, { method: 'POST', agent: false }, (answer) => {
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      answer.on('error', () => resolve(`${answer.statusCode} cut at ${size}`))
      answer.on('end', () => resolve(`${answer.statusCode} ${size}`))
    })
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    asked.setTimeout(giveUpMs, () => {
      resolve('silence')
      asked.destroy()
    })
    asked.end(body)
  })
}

describe('[I35.a1] the fault proxy', () => {
  it('passes everything while nothing is wrong', async () => {
    const { bodies, proxy } = await open()
    expect(await post(proxy, 'hello')).toBe('200 1000')
    expect(bodies).toEqual(['hello'])
    expect(proxy.fired).toBe(0)
  })

  it.each([
    ['refuse', {}, 'ECONNREFUSED', 0],
    ['silent', {}, 'silence', 0],
    ['half-open', {}, 'silence', 1],
    ['reset-before', {}, 'ECONNRESET', 0],
    ['reset-after', {}, 'ECONNRESET', 1],
    ['cut-header', {}, 'ECONNRESET', 1],
    ['cut-body', {}, '200 cut at 1', 1],
    ['status', { status: 502 }, '502 29', 0],
    ['status', { status: 429, retryAfter: 1 }, '429 29', 0],
    ['status', { status: 504, done: true }, '504 29', 1],
  ] as const)(
    '%s %o: the client sees %s, the server %i requests; then it heals',
    async (kind, more, seen, reached) => {
      const { bodies, proxy } = await open()
      await proxy.fail({ kind, ...more } as ProxyFault)
      expect(await post(proxy, 'a')).toBe(seen)
      expect(bodies).toHaveLength(reached)
      await proxy.heal()
      expect(await post(proxy, 'b')).toBe('200 1000')
      expect(bodies.at(-1)).toBe('b')
    },
  )

  it('[I35.a0-ports] refuse: no other process gets its port, so that it can heal', async () => {
    const { proxy } = await open()
    await proxy.fail({ kind: 'refuse' })
    // Opens one free port after another. The kernel must never give this one.
    const given = new Set<number>()
    for (let tries = 0; tries < 40_000 && !given.has(proxy.port); tries++) {
      const server = createTcpServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      given.add((server.address() as AddressInfo).port)
      await new Promise((resolve) => server.close(resolve))
    }
    expect(given.has(proxy.port)).toBe(false)
    await proxy.heal()
    expect(await post(proxy, 'b')).toBe('200 1000')
  })

  it('slow: the answer comes byte by byte', async () => {
    const { bodies, proxy } = await open()
    await proxy.fail({ kind: 'slow', byteEveryMs: 10 })
    const answer = await new Promise<number>((resolve) => {
      let size = 0
      const socket = connect(proxy.port, '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
      )
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size < 5) return
        socket.destroy()
        resolve(chunk.length)
      })
    })
    expect(bodies).toHaveLength(1)
    expect(answer).toBe(1)
  })

  it('matches the client’s bytes, a limited number of times, on a connection that stays open', async () => {
    const heard: string[] = []
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        heard.push(String(chunk).trim())
        socket.write('250 ok\r\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const proxy = await createFaultProxy({ port: (server.address() as AddressInfo).port })
    closers.push(
      () => server.close(),
      () => proxy.stop(),
    )
    await proxy.fail({ kind: 'reset-after', on: /^DATA/m, times: 1 })
    const talk = (lines: readonly string[]) =>
      new Promise<readonly string[]>((resolve) => {
        const socket = connect(proxy.port, '127.0.0.1')
        const answers: string[] = []
        const next = () => {
          const line = lines[answers.length]
          if (line === undefined) socket.destroy()
          else socket.write(`${line}\r\n`)
        }
        socket.on('connect', next)
        socket.on('data', (chunk) => {
          answers.push(String(chunk).trim())
          next()
        })
        socket.on('error', (error: NodeJS.ErrnoException) => answers.push(error.code ?? ''))
        socket.on('close', () => resolve(answers))
      })
    expect(await talk(['HELO', 'DATA', 'QUIT'])).toEqual(['250 ok', 'ECONNRESET'])
    expect(heard).toEqual(['HELO', 'DATA'])
    expect(await talk(['HELO', 'DATA', 'QUIT'])).toEqual(['250 ok', '250 ok', '250 ok'])
    expect(proxy.fired).toBe(1)
  })

  /** A server that speaks first. It sends one word every 20 ms. */
  async function openPushing(words: readonly string[]) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      const timers = words.map((word, at) => setTimeout(() => socket.write(word), at * 20))
      socket.on('close', () => timers.forEach(clearTimeout))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const proxy = await createFaultProxy({ port: (server.address() as AddressInfo).port })
    closers.push(
      () => server.close(),
      () => proxy.stop(),
    )
    return proxy
  }

  const WHOLE = 'hello one two three'

  /** Collects what arrives until all is there, the connection ends, or a fault has held it for a moment. */
  function listenTo(proxy: FaultProxy): Promise<string> {
    return new Promise((resolve) => {
      let said = ''
      const socket = connect(proxy.port, '127.0.0.1')
      const look = setInterval(() => proxy.fired > 0 && said === '' && socket.destroy(), 100)
      socket.on('data', (chunk) => {
        said += String(chunk)
        if (said === WHOLE) socket.destroy()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearInterval(look)
        resolve(said)
      })
    })
  }

  it.each(['silent', 'half-open', 'reset-before', 'cut-body', 'status'] as const)(
    '%s begins, or does not, with what a server says first',
    async (kind) => {
      const proxy = await openPushing(['hello ', 'one ', 'two ', 'three'])
      await proxy.fail({ kind })
      const heard = await listenTo(proxy)
      expect(proxy.fired).toBe(kind === 'status' ? 0 : 1)
      if (kind === 'status') expect(heard).toBe(WHOLE)
      else if (kind === 'cut-body')
        expect(WHOLE.startsWith(heard) && heard !== '' && heard !== WHOLE).toBe(true)
      else expect(heard).toBe('')
    },
  )

  it('begins within a frame that the server pushes, a limited number of times', async () => {
    const proxy = await openPushing(['hello ', 'one ', 'two ', 'three'])
    await proxy.fail({ kind: 'cut-body', onAnswer: /two/, times: 1 })
    const heard = await listenTo(proxy)
    expect(WHOLE.startsWith(heard) && heard !== '' && heard !== WHOLE).toBe(true)
    expect(await listenTo(proxy)).toBe(WHOLE)
    expect(proxy.fired).toBe(1)
  })
})
