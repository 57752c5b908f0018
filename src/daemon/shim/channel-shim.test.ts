// The end of the shim, in one process: the host goes away before a daemon has answered.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { dataFolderAt } from '../../config/instance/data-folder.ts'
import { runChannelShim } from './channel-shim.ts'

afterEach(() => vi.useRealTimers())

it('[S6.ch-clean-end] the end of input ends the wait for a daemon, also behind what was said before', async () => {
  // Timers are faked, so that no wait ends by itself.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const data = mkdtempSync(join(tmpdir(), 'swb-shim-'))
  const input = new PassThrough()
  const ended = runChannelShim({
    agent: 'kate',
    dialect: 'claude',
    folder: dataFolderAt({ data, env: {} }),
    configFile: null,
    env: {},
    program: [],
    input,
    output: new PassThrough(),
    logLevel: 'fatal',
    remote: null,
    revive: false,
    onSignal: () => () => undefined,
  })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  expect(await ended).toBe(0)
  rmSync(data, { recursive: true, force: true })
})

/** Returns what a host receives that starts while no daemon answers, and the answer of a tool. */
async function withoutDaemon(
  file: string | null,
  text = '',
  { refusal, ...more }: { readonly revive?: boolean; readonly refusal?: string } = {},
) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] })
  const data = mkdtempSync(join(tmpdir(), 'swb-shim-'))
  const configFile = file === null ? null : join(data, file)
  if (configFile !== null) writeFileSync(configFile, text)
  const folder = dataFolderAt({ data, env: {} })
  const refusing = createServer((line) => {
    line.on('error', () => undefined).write(`${JSON.stringify({ t: 'refused', reason: refusal })}\n`)
  })
  if (refusal !== undefined)
    await new Promise<void>((listening) => refusing.listen(folder.attachSocket, listening))
  const [input, output] = [new PassThrough(), new PassThrough()]
  const ended = runChannelShim({
    ...{ agent: 'kate', dialect: 'claude', folder, configFile, env: {} },
    ...{ program: [], input, output, logLevel: 'fatal', remote: null, revive: false, ...more },
    onSignal: () => () => undefined,
  })
  const answers: { id?: number; result?: Record<string, unknown> }[] = []
  createInterface({ input: output }).on('line', (line) => answers.push(JSON.parse(line)))
  const ask = async (id: number, method: string, params: object) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    // Loading modules takes real time, whatever the clock of the test says.
    for (const end = performance.now() + 30_000; performance.now() < end; ) {
      await vi.advanceTimersByTimeAsync(250)
      await new Promise((resolve) => setImmediate(resolve))
      const found = answers.find((one) => one.id === id)
      if (found) return found.result ?? {}
    }
    throw new Error(`no answer to ${method}`)
  }
  const clientInfo = { name: 'claude-code', version: '1' }
  const begun = await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  const told = await ask(2, 'tools/call', { name: 'pending_messages', arguments: {} })
  input.end()
  await ended
  refusing.close()
  // A start of a daemon opens the log first.
  const started = existsSync(join(data, 'daemon.log'))
  rmSync(data, { recursive: true, force: true })
  const texts = (told.content as { text: string }[]).map((one) => one.text)
  const { experimental } = begun.capabilities as { experimental?: object }
  return { experimental, instructions: String(begun.instructions), texts, started }
}

const FILE = (hook: string) => `integrations:
  - { id: hook, platform: webhook, ${hook}, access: { allow_from: [dev] } }
agents:
  - id: kate
    connector: { type: channel }
    inbound_bindings: [{ plugin: webhook, instance: hook }]
`

it('[I14.no-daemon-capabilities] [I14.one-way-told] without a daemon the file says what is declared, and that it is fed one way', async () => {
  const told = await withoutDaemon('switchboard.yaml', FILE('sender_header: X-Sender'))
  expect(told.experimental).toEqual({ 'claude/channel': {}, 'claude/channel/permission': {} })
  expect(told.instructions).toMatch(/^Everything that reaches you here comes one way/)
  expect(told.instructions).not.toMatch(/only what you send with the `reply` tool|one reply|will not answer/)
})

it('[I14.no-daemon-capabilities] [I14.one-way-told] and where answers have a way it says nothing of the kind', async () => {
  const told = await withoutDaemon('switchboard.yaml', FILE('sender_header: X-Sender, two_way: true'))
  expect(told.instructions).not.toMatch(/one way/)
})

it.each([
  ['there is no file', null, ''],
  ['the file is broken', 'switchboard.yaml', 'agents: ['],
  ['the file names programs', 'switchboard.yaml', `modules: [./x.mjs]\n${FILE('sender_header: X-Sender')}`],
])(
  '[I14.no-daemon-capabilities] where %s no channel is declared, and the tools say to restart the host',
  async (_, file, text) => {
    const told = await withoutDaemon(file, text)
    expect(told.experimental).toBeUndefined()
    expect(told.instructions).toMatch(/Restart this session/)
    expect(told.texts.at(-1)).toMatch(/Restart this session/)
  },
)

it('[I18.plugin-unprepared] where nothing was set up it says what to run, in its instructions and beside every result', async () => {
  const { experimental, instructions, texts } = await withoutDaemon(null)
  expect(experimental).toBeUndefined()
  expect(instructions).toContain('`switchboard init claude-code`')
  expect(texts.join('\n')).toContain('`switchboard init claude-code`')
})

it('[I35.b45-plugin-demo] in a folder without a file no daemon is started, for the embedded default serves no host', async () => {
  const { started, instructions } = await withoutDaemon(null, '', { revive: true })
  expect(started).toBe(false)
  expect(instructions).toContain('`switchboard init claude-code`')
})

it('[I35.b46-seeds] a daemon that refuses the host is not told as none, and what it said is', async () => {
  const refusal = 'agent "kate" is not configured here'
  const { experimental, instructions, texts } = await withoutDaemon('switchboard.yaml', 'agents: []', {
    refusal,
  })
  expect(experimental).toBeUndefined()
  for (const said of [instructions, ...texts]) {
    expect(said).toContain(refusal)
    expect(said).not.toContain('No Switchboard gateway answered')
  }
})
