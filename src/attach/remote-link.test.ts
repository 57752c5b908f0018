// The shim's link to a daemon on another machine: the address, refusals in words, and connections that died without
// one.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createRecordingLog, createTestClock } from '../testing/index.ts'
import { createAttachClient } from './attach-client.ts'
import type { LinkEvents, LinkFailure } from './frame-link.ts'
import { encodeFrame } from './frames.ts'
import { attachUrl, remoteLink } from './remote-link.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

describe('the address', () => {
  it.each([
    ['https://sb.example.com', 'wss://sb.example.com/attach'],
    ['http://127.0.0.1:4747/', 'ws://127.0.0.1:4747/attach'],
    ['wss://sb.example.com/attach/', 'wss://sb.example.com/attach'],
    ['https://example.com/behind/proxy#x', 'wss://example.com/behind/proxy/attach'],
  ])('%s is %s', (given, wanted) => expect(attachUrl(given)).toBe(wanted))

  it.each(['sb.example.com', 'ftp://sb.example.com', '', 'https://user:pass@sb.example.com'])(
    '%j is none',
    (given) => expect(() => attachUrl(given)).toThrow(/no address of a daemon|does not belong/),
  )
})

describe('what is answered instead of a connection', () => {
  async function answered(status: number, body: string): Promise<LinkFailure> {
    const server = createServer()
    server.on('upgrade', (_request, socket) =>
      socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    undo.push(() => server.close())
    return failure(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/attach`)
  }
  const failure = (url: string, token = () => 'secret-token') =>
    new Promise<LinkFailure>((resolve) => {
      let failed: LinkFailure | null = null
      remoteLink({ url, token })({
        opened: () => undefined,
        line: () => undefined,
        failed(why) {
          failed = why
        },
        closed: () => failed && resolve(failed),
      })
    })

  it.each([
    [
      401,
      '{"error":"this token was revoked","hint":"mint another"}',
      'refused',
      'this token was revoked (mint another)',
    ],
    [503, '{"error":"the daemon is shutting down"}', 'broken', 'the daemon is shutting down'],
    [404, '<html>', 'refused', 'HTTP 404 is no answer of a Switchboard at this address'],
    [302, '', 'refused', 'HTTP 302 is no answer of a Switchboard at this address'],
    [502, 'bad gateway', 'broken', 'HTTP 502 is no answer of a Switchboard at this address'],
  ])('%i %s is told as it is', async (status, body, kind, problem) => {
    expect(await answered(status, body)).toEqual({ kind, problem })
  })

  it('nobody there, or no token to show, are told without the token', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const url = `ws://127.0.0.1:${port}/attach`
    expect(await failure(url)).toEqual({
      kind: 'absent',
      problem: `no daemon answers at 127.0.0.1:${port} (ECONNREFUSED)`,
    })
    const none = () => {
      throw new Error('no token can be read')
    }
    expect(await failure(url, none)).toEqual({ kind: 'refused', problem: 'no token can be read' })
  })
})

describe('the shim', () => {
  function shim() {
    const clock = createTestClock()
    const links: { events: LinkEvents; destroyed: boolean }[] = []
    const client = createAttachClient(
      {
        agent: 'kate',
        dialect: 'claude',
        routingKey: null,
        shim: 'shim-1',
        open(events) {
          const link = { events, destroyed: false }
          links.push(link)
          return {
            send: () => undefined,
            end: () => undefined,
            destroy() {
              link.destroyed = true
              events.closed()
            },
          }
        },
      },
      {
        clock,
        log: createRecordingLog(),
        deliver: async () => undefined,
        verdict: async () => undefined,
        revive: () => undefined,
      },
    )
    client.start()
    undo.push(() => client.stop())
    return { clock, client, links }
  }
  const WELCOME = encodeFrame({ t: 'welcome', v: 1, permission: true, version: '1' })

  it('finds a line that died without a word, and connects anew', async () => {
    const { clock, client, links } = shim()
    links[0]?.events.opened()
    links[0]?.events.line(WELCOME)
    for (let pings = 0; pings < 4; pings++) {
      await clock.advance(15_000)
      links[0]?.events.line(encodeFrame({ t: 'ping' }))
    }
    expect(client.problem()).toBeNull()
    await clock.advance(45_000)
    expect(links[0]?.destroyed).toBe(true)
    expect(client.problem()).toMatch(/went away|silent/)
    await clock.advance(100)
    links[1]?.events.line(WELCOME)
    expect(client.problem()).toBeNull()
  })

  it('does not knock every second where its token was refused, says why at once, and comes back when it may', async () => {
    const { clock, client, links } = shim()
    links[0]?.events.failed({ kind: 'refused', problem: 'this token has expired' })
    links[0]?.events.closed()
    expect(await client.call('reply', {}, 'k')).toMatchObject({
      isError: true,
      text: 'The gateway refused this host: this token has expired',
    })
    await clock.advance(14_000)
    expect(links).toHaveLength(1)
    await clock.advance(1_000)
    expect(links).toHaveLength(2)
    links[1]?.events.line(WELCOME)
    expect(client.problem()).toBeNull()
  })
})
