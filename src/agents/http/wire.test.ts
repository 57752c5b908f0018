// The connector over real sockets on loopback: the guard, a cut or endless stream, a redirect that is not followed.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ConnectorDeps } from '../../contract/index.ts'
import { delivery, startRecorded } from '../../testing/suites/connector-suite.ts'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { createHttpAgent } from './index.ts'

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => handle(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
}

const TOKENS: NonNullable<ConnectorDeps['tokens']> = {
  mint: async ({ kind }) => ({ token: `${kind}_1`, id: 'tok_1', expiresAt: null }),
  find: async () => null,
  consume: async () => null,
}

async function agentAt(url: string, more: object = {}) {
  const options = { url, allow_private: true, ...more }
  const deps = testConnectorDeps({ options }, { tokens: TOKENS, publicBase: () => 'http://127.0.0.1:1' })
  const connector = createHttpAgent(deps)
  const recorded = await startRecorded(connector)
  onTestFinished(() => connector.stop())
  return { connector, recorded, clock: deps.clock }
}

describe('over the wire', () => {
  it('[I16.http-answers] an answer arrives', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"hello"}'),
    )
    const { connector, recorded } = await agentAt(url)
    await connector.deliver(delivery('hi'))
    expect(recorded.outputs.at(-1)).toMatchObject({ kind: 'say', text: 'hello' })
  })

  it('[I16.http-cut-stream] a connection that is cut is an answer that was cut, with what came', async () => {
    const url = await serve((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: half\n\n', () => response.destroy())
    })
    const { connector, recorded } = await agentAt(url)
    await connector.deliver(delivery('hi'))
    expect(recorded.outputs.at(-1)).toMatchObject({ kind: 'failed', reason: 'answer_cut', text: 'half' })
  })

  it('[I16.http-silent-told] a stream that never ends is silence after the time-out, and its connection is closed', async () => {
    let closed = false
    const url = await serve((request, response) => {
      request.socket.on('close', () => {
        closed = true
      })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: half\n\n: still here\n\n')
    })
    const { connector, recorded, clock } = await agentAt(url, { timeout: '10s' })
    const delivered = connector.deliver(delivery('hi'))
    await recorded.until('partial')
    await clock.advance(10_000)
    await delivered
    expect(recorded.outputs.at(-1)).toMatchObject({
      ...{ kind: 'failed', reason: 'agent_silent', detail: 'no answer within 10 s', text: 'half' },
    })
    while (!closed) await new Promise<void>((resolve) => setImmediate(resolve))
  })

  it('[I16.http-4xx] a redirect is not followed', async () => {
    let followed = false
    const elsewhere = await serve((_request, response) => {
      followed = true
      response.end('{"text":"caught"}')
    })
    const url = await serve((_request, response) => response.writeHead(307, { location: elsewhere }).end())
    const { connector } = await agentAt(url)
    await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({ code: 'agent_failed' })
    expect(followed).toBe(false)
  })

  it('[I16.http-retry] a server that hangs up before it answers, or is not there, is tried again', async () => {
    const url = await serve((request) => request.socket.destroy())
    const { connector } = await agentAt(url)
    await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({ code: 'platform_unavailable' })
    const nobody = await agentAt('http://127.0.0.1:1/')
    await expect(nobody.connector.deliver(delivery('hi'))).rejects.toMatchObject({
      code: 'agent_unreachable',
    })
  })

  it.each([
    'http://127.0.0.1:1/',
    'https://127.0.0.1:1/',
    'https://10.0.0.1/',
    'https://[::1]:1/',
    'https://localhost:1/',
    'http://agent.example.com/',
  ])('[I16.http-guard] %s is not called without allow_private', async (url) => {
    const { connector } = await agentAt(url, { allow_private: false })
    const thrown = await connector.deliver(delivery('hi')).catch((error: Error) => error)
    expect(thrown).toMatchObject({
      code: 'agent_failed',
      message: expect.stringContaining('the agent is not called'),
    })
    expect(String(thrown)).not.toContain(new URL(url).host)
  })

  it.each(['http://169.254.169.254/', 'https://[fd00:ec2::254]/'])(
    '[I16.http-guard] %s is never called',
    async (url) => {
      const { connector } = await agentAt(url)
      await expect(connector.deliver(delivery('hi'))).rejects.toMatchObject({ code: 'agent_failed' })
    },
  )
})
