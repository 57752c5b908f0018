// Claude Code's own gates for channel messages. Claude Code does not tell the server when it closes one, so `doctor` reads
// the reason from its debug log.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface ClaudeGate {
  readonly gate: string
  /** Matches what Claude Code writes when this gate is closed. */
  readonly says: RegExp
  readonly todo: string
}

/** In the order in which Claude Code checks them. */
export const CLAUDE_GATES: readonly ClaudeGate[] = [
  {
    gate: 'capability',
    says: /did not declare claude\/channel capability/,
    todo: 'the server was started with --dialect nexo: leave the option out for Claude Code',
  },
  {
    gate: 'protocol',
    says: /negotiated a modern protocol revision/,
    todo: 'start Claude Code with MCP_PROTOCOL_NEGOTIATION=legacy',
  },
  {
    gate: 'provider',
    says: /not available on third-party providers/,
    todo: 'channels need claude.ai or a Console key, not Bedrock, Vertex or Foundry',
  },
  {
    gate: 'feature',
    says: /channels feature is not currently available/,
    todo: 'Claude Code could not fetch its feature flags: check the network, log in again, restart it',
  },
  {
    gate: 'org policy',
    says: /not enabled by org policy/,
    todo: 'an admin sets channelsEnabled: true in the managed settings',
  },
  {
    gate: 'session',
    says: /not in --channels list for this session/,
    todo: 'start it with: claude --dangerously-load-development-channels server:switchboard (as a plugin: plugin:switchboard@switchboard)',
  },
  {
    gate: 'marketplace',
    says: /but the installed plugin is/,
    todo: 'name the plugin with the marketplace it was installed from: plugin:switchboard@MARKETPLACE',
  },
  {
    gate: 'allowlist',
    says: /approved channels (allowlist|list)/,
    todo: 'use --dangerously-load-development-channels instead of --channels, or have an admin add it to allowedChannelPlugins',
  },
]

export interface SkippedChannel {
  readonly server: string
  readonly reason: string
  readonly gate: string
  readonly todo: string
  readonly file: string
}

const NAMES_US = /MCP server "((?:[^"]+:)?switchboard)": (.+)/
const REGISTRATION = /^Channel notifications /
const SKIPPED = /^Channel notifications skipped: (.+)$/
const NEWEST_FILES = 5
const MOST_BYTES = 8 * 1_048_576

/**
 * What Claude Code's newest debug log that names our server says last about it: an older one, or an earlier line, may
 * blame a gate that is open by now. Nothing when it wrote none (`claude --debug` does), or when no gate was closed.
 */
export function skippedChannels(
  env: Readonly<Record<string, string | undefined>>,
): readonly SkippedChannel[] {
  const folder = join(env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude'), 'debug')
  for (const file of newestLogs(folder)) {
    const last = lastWords(readFileSync(file, 'utf8'))
    if (last === null) continue
    return [...last].flatMap(([server, said]) => {
      const reason = SKIPPED.exec(said)?.[1]?.trim()
      if (reason === undefined) return []
      const gate = CLAUDE_GATES.find((one) => one.says.test(reason))
      return [
        {
          server,
          reason,
          gate: gate?.gate ?? 'unknown',
          todo: gate?.todo ?? 'see docs/guide/claude-code.md',
          file,
        },
      ]
    })
  }
  return []
}

/** Returns the last line about the registration of each of our servers. Null: the log does not name us. */
function lastWords(log: string): ReadonlyMap<string, string> | null {
  const last = new Map<string, string>()
  let named = false
  for (const line of log.split('\n')) {
    const [, server, said = ''] = NAMES_US.exec(line) ?? []
    if (server === undefined) continue
    named = true
    if (REGISTRATION.test(said)) last.set(server, said)
  }
  return named ? last : null
}

function newestLogs(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.txt'))
      .map((name) => ({ path: join(folder, name), stat: statSync(join(folder, name)) }))
      .filter(({ stat }) => stat.isFile() && stat.size <= MOST_BYTES)
      .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)
      .slice(0, NEWEST_FILES)
      .map(({ path }) => path)
  } catch {
    return [] // there is none, or it is not ours to read
  }
}
