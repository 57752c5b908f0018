// `switchboard channel --agent ID`: the MCP channel server that a host spawns. stdout is the host's alone.
import { resolve } from 'node:path'
import type { Context, Run } from '../context.ts'
import { usage } from '../failure.ts'

export interface ChannelOptions {
  readonly agent?: string
  readonly dialect?: string
  /** False with --no-start. */
  readonly start?: boolean
}

export const channel: Run<ChannelOptions> = async (context, _args, options) => {
  const { agent, dialect = 'claude' } = options
  if (agent === undefined)
    throw usage('--agent is missing', 'name the agent of switchboard.yaml that this host serves')
  if (dialect !== 'claude' && dialect !== 'nexo')
    throw usage(`--dialect: "${dialect}" is none`, 'write claude or nexo')
  const { runChannelShim } = await import('../../app/channel-shim.ts')
  const configFile = context.configFile()
  return runChannelShim({
    agent,
    dialect,
    folder: context.folder,
    configFile: configFile === null ? null : resolve(configFile),
    env: context.terminal.env,
    program: ownProgram(),
    input: process.stdin,
    output: process.stdout,
    logLevel: logLevel(context),
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

function logLevel(context: Context): string {
  return context.terminal.env.SWITCHBOARD_LOG || 'warn'
}

/** How this very program is started, with node's own options. */
export function ownProgram(): readonly string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? '']
}
