// `switchboard init claude-code`: writes .mcp.json beside a switchboard.yaml with an agent for it, and says how to start.
import { accessSync, constants, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import type { Context } from '../context.ts'
import { usage } from '../failure.ts'
import { remember } from '../own-instance.ts'
import { portLine } from '../starter-config.ts'
import { ownProgram } from './channel.ts'
import type { InitOptions } from './init.ts'

const START_COMMAND = 'claude --dangerously-load-development-channels server:switchboard'
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export async function initClaudeCode(context: Context, options: InitOptions): Promise<number> {
  const agent = options.agent ?? 'claude'
  if (!ID.test(agent)) throw usage(`--agent: "${agent}" is not an id`)
  const { port } = options
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535))
    throw usage(`--port: "${port}" is not a port`)
  if (options.url !== undefined) return initRemote(context, agent, options)
  if (options.tokenFile !== undefined) throw usage('--token-file goes with --url')
  const config = resolve(context.givenConfig ?? 'switchboard.yaml')
  const configKept = existsSync(config)
  const file = resolve('.mcp.json')
  // The file that may hold others' servers is looked at before anything is written.
  const mcp = mcpJson(file, serverEntry(agent, ['--config', config]), options.force === true)
  if (!configKept) writeWhole(config, claudeYaml(agent, port === undefined ? null : Number(port)))
  writeWhole(file, mcp)
  remember(context, context.instanceOf(config))
  if (context.json) {
    await context.printJson({ ok: true, file, config, config_kept: configKept, agent, next: START_COMMAND })
    return 0
  }
  const { paint } = context
  await context.print(`${paint.green('wrote')} ${file}`)
  await context.print(
    configKept
      ? `${paint.green('kept ')} ${config} (it must have: - { id: ${agent}, connector: { type: channel } })`
      : `${paint.green('wrote')} ${config}`,
  )
  if (configKept && port !== undefined)
    context.note(paint.yellow(`--port ${port} was not written: change server.port in ${config}`))
  await context.print(
    `\nNext, in this folder: ${paint.bold(START_COMMAND)}\n` +
      'It starts Switchboard by itself. Then get a link to the chat page with: switchboard link\n' +
      'If no message arrives: switchboard doctor',
  )
  return 0
}

/** Switchboard runs on another machine: only .mcp.json is written here, and no token stands in it. */
async function initRemote(context: Context, agent: string, options: InitOptions): Promise<number> {
  const { attachUrl } = await import('../../app/channel-shim.ts')
  const url = attachUrl(options.url ?? '')
  const file = resolve('.mcp.json')
  const token = options.tokenFile === undefined ? [] : ['--token-file', resolve(options.tokenFile)]
  writeWhole(file, mcpJson(file, serverEntry(agent, ['--url', url, ...token]), options.force === true))
  if (context.json) {
    await context.printJson({ ok: true, file, config: null, config_kept: false, agent, next: START_COMMAND })
    return 0
  }
  await context.print(`${context.paint.green('wrote')} ${file}`)
  const where = options.tokenFile === undefined ? 'set SWITCHBOARD_TOKEN to it' : `put it into ${token[1]}`
  await context.print(
    `\nNext, where Switchboard runs: ${context.paint.bold(`switchboard token mint --kind agent --agent ${agent}`)}\n` +
      `Here, ${where}; then, in this folder: ${context.paint.bold(START_COMMAND)}`,
  )
  return 0
}

function serverEntry(agent: string, more: readonly string[]) {
  const words = ['channel', '--agent', agent, ...more]
  if (inPath('switchboard')) return { command: 'switchboard', args: words }
  const [command = process.execPath, ...own] = ownProgram()
  return { command, args: [...own, ...words] }
}

function inPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return folder !== ''
    } catch {
      return false
    }
  })
}

/** The file's text with our server in it; what else stands there stays. */
function mcpJson(file: string, entry: object, force: boolean): string {
  const parsed = existsSync(file) ? parse(file) : {}
  const servers = parsed.mcpServers ?? {}
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) throw notOurs(file)
  const known = (servers as Readonly<Record<string, unknown>>).switchboard
  if (known !== undefined && !force && JSON.stringify(known) !== JSON.stringify(entry)) {
    throw new SwitchboardError('input_invalid', `${file} has a server "switchboard" already`, {
      hint: 'replace it with --force',
    })
  }
  return `${JSON.stringify({ ...parsed, mcpServers: { ...servers, switchboard: entry } }, null, 2)}\n`
}

function parse(file: string): Readonly<Record<string, unknown>> {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw notOurs(file)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw notOurs(file)
  return parsed as Readonly<Record<string, unknown>>
}

function notOurs(file: string): SwitchboardError {
  return new SwitchboardError(
    'input_invalid',
    `${file} is not what Claude Code expects; nothing was written`,
    {
      hint: 'mend it by hand: a JSON object with "mcpServers"',
    },
  )
}

function writeWhole(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`
  writeFileSync(fresh, text, { mode: 0o644 })
  renameSync(fresh, file)
}

function claudeYaml(agent: string, port: number | null): string {
  return `# Switchboard for Claude Code. Check it with \`switchboard check\`; it is read again when it changes.

server:
  host: 127.0.0.1
  ${portLine(port)}

integrations:
  # The chat page at /chat: get a link with \`switchboard link\`.
  - id: web
    platform: web
    default: true
  # A Telegram bot, when you have one (its token: @BotFather):
  # - id: telegram
  #   platform: telegram
  #   token: env:TELEGRAM_BOT_TOKEN

agents:
  # Reached through the MCP server in .mcp.json.
  - id: ${agent}
    connector: { type: channel }
    inbound_bindings:
      - { plugin: web, instance: web }
      # - { plugin: telegram, instance: telegram }
`
}
