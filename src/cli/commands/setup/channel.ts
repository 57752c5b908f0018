// `switchboard channel --agent ID`: the MCP channel server that a host spawns. stdout is the host's alone.
import { decodeText, readFileBounded } from '../../../config/yaml/text-file.ts'
import { SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { ownProgram } from '../../own-program.ts'

export interface ChannelOptions {
  readonly agent?: string
  readonly dialect?: string
  /** False with --no-start. */
  readonly start?: boolean
  readonly url?: string
  readonly tokenFile?: string
}

export const channel: Run<ChannelOptions> = async (context, _args, options) => {
  const { agent, dialect = 'claude' } = options
  if (agent === undefined)
    throw usage('--agent is missing', 'name the agent of switchboard.yaml that this host serves')
  if (dialect !== 'claude' && dialect !== 'nexo')
    throw usage(`--dialect: "${dialect}" is none`, 'write claude or nexo')
  const remote = await remoteTarget(context, options)
  const { runChannelShim } = await import('../../../daemon/shim/channel-shim.ts')
  const configFile = context.configFile()
  return runChannelShim({
    agent,
    dialect,
    folder: context.folder,
    configFile,
    configGiven: context.instance.config !== null && context.instance.config.from !== 'found',
    env: context.terminal.env,
    program: ownProgram(),
    input: process.stdin,
    output: process.stdout,
    logLevel: logLevel(context),
    remote,
    revive: options.start !== false,
    onSignal(handle) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
      for (const signal of signals) process.on(signal, handle)
      return () => {
        for (const signal of signals) process.off(signal, handle)
      }
    },
  })
}

/** The daemon on another machine. Null: the one of the data folder. The token is not an option, because others could read it. */
async function remoteTarget(
  context: Context,
  { url, tokenFile }: ChannelOptions,
): Promise<{ readonly url: string; token(): string } | null> {
  if (url === undefined) {
    if (tokenFile === undefined) return null
    throw usage('--token-file is for a daemon on another machine', 'name the machine with --url, too')
  }
  const { attachUrl } = await import('../../../daemon/shim/channel-shim.ts')
  const target = attachUrl(url)
  const inEnvironment = context.terminal.env.SWITCHBOARD_TOKEN
  const token = () => (tokenFile === undefined ? (inEnvironment ?? '').trim() : tokenIn(tokenFile))
  if (token() === '')
    throw usage(
      'a daemon on another machine needs a token',
      'name a file with --token-file, or set SWITCHBOARD_TOKEN',
    )
  if (target.startsWith('ws:') && !/^ws:\/\/(localhost|127\.|\[::1\])/.test(target)) {
    const { commandLine, setupCommands } = wordsIn()
    const text = setupCommands.claudeCode.withoutTls({ host: new URL(target).host })
    context.terminal.err(`${commandLine.labels.warning} ${text}\n`)
  }
  return { url: target, token }
}

function tokenIn(file: string): string {
  let text: string
  try {
    const decoded = decodeText(readFileBounded(file))
    if ('problem' in decoded) throw new Error(decoded.problem)
    text = decoded.text.trim()
  } catch (thrown) {
    throw unreadable(file, thrown instanceof Error ? thrown.message : String(thrown))
  }
  if (!/^\S+$/.test(text)) throw unreadable(file, text === '' ? 'it is empty' : 'it holds more than one word')
  return text
}

function unreadable(file: string, why: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `no token can be read from ${file}: ${why}`, {
    hint: 'the file holds the token and nothing else',
  })
}

function logLevel(context: Context): string {
  return context.terminal.env.SWITCHBOARD_LOG || 'warn'
}
