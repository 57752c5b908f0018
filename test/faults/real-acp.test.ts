// ACP agents of others, offline, against a fake model on loopback: as far as they run without an account. Opt-in: they are large,
// and not ours to bring along. SWITCHBOARD_ACP_BIN names the folder with their programs (node_modules/.bin after an install).
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, it, type TestContext } from 'vitest'
import { stringify } from 'yaml'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, settled } from './river-checks.ts'
import { askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KEY = 'sk-emulated'

interface RealAgent {
  readonly program: string
  readonly args: readonly string[]
  readonly who: string
  /** What makes its model be ours, and a call of its own shell. Absent: it needs an account. */
  readonly model?: { readonly env: (url: string) => Record<string, string>; readonly shell: string }
}

const AGENTS: readonly RealAgent[] = [
  { program: 'gemini', args: ['--acp'], who: 'Gemini CLI' },
  { program: 'codex-acp', args: [], who: 'Codex' },
  {
    ...{ program: 'qwen', args: ['--acp', '--auth-type', 'openai'], who: 'Qwen Code' },
    model: {
      env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'any' }),
      shell: 'call run_shell_command {"command":"touch done","description":"x","is_background":false}',
    },
  },
  {
    ...{ program: 'claude-code-acp', args: [], who: 'Claude Code' },
    model: {
      env: (url) => ({
        ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url },
        ...{ DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
      }),
      shell: 'call Bash {"command":"touch done"}',
    },
  },
]

function programOf({ program }: RealAgent, context: TestContext): string {
  const folder = process.env.SWITCHBOARD_ACP_BIN
  if (!folder) context.skip('SWITCHBOARD_ACP_BIN names no folder with ACP agents (large, opt-in)')
  const path = join(folder ?? '', program)
  if (!existsSync(path)) context.skip(`${program} is not in the folder of SWITCHBOARD_ACP_BIN`)
  return path
}

it.for(AGENTS)('[I22.acp-real] $program says who it is, and leaves nobody behind', async (agent, context) => {
  const path = programOf(agent, context)
  const data = scene.folder()
  const command = [path, ...agent.args].join(' ')
  const words = ['--platform', 'web', '--agent', 'acp', '--command', command, '--cwd', data]
  const config = join(data, 'switchboard.yaml')
  const made = await switchboard(data, 'init', ...words, '--yes', '--no-start', '--config', config)
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining(`this is ${agent.who}`) })
})

it.for(AGENTS.filter(({ model }) => model))(
  '[I22.acp-real] $program answers, runs a tool once it is allowed, and goes on after kill -9 in mid-approval',
  async (agent, context) => {
    const path = programOf(agent, context)
    const api = await createFakeLlm({ key: KEY }).listen()
    scene.onEnd(() => api.close())
    const data = scene.folder()
    const work = join(data, 'work')
    mkdirSync(work)
    const config = join(data, 'switchboard.yaml')
    const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    const env = { HOME: data, PATH, ...agent.model?.env(api.url) }
    const access = { allow_from: ['dev'], approvers: ['dev'] }
    const hook = { id: 'hook', platform: 'webhook', two_way: true, sender_header: 'X-Sender', access }
    const connector = { type: 'acp', command: path, args: agent.args, cwd: './work', env }
    const bound = [{ plugin: 'webhook', instance: 'hook' }]
    const file = { integrations: [hook], agents: [{ id: 'kate', connector, inbound_bindings: bound }] }
    writeFileSync(config, stringify(file))
    let daemon = await scene.start({ data, config })
    const say = (text: string) => post(`${daemon.url}/hooks/hook`, text, { 'x-sender': 'dev' })
    const said = async () => (await askLines<{ text: string }>(data, 'outbox')).map(({ text }) => text ?? '')
    const pending = async () => {
      const all = await askLines<{ id: string; state: string }>(data, 'approvals', 'list')
      return all.find(({ state }) => state === 'pending')?.id
    }

    await say('hello real one')
    await until('it answers', async () =>
      (await said()).some((text) => text.includes('You said: hello real one')),
    )
    await say(agent.model?.shell ?? '')
    const id = await until('it asks', pending)
    expect(existsSync(join(work, 'done'))).toBe(false)
    await switchboard(data, 'approvals', 'allow', id)
    await until('the tool has run', () => existsSync(join(work, 'done')))
    await until('it says so', async () => (await said()).some((text) => text.includes('The tool said')))

    await say(agent.model?.shell.replace('done', 'never') ?? '')
    await until('it asks again', async () => {
      const now = await pending()
      return now !== undefined && now !== id
    })
    await daemon.kill9()
    daemon = await scene.start({ data, config })
    await until('it goes on', async () => (await said()).some((text) => text.includes('was interrupted')))
    expect(existsSync(join(work, 'never'))).toBe(false)
    await settled(data)
    await expectLedgerHolds(data)
    // It writes into its home until it is ended.
    await daemon.terminate()
  },
)
