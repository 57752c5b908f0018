// Hosts of MCP channels before a real daemon: the shim as Claude Code spawns it, and the double that plays Claude Code.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordInstance } from '../../src/config/instance/known-instances.ts'
import {
  type ClaudeCode,
  type ClaudeCodeOptions,
  createFakeTelegram,
  startClaudeCode,
} from '../../src/testing/emulate.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import { post } from './hook-client.ts'
import { askJson, askLines, type Scene } from './scene.ts'
import { until } from './until.ts'

export interface Turn {
  readonly id: string
  readonly state: string
  readonly reason: string | null
  readonly attempts: number
  readonly text: string
}

export interface ChannelScene {
  readonly data: string
  readonly config: string
  /** The arguments for node that start the shim. */
  readonly shim: readonly string[]
  readonly environment: Record<string, string>
  claude(options?: Partial<ClaudeCodeOptions>): Promise<ClaudeCode>
  /** The address of the daemon now, from its own note. */
  url(): string
  daemonPid(): number
  /** Posts a message to the webhook, with the id of the message. */
  say(text: string, id?: string): Promise<void>
  turns(): Promise<readonly Turn[]>
  turn(text: string, state: string): Promise<Turn>
}

export const HOOK = `  - { id: hook, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] } }
`

/** Writes a configuration with the agent `kate`. `integrations` beyond the webhook are bound to her too. */
export function openChannel(
  scene: Scene,
  options: { integrations?: string; bindings?: string; dialect?: string; hook?: string; more?: string } = {},
): ChannelScene {
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `server: { port: 0 }
integrations:
${options.hook ?? HOOK}${options.integrations ?? ''}agents:
  - id: kate
    connector: { type: channel, dialect: ${options.dialect ?? 'claude'} }
    inbound_bindings: [{ plugin: webhook, instance: hook }${options.bindings ?? ''}]
${options.more ?? ''}`,
  )
  const note = () =>
    JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8')) as { pid: number; url: string }
  const shim = [BINARY, 'channel', '--agent', 'kate', '--data', data, '--config', config]
  const environment = bareEnvironment()
  // `init` and `up` leave this record. A shim starts a daemon for no other configuration file.
  recordInstance({ data, config }, environment, 0)
  scene.onEnd(async () => {
    // A daemon that a shim started is no child of the test. The pid that it wrote down itself ends it.
    try {
      process.kill(note().pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  })
  let said = 0
  const turns = () => askLines<Turn>(data, 'turns')
  return {
    data,
    config,
    shim,
    environment,
    async claude(more = {}) {
      const started = await startClaudeCode({
        command: process.execPath,
        args: shim,
        cwd: data,
        env: environment,
        channels: ['server:switchboard'],
        ...more,
      })
      scene.onEnd(async () => {
        started.kill('SIGKILL')
        await started.exited
      })
      return started
    },
    url: () => note().url,
    daemonPid: () => note().pid,
    async say(text, id = `m${++said}`) {
      await until(`"${text}" is taken`, async () => {
        const headers = { 'x-sender': 'dev', 'idempotency-key': id }
        const posted = await post(`${note().url}/hooks/hook`, text, headers).catch(() => null)
        return posted?.status === 200
      })
    },
    turns,
    turn: (text, state) =>
      until(`"${text}" is ${state}`, async () =>
        (await turns()).find((turn) => turn.text === text && turn.state === state),
      ),
  }
}

/** Opens a channel with a Telegram beside it. Kate is there and may decide. */
export async function openChannelWithTelegram(scene: Scene) {
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const place = openChannel(scene, {
    integrations: `  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", access: { dm: allowlist, allow_from: ["412587349"], approvers: ["412587349"] } }
`,
    bindings: ', { plugin: telegram, instance: tg }',
  })
  writeFileSync(join(place.data, 'telegram.token'), fake.token, { mode: 0o600 })
  return { place, kate: fake.person() }
}

export function answering(claude: ClaudeCode): ClaudeCode {
  claude.onPrompt = ({ content, meta }) =>
    void claude.call('reply', { chat_id: meta.chat_id, text: `re: ${content}` })
  return claude
}

export async function audited(data: string): Promise<unknown> {
  return askJson(data, 'audit', 'verify')
}
