// `switchboard init claude-code`: writes .mcp.json beside a switchboard.yaml with an agent for it, and says how to start.
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { installedUnder } from '../../../config/installed-plugin.ts'
import { SwitchboardError } from '../../../contract/index.ts'
import type { Context } from '../../context.ts'
import { usage } from '../../failure.ts'
import { ignoreSecrets } from '../../git-keeping.ts'
import { remember } from '../../own-instance.ts'
import { ownProgram } from '../../own-program.ts'
import { portLine } from '../../starter-config.ts'
import type { InitOptions } from './init.ts'

const START = 'claude --dangerously-load-development-channels'
const START_COMMAND = `${START} server:switchboard`
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
/** The plugin's own server is for this agent. */
const PLUGIN = 'switchboard'
const PLUGIN_AGENT = 'claude'

export async function initClaudeCode(context: Context, options: InitOptions): Promise<number> {
  const agent = options.agent ?? PLUGIN_AGENT
  if (!ID.test(agent)) throw usage(`--agent: "${agent}" is not an id`)
  const { port } = options
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535))
    throw usage(`--port: "${port}" is not a port`)
  if (options.url !== undefined) return initRemote(context, agent, options)
  if (options.tokenFile !== undefined) throw usage('--token-file goes with --url')
  const cwd = context.terminal.cwd()
  const config = resolve(cwd, context.givenConfig ?? 'switchboard.yaml')
  const configKept = existsSync(config)
  const instance = context.instanceOf(config)
  const named = instance.data.from === 'beside' ? [] : ['--data', instance.data.path]
  const plugin = pluginInstead(context, {
    agent,
    plain: context.givenConfig === undefined && named.length === 0,
  })
  const file = plugin === null ? resolve(cwd, '.mcp.json') : null
  // The file that may hold others' servers is looked at before anything is written.
  const mcp =
    file && mcpJson(file, serverEntry(agent, ['--config', config, ...named]), options.force === true)
  if (!configKept) writeWhole(config, claudeYaml(agent, port === undefined ? null : Number(port)))
  if (file && mcp) writeWhole(file, mcp)
  const ignored = await ignoreSecrets(dirname(config), [])
  remember(context, instance)
  const next = plugin === null ? START_COMMAND : `${START} plugin:${plugin}`
  if (context.json) {
    const told = { ok: true, file, config, config_kept: configKept, agent, plugin, next }
    await context.printJson({ ...told, gitignore_written: ignored })
    return 0
  }
  const { paint } = context
  if (file) await context.print(`${paint.green('wrote')} ${file}`)
  else
    await context.print(
      `${paint.green('found')} the plugin ${plugin}: it brings the server, and .mcp.json needs none`,
    )
  await context.print(
    configKept
      ? `${paint.green('kept ')} ${config} (it must have: - { id: ${agent}, connector: { type: channel } })`
      : `${paint.green('wrote')} ${config}`,
  )
  if (ignored)
    await context.print(`${paint.green('wrote')} ${resolve(dirname(config), '.gitignore')}: the data folder`)
  if (configKept && port !== undefined)
    context.note(paint.yellow(`--port ${port} was not written: change server.port in ${config}`))
  if (file) warnOfCache(context)
  await context.print(
    `\nNext, in this folder: ${paint.bold(next)}\n` +
      'It starts Switchboard by itself. Then get a link to the chat page with: switchboard link\n' +
      'If no message arrives: switchboard doctor',
  )
  return 0
}

/** The installed plugin that would start the very same server; null: .mcp.json has to. */
function pluginInstead(
  context: Context,
  { agent, plain }: { readonly agent: string; readonly plain: boolean },
): string | null {
  const [plugin] = installedUnder(PLUGIN, { variables: context.terminal.env }, context.terminal.cwd())
  if (plugin === undefined) return null
  if (agent === PLUGIN_AGENT && plain) return plugin
  context.note(
    context.paint.yellow(
      `the plugin ${plugin} is installed too, and serves the agent ${PLUGIN_AGENT} of the folder's own switchboard.yaml: start Claude Code with server:switchboard`,
    ),
  )
  return null
}

/** Switchboard runs on another machine: only .mcp.json is written here, and no token stands in it. */
async function initRemote(context: Context, agent: string, options: InitOptions): Promise<number> {
  const { attachUrl } = await import('../../../daemon/shim/channel-shim.ts')
  const url = attachUrl(options.url ?? '')
  const cwd = context.terminal.cwd()
  const file = resolve(cwd, '.mcp.json')
  const token = options.tokenFile === undefined ? [] : ['--token-file', resolve(cwd, options.tokenFile)]
  writeWhole(file, mcpJson(file, serverEntry(agent, ['--url', url, ...token]), options.force === true))
  if (context.json) {
    await context.printJson({ ok: true, file, config: null, config_kept: false, agent, next: START_COMMAND })
    return 0
  }
  await context.print(`${context.paint.green('wrote')} ${file}`)
  warnOfCache(context)
  const where = options.tokenFile === undefined ? 'set SWITCHBOARD_TOKEN to it' : `put it into ${token[1]}`
  await context.print(
    `\nNext, where Switchboard runs: ${context.paint.bold(`switchboard token mint --kind agent --agent ${agent}`)}\n` +
      `Here, ${where}; then, in this folder: ${context.paint.bold(START_COMMAND)}`,
  )
  return 0
}

/** Absolute: what a bare name leads to depends on the path of whoever starts it, and on a registry it may be a stranger's. */
function serverEntry(agent: string, more: readonly string[]) {
  const words = ['channel', '--agent', agent, ...more]
  const [command = process.execPath, ...own] = ownProgram()
  const script = own.pop() ?? ''
  return { command, args: [...own, realScript(script), ...words] }
}

function realScript(script: string): string {
  try {
    return realpathSync(script)
  } catch {
    return resolve(script)
  }
}

function warnOfCache(context: Context): void {
  const script = realScript(ownProgram().at(-1) ?? '')
  if (script.split(sep).includes('_npx'))
    context.note(
      context.paint.yellow(
        `${script} lies in npm's cache, which may be cleared: install Switchboard and run this again with it`,
      ),
    )
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
  # A Telegram bot, when you have one: \`switchboard integrations add telegram --agent ${agent}\` asks for its token,
  # tries it and keeps it encrypted. Or here, with \`switchboard secrets set TELEGRAM_BOT_TOKEN\` while it runs:
  # - id: telegram
  #   platform: telegram
  #   token: secret:TELEGRAM_BOT_TOKEN

agents:
  # Reached through the MCP server in .mcp.json.
  - id: ${agent}
    connector: { type: channel }
    inbound_bindings:
      - { plugin: web, instance: web }
      # - { plugin: telegram, instance: telegram }
`
}
