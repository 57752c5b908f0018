// Finds the state of the official Claude Code plugins by their own rules: folders, variables, the `.env` beside the state, static
// mode. It is only read here.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface ClaudeState {
  readonly folder: string
  /** The plugin, when the folder or its name tells. */
  readonly plugin: Plugin | null
  /** The state is a snapshot, so no person can be paired. */
  readonly isStatic: boolean
  /** The name of the token's variable in the `.env` file. Null: there is none. */
  readonly tokenIn: { readonly file: string; readonly name: string } | null
}

type Plugin = 'telegram' | 'discord' | 'imessage'
type Environment = Readonly<Record<string, string | undefined>>

const PLUGINS: readonly Plugin[] = ['telegram', 'discord', 'imessage']

/** `given` is a folder, a file in it, or the name of a plugin. */
export function claudeState(given: string, env: Environment): ClaudeState {
  const named = PLUGINS.find((one) => one === given)
  const folder = named !== undefined && !isThere(given) ? stateFolder(named, env) : given
  const plugin = named ?? PLUGINS.find((one) => folder.split(/[\\/]/).includes(one)) ?? null
  const beside = readEnvFile(join(isFolder(folder) ? folder : join(folder, '..'), '.env'))
  if (plugin === null) return { folder, plugin, isStatic: false, tokenIn: null }
  const prefix = plugin.toUpperCase()
  // The real environment wins over the file.
  const mode = env[`${prefix}_ACCESS_MODE`] ?? beside.values.get(`${prefix}_ACCESS_MODE`)
  const token = `${prefix}_BOT_TOKEN`
  return {
    folder,
    plugin,
    isStatic: mode === 'static',
    tokenIn: beside.values.has(token) ? { file: beside.file, name: token } : null,
  }
}

function stateFolder(plugin: Plugin, env: Environment): string {
  const given = env[`${plugin.toUpperCase()}_STATE_DIR`]
  if (given) return given
  const home = join(env.HOME ?? '/', '.claude')
  // Only the telegram one looks at CLAUDE_CONFIG_DIR.
  const root = plugin === 'telegram' ? env.CLAUDE_CONFIG_DIR || home : home
  return join(root, 'channels', plugin)
}

function readEnvFile(file: string): { readonly file: string; readonly values: ReadonlyMap<string, string> } {
  const values = new Map<string, string>()
  try {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
      if (name !== undefined && value !== undefined) values.set(name, value)
    }
  } catch {
    // Usually there is none.
  }
  return { file, values }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
