// Turns one entry of `mcp_servers` into a launch: references are resolved, a plugin is found, and the stamp is set.
import {
  defined,
  LEASE_MS,
  LEASE_RENEW_MS,
  type McpServerSettings,
  type ServerStamp,
  SwitchboardError,
} from '../../contract/index.ts'

export interface StdioLaunch {
  readonly transport: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** The whole environment: PATH, HOME and the like, and the listed variables. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface HttpLaunch {
  readonly transport: 'http'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export type Launch = (StdioLaunch | HttpLaunch) & {
  readonly stamp: ServerStamp
  /** Resolved secrets. They are masked wherever the server's text is shown. */
  readonly secrets: readonly string[]
}

/** How a marketplace plugin is started; see the config room. */
export interface ResolvedPlugin {
  readonly command?: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly url?: string
  readonly headers: Readonly<Record<string, string>>
}

export interface LaunchDeps {
  /** Resolves `env:NAME`, `file:path` or `secret:NAME`. Throws `config_invalid`. */
  readonly secret: (reference: string) => string
  /** The variables of every child: PATH, HOME and the like. */
  readonly environment: Readonly<Record<string, string>>
  /** Throws `config_invalid` if it is not installed. */
  readonly plugin: (
    plugin: string,
    server: { readonly name: string; readonly listed: Readonly<Record<string, string>> },
  ) => ResolvedPlugin
}

export interface Timings {
  /** The deadline of `initialize`. A first start through npx has to download the program. */
  readonly initializeMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** A connection of this age resets the retry delays. */
  readonly stableMs: number
  /** The time between the end of a child's input and SIGTERM, and then until SIGKILL. */
  readonly graceMs: number
  readonly pingEveryMs: number
  readonly pingTimeoutMs: number
  readonly writeTimeoutMs: number
  readonly leaseMs: number
  readonly leaseRenewMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  initializeMs: 60_000,
  retryBaseMs: 500,
  retryMaxMs: 60_000,
  stableMs: 30_000,
  graceMs: 2_000,
  pingEveryMs: 60_000,
  pingTimeoutMs: 30_000,
  writeTimeoutMs: 10_000,
  leaseMs: LEASE_MS,
  leaseRenewMs: LEASE_RENEW_MS,
}

const REFERENCE = /^(env|file|secret):\S/

export function isEnabled({ options }: McpServerSettings): boolean {
  return options.enabled !== false
}

/** The source as the settings claim it, shown before it is resolved. */
export function writtenStamp({ options }: McpServerSettings): ServerStamp {
  return { source: textOf(options.plugin_source) ?? null, verified: false }
}

/** Throws `config_invalid` if a reference has no value or the plugin is missing. */
export function readLaunch({ name, options }: McpServerSettings, deps: LaunchDeps): Launch {
  const secrets: string[] = []
  const resolved = (value: unknown): Record<string, string> =>
    Object.fromEntries(
      Object.entries((value ?? {}) as Record<string, string>).map(([key, text]) => {
        if (!REFERENCE.test(text)) return [key, text]
        const found = deps.secret(text)
        secrets.push(found)
        return [key, found]
      }),
    )
  const listed = resolved(options.env)
  const headers = resolved(options.headers)
  const plugin = textOf(options.plugin)
  if (plugin !== undefined) {
    const found = deps.plugin(plugin, { name, listed })
    // The stamp is the place where the plugin was found, whatever the settings claim.
    const stamp = { source: plugin, verified: true }
    if (found.url !== undefined)
      return { transport: 'http', url: found.url, headers: { ...found.headers, ...headers }, stamp, secrets }
    const env = { ...deps.environment, ...found.env, ...listed }
    const { command = '', args, cwd } = found
    return { transport: 'stdio', command, args, env, cwd, stamp, secrets }
  }
  const stamp = writtenStamp({ name, options })
  const url = textOf(options.url)
  if (url !== undefined) return { transport: 'http', url, headers, stamp, secrets }
  const command = textOf(options.command)
  if (command === undefined)
    throw new SwitchboardError('config_invalid', `mcp_servers.${name} has neither command, url nor plugin`)
  const cwd = textOf(options.cwd)
  return {
    transport: 'stdio',
    command,
    args: (options.args ?? []) as readonly string[],
    env: { ...deps.environment, ...listed },
    ...defined({ cwd }),
    stamp,
    secrets,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
