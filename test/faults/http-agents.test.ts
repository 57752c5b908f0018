// Agents behind plain HTTP and a real daemon: the examples answer, and a kill in mid-answer loses and repeats nothing.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askLines, createScene, switchboard } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()
const examples = fileURLToPath(new URL('../../examples/http/', import.meta.url))
const SECRET = `whsec_${Buffer.from('thirty-two bytes for a signature').toString('base64')}`

function writeFront(data: string, url: string, more = ''): string {
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'agent.secret'), SECRET, { mode: 0o600 })
  writeFileSync(
    config,
    `integrations:
  - id: demo
    platform: webhook
    sender_header: X-Sender
    two_way: true
    access: { dm: allowlist, allow_from: [dev], approvers: [dev] }
agents:
  - id: far
    connector: { type: http, url: "${url}", secret: "file:agent.secret", allow_private: true${more} }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`,
  )
  return config
}

/** Ended with the test, by its pid. */
function begin(program: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(program, [...args], { cwd: examples, env: { ...process.env, ...env }, stdio: 'ignore' })
  scene.onEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  })
  return child
}

const has = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0
const listens = (port: number) =>
  until('the example listens', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      (error: { cause?: { code?: string } }) => error.cause?.code !== 'ECONNREFUSED',
    ),
  )

interface Example {
  readonly needs: readonly [what: string, there: () => boolean]
  start(port: number): readonly [program: string, args: readonly string[]]
}

const flask = (app: string): Example => ({
  needs: ['Flask for python3 (Debian: python3-flask)', () => has('python3', '-c', 'import flask')],
  start: (port) => ['python3', ['-m', 'flask', '--app', app, 'run', '--port', String(port)]],
})
const EXAMPLES: Readonly<Record<string, Example>> = {
  'flask_agent.py': flask('flask_agent'),
  'signed_flask_agent.py': flask('signed_flask_agent'),
  'node-agent.mjs': { needs: ['Node', () => true], start: () => [process.execPath, ['node-agent.mjs']] },
  'shell-agent.sh': {
    needs: ['socat and jq', () => has('socat', '-V') && has('jq', '--version')],
    start: (port) => ['socat', [`TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`, 'EXEC:./shell-agent.sh']],
  },
}

describe('the agents of examples/http', () => {
  for (const [name, example] of Object.entries(EXAMPLES))
    it(`[I16.http-examples] ${name === 'signed_flask_agent.py' ? '[I35.b25] ' : ''}${name} answers a real daemon`, async (context) => {
      const [what, there] = example.needs
      if (!there()) return context.skip(`needs ${what}`)
      const port = await freePort()
      begin(...example.start(port), { PORT: String(port), SECRET })
      await listens(port)
      const data = scene.folder()
      const config = writeFront(data, `http://127.0.0.1:${port}/turn`, ', timeout: 3s')
      const daemon = await scene.start({ data, config })
      await postDemo(daemon.url, 'hello', 'k1')
      await settled(data)
      expect((await sendsOf(data)).map(({ text }) => text?.trim())).toEqual(['You said: hello'])
      expect(await turnsOf(data)).toMatchObject([{ state: 'answered' }])
      if (name !== 'signed_flask_agent.py') return
      await postDemo(daemon.url, 'deploy api', 'k2')
      const asked = await until(
        'it asks',
        async () => (await askLines<{ id: string }>(data, 'approvals', 'list'))[0],
      )
      // Longer than its timeout, which stands still meanwhile.
      await pause(4_500)
      expect((await switchboard(data, 'approvals', 'allow', asked.id)).code).toBe(0)
      await settled(data)
      expect((await sendsOf(data)).map(({ text }) => text)).toContain('Deployed.')
      await expectLedgerHolds(data)
    })
})

interface Turn {
  readonly text: string
  readonly redelivery?: true
  readonly reply_url: string
  readonly mcp_url: string
  readonly mcp_token: string
}

interface Post {
  readonly headers: IncomingHttpHeaders
  readonly turn: Turn
  readonly response: ServerResponse
}

/** An agent whose answers the test gives. */
async function heldAgent(): Promise<{ readonly url: string; readonly posts: Post[] }> {
  const posts: Post[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    posts.push({ headers: request.headers, turn: JSON.parse(body) as Turn, response })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/turn`, posts }
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

describe('a daemon that is killed', () => {
  it('[I16.http-kill] [I16.http-crash] [I35.b12] posts again, marked, under the same id, what it did not read to its end; after a 202 never, and takes the answer at reply_url once', async () => {
    const { url, posts } = await heldAgent()
    const [data, port] = [scene.folder(), await freePort()]
    const config = writeFront(data, url)
    const first = await scene.start({ data, config, port })
    await postDemo(first.url, 'work', 'k1')
    await until('it is posted', () => posts.length === 1)
    await first.kill9()

    const second = await scene.start({ data, config, port })
    await until('it is posted again', () => posts.length === 2)
    expect(posts.map(({ turn }) => turn.redelivery)).toEqual([undefined, true])
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    posts[1]?.response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: half of it\n\n')
    await until('half of it is shown or read', () => posts[1]?.response.writableLength === 0)
    await second.kill9()

    const third0 = await scene.start({ data, config, port })
    await until('it is posted once more', () => posts.length === 3)
    expect(posts[2]?.turn.redelivery).toBe(true)
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    posts[2]?.response.writeHead(202).end()
    await until('it is seen', async () => (await turnsOf(data))[0]?.state === 'seen')
    await third0.kill9()

    const third = await scene.start({ data, config, port })
    const { turn } = posts[2] as Post
    const answered = await post(turn.reply_url, { text: 'all of it' }, { 'idempotency-key': 'a1' })
    expect([answered.status, await answered.json()]).toMatchObject([200, { ok: true, state: 'answered' }])
    // The same once more is the same; another one is a conflict, through either URL.
    expect((await post(turn.reply_url, { text: 'all of it' }, { 'idempotency-key': 'a1' })).status).toBe(200)
    expect((await post(turn.reply_url, { text: 'something else' })).status).toBe(409)
    expect((await post(posts[0]?.turn.reply_url ?? '', { text: 'from before' })).status).toBe(409)
    expect((await post(`${third.url}/callback/cb_nobody`, { text: 'x' })).status).toBe(404)
    expect((await post(turn.reply_url, { nothing: 1 })).status).toBe(400)
    await settled(data)
    expect((await sendsOf(data)).map(({ text }) => text)).toEqual(['all of it'])
    expect(posts).toHaveLength(3)
    // The token is good for the tools of this session, and for nothing else.
    const tools = await post(
      turn.mcp_url,
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'fetch_messages', arguments: { channel: 'demo:stranger' } },
      },
      { authorization: `Bearer ${turn.mcp_token}`, accept: 'application/json, text/event-stream' },
    )
    expect(await tools.text()).toContain('isError')
    expect(
      (await fetch(`${third.url}/api/status`, { headers: { authorization: `Bearer ${turn.mcp_token}` } }))
        .status,
    ).toBe(403)
    await expectLedgerHolds(data)
    const printed = third.stderr() + JSON.stringify(await turnsOf(data))
    for (const secret of [turn.mcp_token, new URL(turn.reply_url).pathname, SECRET])
      expect(printed).not.toContain(secret)
  })

  it('[I16.http-stop] [I35.b12-drain] a stop waits for the answer that is being said, and serves its agent meanwhile', async () => {
    const { url, posts } = await heldAgent()
    const data = scene.folder()
    const daemon = await scene.start({ data, config: writeFront(data, url) })
    await postDemo(daemon.url, 'work', 'k1')
    await until('it is posted', () => posts.length === 1)
    const stopped = daemon.terminate()
    await until('it drains', () => daemon.log().some(({ msg }) => msg === 'draining'))
    const { turn } = posts[0] as Post
    expect((await post(turn.reply_url, { status: 'nearly there' })).status).toBe(200)
    expect((await postDemo(daemon.url, 'too late', 'k2')).status).toBe(503)
    posts[0]?.response.writeHead(200, { 'content-type': 'text/plain' }).end('in time')
    expect(await stopped).toMatchObject({ code: 0 })
    expect(await turnsOf(data)).toMatchObject([{ state: 'answered' }])
    expect((await sendsOf(data)).map(({ text }) => text)).toEqual(['in time'])
  })
})
