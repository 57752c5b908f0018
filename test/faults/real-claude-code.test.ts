// The real Claude Code, offline, against a Messages API of our own on loopback: what of it runs without an account. Its
// channels themselves need its feature flags, so that side is played by the double (claude-code-double.ts). Opt-in: the
// binary is proprietary and not ours to bring along.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, type TestContext } from 'vitest'
import { audited, openChannel } from './channel-scene.ts'
import { createFakeMessagesApi, type ModelAnswer, type ModelRequest } from './fake-messages-api.ts'
import { askJson, askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

function binaryOf(context: TestContext): string {
  const binary = process.env.SWITCHBOARD_CLAUDE_BIN
  if (!binary) context.skip('SWITCHBOARD_CLAUDE_BIN names no Claude Code binary (proprietary, opt-in)')
  return binary ?? ''
}

interface Run {
  readonly child: ChildProcess
  out(): string
  readonly ended: Promise<number | null>
}

function claude(binary: string, args: readonly string[], more: Record<string, string> = {}): Run {
  const home = scene.folder()
  const work = join(home, 'work')
  mkdirSync(work)
  const child = spawn(binary, [...args], {
    cwd: work,
    env: {
      HOME: home,
      PATH: '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ANTHROPIC_API_KEY: 'sk-ant-dummy-loopback-key',
      ...more,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  scene.onEnd(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  child.stderr?.resume()
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, out: () => out, ended }
}

describe('the real Claude Code', () => {
  it('[S6.ch-real-binary] takes the plugin and the marketplace without a complaint', async (context) => {
    const binary = binaryOf(context)
    for (const folder of ['../../plugin', '../..']) {
      const run = claude(binary, ['plugin', 'validate', fileURLToPath(new URL(folder, import.meta.url))])
      run.child.stdin?.end()
      expect({ code: await run.ended, out: run.out() }).toMatchObject({
        code: 0,
        out: expect.stringContaining('Validation passed'),
      })
      expect(run.out()).not.toMatch(/author|description:/)
    }
  })

  it('[S6.ch-real-binary] shakes hands with the shim, has reply at hand from the first request, and answers a waiting message with it', async (context) => {
    const binary = binaryOf(context)
    const place = openChannel(scene)
    const reply = 'mcp__switchboard__reply'
    const script = (request: ModelRequest): ModelAnswer =>
      JSON.stringify(request.messages).includes('tool_result')
        ? { say: 'done' }
        : { call: reply, input: { chat_id: 'hook:dev', text: 'from the real one' } }
    const api = await createFakeMessagesApi(script)
    scene.onEnd(() => api.stop())
    // A daemon with a message that waits: whoever calls reply for its chat has seen it.
    const first = await place.claude({ channels: [] })
    await place.say('anybody there?')
    await first.close()
    const config = join(place.data, 'mcp.json')
    const [command, ...args] = [process.execPath, ...place.shim]
    writeFileSync(
      config,
      JSON.stringify({ mcpServers: { switchboard: { command, args, env: place.environment } } }),
    )
    const run = claude(
      binary,
      [
        '-p',
        ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
        ...['--mcp-config', config, '--strict-mcp-config', '--permission-mode', 'default'],
        ...['--permission-prompt-tool', 'stdio', '--allowedTools', reply],
        ...['--dangerously-load-development-channels', 'server:switchboard'],
      ],
      { ANTHROPIC_BASE_URL: api.url },
    )
    const message = { role: 'user', content: '<channel source="switchboard" chat_id="hook:dev">hi</channel>' }
    run.child.stdin?.write(`${JSON.stringify({ type: 'user', message })}\n`)
    await until('the model was asked twice', () => api.requests.length >= 2)
    const [asked, again] = api.requests
    expect(asked?.tools?.map(({ name }) => name)).toContain(reply)
    expect(JSON.stringify(asked)).toContain('People write to you through Switchboard')
    expect(JSON.stringify(again?.messages)).toMatch(/sent \(id: [^)]+\)/)
    await place.turn('anybody there?', 'answered')
    await until('it says how it ended', () => run.out().includes('"type":"result"'))
    expect(run.out()).toContain('"status":"connected"')
    run.child.stdin?.end()
    await run.ended
    // It ends the shim with SIGINT: nobody is left behind.
    const attached = async () =>
      (await askJson<{ agents: { attached: boolean }[] }>(place.data, 'status')).agents.some(
        (one) => one.attached,
      )
    await until('the shim is gone', async () => !(await attached()))
    expect(await audited(place.data)).toMatchObject({ ok: true })
  })

  it('[S6.ch-real-binary] two shims of one session, a daemon that is killed, stopped and started again: each reply tells the truth', async (context) => {
    const binary = binaryOf(context)
    const place = openChannel(scene)
    // The message of the user names the server whose reply is called, and the text.
    const script = ({ messages }: ModelRequest): ModelAnswer => {
      const last = JSON.stringify(messages.at(-1))
      const [, server = 'switchboard', text = ''] = /say (\w+) (\w+)/.exec(last) ?? []
      if (last.includes('tool_result') || text === '') return { say: 'done' }
      return { call: `mcp__${server}__reply`, input: { chat_id: 'hook:dev', text } }
    }
    const api = await createFakeMessagesApi(script)
    scene.onEnd(() => api.stop())
    const [command, ...args] = [process.execPath, ...place.shim]
    const server = { command, args, env: place.environment }
    const config = join(place.data, 'mcp.json')
    writeFileSync(config, JSON.stringify({ mcpServers: { switchboard: server, twin: server } }))
    const run = claude(
      binary,
      [
        '-p',
        ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
        ...['--mcp-config', config, '--strict-mcp-config', '--permission-mode', 'default'],
        ...['--permission-prompt-tool', 'stdio'],
        ...['--allowedTools', 'mcp__switchboard__reply,mcp__twin__reply'],
      ],
      { ANTHROPIC_BASE_URL: api.url },
    )
    let ended = 0
    /** What the tool answered, as the model reads it. */
    const toolAnswerTo = async (words: string): Promise<string> => {
      const message = { role: 'user', content: words }
      run.child.stdin?.write(`${JSON.stringify({ type: 'user', message })}\n`)
      ended += 1
      await until(`"${words}" is over`, () => run.out().split('"type":"result"').length - 1 >= ended)
      return JSON.stringify(api.requests.at(-1)?.messages.at(-1))
    }
    const hosts = async () =>
      (await askJson<{ agents: { detail?: string }[] }>(place.data, 'status')).agents.map(
        ({ detail }) => detail,
      )

    expect(await toolAnswerTo('hello')).not.toContain('is_error')
    await until('both lines are one host', async () => /attached/.test(String(await hosts())))
    await place.say('first')
    await place.turn('first', 'handed')
    expect(await toolAnswerTo('say twin one')).toMatch(/sent \(id/)
    await place.turn('first', 'answered')

    process.kill(place.daemonPid(), 'SIGKILL')
    const before = place.daemonPid()
    await until('it is revived', async () => place.daemonPid() !== before)
    await place.say('second')
    await place.turn('second', 'handed')
    expect(await toolAnswerTo('say switchboard two')).toMatch(/sent \(id/)
    await place.turn('second', 'answered')

    const stopped = place.daemonPid()
    process.kill(stopped, 'SIGTERM')
    await until('it has ended', () => !isAlive(stopped))
    expect(await toolAnswerTo('say switchboard three')).toContain('stopped by its operator')
    await scene.start({ data: place.data, config: place.config })
    await place.say('fourth')
    await place.turn('fourth', 'handed')
    expect(await toolAnswerTo('say twin four')).toMatch(/sent \(id/)
    await place.turn('fourth', 'answered')
    run.child.stdin?.end()
    await run.ended
    const replies = await askLines<{ state: string; text: string }>(place.data, 'outbox')
    expect(replies.map(({ state, text }) => `${text} ${state}`).toSorted()).toEqual([
      'four sent',
      'one sent',
      'two sent',
    ])
    expect(await audited(place.data)).toMatchObject({ ok: true })
  }, 180_000)
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
