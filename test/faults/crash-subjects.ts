// The connectors of the crash table, each with an agent that uses a tool and answers in two halves.
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startClaudeCode } from '../../src/testing/emulate.ts'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import { oneToolServer } from './one-tool-server.ts'
import type { Scene } from './scene.ts'
import type { StepLog } from './step-log.ts'
import { pause } from './until.ts'

interface Place {
  readonly data: string
  readonly log: StepLog
  readonly scene: Scene
}

interface Opened {
  readonly connector: object
  readonly env?: Record<string, string>
  /** Called whenever a daemon has started. */
  attached?(at: { readonly data: string; readonly config: string }): Promise<void>
}

export interface Subject {
  readonly name: string
  /** True when the agent is no process of Switchboard's. */
  readonly livesOn?: true
  /** True when the protocol knows no permissions. */
  readonly asksNobody?: true
  /** The steps that it does not have. */
  readonly without: readonly string[]
  open(place: Place): Promise<Opened>
}

const KEY = 'sk-planted-4716-very-secret'
const CLAUDE = fileURLToPath(
  new URL('../../src/agents/claude-code/fixtures/claude-double.mjs', import.meta.url),
)
const ACP = fileURLToPath(new URL('../../src/agents/acp/fixtures/scripted-agent.mjs', import.meta.url))

/** The tool notes when it runs, and the test can hold it there. */
const DESK = oneToolServer(
  `appendFileSync('steps.log', 'running ' + process.pid + '\\n')
    while (existsSync('hold') && readFileSync('hold', 'utf8') === 'running') await new Promise((resolve) => setTimeout(resolve, 10))`,
  'it ran',
)

/** A server on loopback that takes JSON requests. */
async function serving(
  scene: Scene,
  on: (body: Record<string, never>, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    on(JSON.parse(body), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Posts until the body is accepted, because the daemon may be away. */
async function persisted(url: string, body: object, key: string, isOver: () => boolean): Promise<Response> {
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    }).catch(() => null)
    if (isOver()) throw new Error('the test is over')
    if (response && response.status < 500 && response.status !== 202) return response
    await response?.body?.cancel().catch(() => undefined)
    await pause(50)
  }
}

const over = (scene: Scene) => {
  let ended = false
  scene.onEnd(() => {
    ended = true
  })
  return () => ended
}

interface HttpTurn {
  readonly id: string
  readonly text: string
  readonly reply_url: string
}

/** An agent behind a URL. It answers a repeated turn again, but runs the turn's tool once. */
async function httpAgent(
  log: StepLog,
  scene: Scene,
  answer: (
    turn: HttpTurn,
    /** Whether the tool ran. */
    tool: Promise<boolean>,
    isOver: () => boolean,
    response: ServerResponse,
  ) => Promise<void>,
): Promise<Opened> {
  const isOver = over(scene)
  const tools = new Map<string, Promise<boolean>>()
  const useTool = async (turn: HttpTurn) => {
    await log.step('asking')
    const ask = { tool: 'post', description: 'posts', input: { to: 'bob' }, id: 'q1' }
    const answered = await persisted(turn.reply_url, { ask }, 'ask', isOver)
    const { allowed } = (await answered.json()) as { allowed?: boolean }
    await log.step(allowed ? 'running' : 'denied')
    if (allowed) await log.step('ran')
    return allowed === true
  }
  const url = await serving(scene, (body, response) => {
    const turn = body as unknown as HttpTurn
    if (turn.text === 'hello')
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end('hello')
    const tool = tools.get(turn.id) ?? useTool(turn)
    tools.set(turn.id, tool)
    answer(turn, tool, isOver, response).catch(() => response.destroy())
  })
  return { connector: { type: 'http', url: `${url}/turn`, allow_private: true } }
}

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'llm',
    without: [],
    async open({ log, scene }) {
      const fake = createFakeLlm({
        key: KEY,
        script({ isResult, last }) {
          if (last.includes('hello')) return { text: 'hello' }
          // Like a model, it calls a tool again when the outcome is unknown.
          if (!isResult || last.includes('unknown'))
            return {
              calls: [{ name: 'desk__post', input: { to: 'bob' } }],
              before: () => (isResult ? Promise.resolve() : log.step('asking')),
            }
          let events = 0
          return {
            text: `Done: ${last}`,
            before: () => log.step('ran'),
            between: async () => {
              if (++events === 4) await log.step('half')
            },
          }
        },
      })
      const api = await fake.listen()
      scene.onEnd(() => api.close())
      const server = join(log.folder, 'desk.mjs')
      writeFileSync(server, DESK)
      const desk = { command: process.execPath, args: [server], cwd: log.folder }
      return {
        connector: {
          type: 'llm',
          ...{ provider: 'anthropic', model: 'm1', api_key: 'env:KEY', base_url: api.url, mcp: { desk } },
        },
        env: { KEY },
      }
    },
  },
  {
    name: 'claude-code',
    without: [],
    async open({ data, log }) {
      const command = join(data, 'claude')
      writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${CLAUDE}" "$@"\n`)
      chmodSync(command, 0o755)
      return { connector: { type: 'claude-code', command, cwd: log.folder, env: { HOME: data } } }
    },
  },
  {
    name: 'acp',
    without: [],
    async open({ log }) {
      return {
        connector: { type: 'acp', command: process.execPath, args: [ACP, '--load'], cwd: log.folder },
      }
    },
  },
  {
    name: 'http, answering later',
    livesOn: true,
    // Its answer is one POST.
    without: ['answer half written'],
    open: ({ log, scene }) =>
      httpAgent(log, scene, async (turn, tool, isOver, response) => {
        response.writeHead(202).end()
        if (await tool) await persisted(turn.reply_url, { text: 'Done: it ran' }, 'answer', isOver)
      }),
  },
  {
    name: 'http, answering at once',
    livesOn: true,
    // An orderly stop waits for the answer.
    without: ['question open, stopped in order'],
    open: ({ log, scene }) =>
      httpAgent(log, scene, async (_, tool, __, response) => {
        response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders()
        if (!(await tool)) return void response.end()
        response.write('{"text":"Done: "}\n')
        await log.step('half')
        response.end('{"text":"it ran"}\n')
      }),
  },
  {
    name: 'chorus',
    livesOn: true,
    asksNobody: true,
    // It asks for no permission, and its answer is one POST.
    without: [
      ...['question open', 'question open, stopped in order', 'decided, not passed on', 'being passed on'],
      'answer half written',
    ],
    async open({ data, log, scene }) {
      const isOver = over(scene)
      const works = new Set<string>()
      const work = async (callback: string) => {
        const tell = (event: object, key: string) => persisted(callback, event, key, isOver)
        await log.step('asking')
        await tell({ type: 'tool_call', id: 'c1', name: 'post', input: {} }, 'call')
        await log.step('running')
        await tell({ type: 'tool_result', id: 'c1', output: 'ran' }, 'result')
        await log.step('ran')
        await tell({ type: 'message', content: 'Done: it ran' }, 'answer')
      }
      const url = await serving(scene, (body, response) => {
        const { message, callback } = body as unknown as {
          message: { id: string; content: string }
          callback: string
        }
        response.writeHead(200).end()
        if (works.has(message.id)) return
        works.add(message.id)
        const say = () => persisted(callback, { type: 'message', content: 'hello' }, 'hello', isOver)
        void (message.content === 'hello' ? say() : work(callback)).catch(() => undefined)
      })
      writeFileSync(join(data, 'agent.url'), `${url}/inbox/sk_planted4711`, { mode: 0o600 })
      return { connector: { type: 'chorus', url: 'file:agent.url', allow_private: true } }
    },
  },
  {
    name: 'channel',
    livesOn: true,
    // An answer is one call.
    without: ['answer half written'],
    async open({ log, scene }) {
      let host: Promise<unknown> | null = null
      return {
        connector: { type: 'channel', dialect: 'claude' },
        async attached({ data, config }) {
          host ??= startClaudeCode({
            command: process.execPath,
            args: [BINARY, 'channel', '--agent', 'kate', '--data', data, '--config', config],
            cwd: data,
            env: bareEnvironment(),
            channels: ['server:switchboard'],
          }).then((claude) => {
            scene.onEnd(async () => {
              claude.kill('SIGKILL')
              await claude.exited
            })
            claude.onPrompt = async ({ content, meta }) => {
              const reply = (text: string) =>
                claude.call('reply', { chat_id: meta.chat_id, reply_to: meta.message_id, text })
              if (content === 'hello') return void (await reply('hello'))
              await log.step('asking')
              const asked = claude.ask({
                toolName: 'post',
                description: 'posts',
                inputPreview: '{"to":"bob"}',
              })
              if ((await asked.decided) !== 'allow') return log.step('denied')
              await log.step('running')
              await log.step('ran')
              await reply('Done: it ran')
            }
          })
          await host
        },
      }
    },
  },
]
