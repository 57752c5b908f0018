// `switchboard init claude-code`: writes .mcp.json beside a switchboard.yaml with an agent for it, and says how to start.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { installedUnder } from '../../../config/installed-plugin.ts'
import { SwitchboardError } from '../../../contract/index.ts'
import { ID } from '../../../setup/definition.ts'
import { ignoreSecrets } from '../../../setup/git-ignore.ts'
import { claudeCodeYaml } from '../../../setup/starter-files.ts'
import { writeConfigFile, writeWhole } from '../../../setup/write-file.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context } from '../../context.ts'
import { usage } from '../../failure.ts'
import { remember } from '../../own-instance.ts'
import { ownProgram } from '../../own-program.ts'
import { type InitOptions, portOf } from './init.ts'

const START = 'claude --dangerously-load-development-channels'
const START_COMMAND = `${START} server:switchboard`
/** The plugin's own server is for this agent. */
const PLUGIN = 'switchboard'
const PLUGIN_AGENT = 'claude'

export async function initClaudeCode(context: Context, options: InitOptions): Promise<number> {
  const agent = options.agent ?? PLUGIN_AGENT
  if (!ID.test(agent)) throw usage(`--agent: "${agent}" is not an id`)
  const port = options.port === undefined ? null : portOf(options.port)
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
  // The file may hold other servers, so it is read before anything is written.
  const mcp =
    file && mcpJson(file, serverEntry(agent, ['--config', config, ...named]), options.force === true)
  if (!configKept)
    await writeConfigFile(context.folder, { path: config, text: claudeCodeYaml(agent, port), before: null })
  if (file && mcp) writeWhole(file, mcp, { replace: true })
  const ignored = await ignoreSecrets(dirname(config))
  remember(context, instance)
  const next = plugin === null ? START_COMMAND : `${START} plugin:${plugin}`
  if (context.json) {
    const told = { ok: true, file, config, config_kept: configKept, agent, plugin, next }
    await context.printJson({ ...told, gitignore_written: ignored })
    return 0
  }
  const { paint } = context
  const mark = paint.green
  const words = wordsIn().setupCommands.claudeCode
  const { wrote } = wordsIn().setupCommands.init
  if (plugin !== null) await context.print(words.found({ plugin, mark }))
  else if (file !== null) await context.print(wrote({ file, mark }))
  await context.print(configKept ? words.kept({ file: config, agent, mark }) : wrote({ file: config, mark }))
  if (ignored) await context.print(words.wroteIgnore({ file: resolve(dirname(config), '.gitignore'), mark }))
  if (configKept && port !== null) context.note(paint.yellow(words.portKept({ port, file: config })))
  if (file) warnOfCache(context)
  await context.print(`\n${words.next({ command: next, mark: paint.bold })}`)
  return 0
}

/** The installed plugin that starts the same server. Null: .mcp.json has to. */
function pluginInstead(
  context: Context,
  { agent, plain }: { readonly agent: string; readonly plain: boolean },
): string | null {
  const [plugin] = installedUnder(PLUGIN, { variables: context.terminal.env }, context.terminal.cwd())
  if (plugin === undefined) return null
  if (agent === PLUGIN_AGENT && plain) return plugin
  const { pluginToo } = wordsIn().setupCommands.claudeCode
  context.note(context.paint.yellow(pluginToo({ plugin, agent: PLUGIN_AGENT })))
  return null
}

/** Switchboard runs on another machine: only .mcp.json is written here, without a token. */
async function initRemote(context: Context, agent: string, options: InitOptions): Promise<number> {
  const { attachUrl } = await import('../../../daemon/shim/channel-shim.ts')
  const url = attachUrl(options.url ?? '')
  const cwd = context.terminal.cwd()
  const file = resolve(cwd, '.mcp.json')
  const tokenFile = options.tokenFile === undefined ? null : resolve(cwd, options.tokenFile)
  const token = tokenFile === null ? [] : ['--token-file', tokenFile]
  const text = mcpJson(file, serverEntry(agent, ['--url', url, ...token]), options.force === true)
  writeWhole(file, text, { replace: true })
  if (context.json) {
    await context.printJson({ ok: true, file, config: null, config_kept: false, agent, next: START_COMMAND })
    return 0
  }
  const { claudeCode: words, init } = wordsIn().setupCommands
  await context.print(init.wrote({ file, mark: context.paint.green }))
  warnOfCache(context)
  const next = words.nextRemote({
    mint: `switchboard token mint --kind agent --agent ${agent}`,
    token: tokenFile === null ? words.setToken : words.putToken({ file: tokenFile }),
    start: START_COMMAND,
    mark: context.paint.bold,
  })
  await context.print(`\n${next}`)
  return 0
}

/** Absolute paths: what a bare name starts depends on the PATH of the host, and npx may fetch a package of a stranger. */
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
    context.note(context.paint.yellow(wordsIn().setupCommands.claudeCode.inCache({ script })))
}

/** The text of the file with our server in it. Everything else stays. */
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
