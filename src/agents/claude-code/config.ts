// The options of the connector `claude-code`: which program, where it runs, and what it may do without asking.
import { resolve } from 'node:path'
import { z } from 'zod'
import {
  type ConnectorDeps,
  type ProcessPlace,
  SECRET_REFERENCE,
  SwitchboardError,
  type TokenList,
  type TurnJournal,
} from '../../contract/index.ts'
import { duration, optionsProblem, text, textOrSecret } from '../../kit/option-words.ts'

const IDLE_MS = 10 * 60_000
const SILENT_MS = 2 * 60_000
const TURN_MS = 60 * 60_000

export const claudeCodeOptions = z
  .strictObject({
    command: text('The program.').default('claude'),
    cwd: text(
      'Folder it works in, relative to this file. Absent: a folder of its own in the data folder.',
    ).optional(),
    args: z.array(z.string()).default([]).describe('More arguments, behind our own.'),
    env: z
      .record(z.string(), textOrSecret)
      .default({})
      .describe('Its environment beside PATH, HOME and the like: what is not listed it does not get.'),
    model: text('Model.').optional(),
    permission_mode: text('Permission mode: default, plan, acceptEdits and so on.').default('default'),
    always_allow: z
      .array(z.string())
      .default([])
      .describe('Tools whose allowed call is not asked for again in that session: Bash, Edit, an MCP tool.'),
    worktree: z.boolean().default(false).describe('A git worktree of cwd a session, on a branch of its own.'),
    max_processes: z.int().min(1).max(1000).default(8).describe('Processes at once.'),
    max_memory_mb: z.int().min(64).optional().describe('Memory that one may hold, with all it started.'),
    idle_after: duration('How long one without work is kept.', IDLE_MS),
    silence: duration('Without a sign for so long in a turn, it is asked whether it lives.', SILENT_MS),
    turn_timeout: duration('How long a turn may work; waiting for a person does not count.', TURN_MS),
  })
  .describe('Claude Code, one process per session.')

export interface ClaudeCodeConfig extends Omit<z.output<typeof claudeCodeOptions>, 'env' | 'cwd'> {
  /** An absolute path. */
  readonly cwd: string
  /** The folder lies in the data folder and is created there. A configured folder is never created. */
  readonly isOwnFolder: boolean
  readonly env: Readonly<Record<string, string>>
  /** The values behind references. They are masked wherever the program's own output is shown. */
  readonly secrets: readonly string[]
  readonly place: ProcessPlace
  readonly journal: TurnJournal
  readonly tokens: TokenList
  readonly publicBase: () => string
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: ConnectorDeps): ClaudeCodeConfig {
  const invalid = (problem: string) =>
    new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.${problem}`)
  const parsed = claudeCodeOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) throw invalid(optionsProblem(parsed) ?? 'malformed')
  const { processes: place, journal, tokens, publicBase } = deps
  if (!place || !journal || !tokens || !publicBase)
    throw invalid('type: it needs a data folder, a store and a server for its tools')
  const { env, cwd, ...options } = parsed.data
  if (options.worktree && cwd === undefined)
    throw invalid('worktree: it needs a cwd that is a git repository')
  const secrets: string[] = []
  const resolved = Object.entries(env).map(([name, written]): [string, string] => {
    if (!SECRET_REFERENCE.test(written)) return [name, written]
    const value = deps.secret(written)
    secrets.push(value)
    return [name, value]
  })
  return {
    ...options,
    isOwnFolder: cwd === undefined,
    cwd: cwd === undefined ? resolve(place.folder, 'work') : resolve(place.base, cwd),
    env: Object.fromEntries(resolved),
    ...{ secrets, place, journal, tokens, publicBase },
  }
}
