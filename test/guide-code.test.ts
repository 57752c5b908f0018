// The code of the guides, run as it stands: only its ports are others, and the channel server that it names is played.
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import * as adapter from '../src/adapter.ts'
import * as chorus from '../src/chorus/index.ts'
import type { TranscriptEntry, TranscriptQuery } from '../src/contract/index.ts'
import { createScriptedServers } from '../src/host/fixtures/scripted-servers.ts'
import { type ChannelHostOptions, createChannelHost } from '../src/host/index.ts'
import { freePort } from '../src/testing/free-port.ts'
import { scratchFolder } from '../src/testing/scratch.ts'
import { testPlatformDeps } from '../src/testing/test-deps.ts'
import { until } from './faults/until.ts'
import { snippetsOf } from './page-snippets.ts'

type Modules = Readonly<Record<string, object>>

/** Runs a snippet whose imports come from `modules`; `given` are the names that a reader has of his own. */
async function runSnippet(text: string, modules: Modules, given: object = {}): Promise<void> {
  const code = text.replace(
    /^import \{ ([^}]+) \} from '([^']+)'$/gm,
    (_line, names, from) => `const { ${names} } = modules[${JSON.stringify(from)}]`,
  )
  expect(code).not.toContain('import {')
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  await AsyncFunction('modules', ...Object.keys(given), code)(modules, ...Object.values(given))
}

it('[I18.guide-snippets] the agent and the service of the chorus guide talk to each other', async () => {
  const [agent, service] = snippetsOf('docs/guide/chorus-library.md').filter(
    ({ language }) => language === 'ts',
  )
  const [first, second] = [await freePort(), await freePort()]
  const ported = (text = '') => text.replaceAll('8080', String(first)).replaceAll('8081', String(second))
  const opened: Server[] = []
  onTestFinished(() => {
    for (const server of opened) server.closeAllConnections()
    for (const server of opened) server.close()
  })
  const modules = {
    'switchboard/chorus': chorus,
    'node:http': {
      createServer(handler: Parameters<typeof createServer>[1]) {
        const server = createServer(handler as never)
        opened.push(server)
        return server
      },
    },
  }
  await runSnippet(ported(agent?.text), modules)
  await until('the agent listens', () => opened[0]?.listening)
  const room: string[] = []
  const postToRoom = async (id: string, text: string) => void room.push(`${id}: ${text}`)
  await runSnippet(ported(service?.text), modules, { postToRoom })
  await until('the answer is there', () => room.length > 0)
  expect(room).toEqual(['C04ABCDEF: You said: hello'])
})

it('[I18.guide-snippets] the host of its guide answers through the tool of the server', async () => {
  const [snippet] = snippetsOf('docs/guide/host.md').filter(({ language }) => language === 'ts')
  const pool = createScriptedServers('slack')
  const slack = pool.script.slack
  if (!slack) throw new Error('no script')
  slack.tools = ['chat.postMessage']
  slack.arguments = ['channel', 'text']
  const played = (options: ChannelHostOptions) => createChannelHost(options, { pool })
  const myAgent = async (_session: string, wrapped: string) => `read ${wrapped.split('\n')[1]}`
  await runSnippet(snippet?.text ?? '', { 'switchboard/host': { createChannelHost: played } }, { myAgent })
  slack.say('hello', { channel_id: 'C1', user: 'ann' })
  await until('it answered', () => slack.calls.length > 0)
  expect(slack.calls).toEqual([{ tool: 'chat.postMessage', input: { channel: 'C1', text: 'read hello' } }])
})

it('[I18.guide-snippets] what the kit gives is enough for a pager: calls, files, a trial, a feed and a link', async () => {
  const page = readFileSync('docs/guide/testing-adapters.md', 'utf8')
  const [, section = ''] = /## What the kit gives you\n([\s\S]*?)\n## /.exec(page) ?? []
  const code = [...section.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, text]) => text)
  expect(code).toHaveLength(5)
  const answers: Record<string, readonly [number, string]> = {
    '/page': [200, '{"id":"p1"}'],
    '/files/a.txt': [200, 'hello'],
    '/upload?team=night&name=b.txt': [200, '{"id":"f1"}'],
    '/me': [200, '{"name":"night"}'],
    '/pages': [200, '{"pages":["fire"]}'],
  }
  const server = createServer(({ url = '', headers }, response) => {
    const [status, body] = answers[url] ?? [404, '']
    asked.push(`${url} ${headers.authorization ?? ''}`.trim())
    response.writeHead(status).end(body)
  })
  const asked: string[] = []
  const filesDir = scratchFolder('swb-kit-guide-')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    rmSync(filesDir, { recursive: true, force: true })
  })
  const { port } = server.address() as AddressInfo
  const sending: TranscriptEntry[] = []
  const transcript = async ({ afterSeq = 0, onItsWay }: TranscriptQuery) =>
    sending.filter(({ seq }) => onItsWay !== true && seq > afterSeq)
  const deps = testPlatformDeps({}, { filesDir, transcript })
  const shown: string[] = []
  const sink = {
    write: (text: string) => void shown.push(text),
    drained: async () => undefined,
    closed: false,
    onClose: () => undefined,
    end: () => undefined,
  }
  const check = async ({ page, files, sendFile, tryToken, watch, send, startReceiving }: KitExample) => {
    const to = { integration: 'test', conversation: 'night' }
    const op = { kind: 'text', text: 'disk full' } as const
    const request = { to, op, key: 'o_1', seq: 1 }
    expect(await page(request)).toEqual({ platformIds: ['p1'] })
    answers['/page'] = [400, '{"error":"no_such_team"}']
    await expect(page(request)).rejects.toMatchObject({ code: 'platform_rejected', placeGone: true })
    answers['/page'] = [502, '<html>']
    await expect(page(request)).rejects.toMatchObject({ code: 'outcome_unknown' })
    expect(await files.download({ id: '1', kind: 'file', ref: 'a.txt' })).toMatchObject({
      name: 'a.txt',
      size: 5,
    })
    const ref = await files.keep?.({ name: 'b.txt', mime: 'text/plain', bytes: Buffer.from('bye') })
    const file = { kind: 'file', name: 'b.txt', mime: 'text/plain', ref: ref ?? '' } as const
    expect(await sendFile({ ...request, op: file })).toEqual({ platformIds: ['f1'] })
    expect(await tryToken({ token: 'secret-1' }, deps.clock)).toEqual({ who: 'night' })
    expect(asked.at(-1)).toBe('/me Bearer secret-1')
    watch({ request: { headers: {} } }).stream?.(sink)
    await deps.clock.settle()
    const row = { seq: 1, direction: 'out', id: 'o_1', conversation: 'night', at: 0, text: op.text } as const
    sending.push({ ...row, op, state: 'sending', reason: null })
    await send(request)
    await deps.clock.settle()
    expect(shown).toEqual([': connected\n\n', 'id: 1\ndata: disk full\n\n'])
    expect(watch({ request: { headers: { 'last-event-id': 'x' } } })).toMatchObject({ status: 400 })
    const received: unknown[] = []
    const states: string[] = []
    const receive = async (pages: readonly unknown[]) => void received.push(...pages)
    const link = startReceiving({ receive }, ({ state }) => void states.push(state))
    await until('the link is up', () => states.length > 0)
    await link.stop()
    expect([received, states]).toEqual([['fire'], ['up']])
  }
  const given = { deps, url: `http://127.0.0.1:${port}`, check }
  const end = '\nawait check({ page, files, sendFile, tryToken, watch, send, startReceiving })'
  await runSnippet(code.join('\n') + end, { 'switchboard/adapter': adapter }, given)
  expect.assertions(12)
})

interface KitExample {
  page(request: adapter.SendRequest): Promise<object>
  readonly files: Required<adapter.PlatformFiles>
  sendFile(request: adapter.SendRequest): Promise<object>
  tryToken(options: object, clock: unknown): Promise<object>
  watch(verified: { readonly request: object }): adapter.HttpReply
  send(request: adapter.SendRequest): Promise<object>
  startReceiving(
    intake: { receive(pages: readonly unknown[]): Promise<unknown> },
    report: adapter.LinkOptions['report'],
  ): adapter.Link
}
