// The options of the connector `acp`: which program speaks the Agent Client Protocol, where it runs, and what it may
// do.
import { resolve } from 'node:path'
import { z } from 'zod'
import {
  type ConnectorDeps,
  type ProcessPlace,
  SECRET_REFERENCE,
  SwitchboardError,
} from '../../contract/index.ts'
import { duration, optionsProblem, text, textOrSecret } from '../../kit/option-words.ts'

export const acpOptions = z
  .strictObject({
    command: text('The program.'),
    args: z.array(z.string()).default([]).describe('Arguments.'),
    cwd: text('Folder it runs in, relative to this file. It must be there: it is never made.').optional(),
    env: z
      .record(z.string(), textOrSecret)
      .default({})
      .describe('Its environment: only this, plus PATH, HOME and the like.'),
    worktree: z
      .boolean()
      .default(false)
      .describe('A git worktree of cwd for each session, on a branch of its own.'),
    max_processes: z
      .int()
      .min(1)
      .max(1_000)
      .default(8)
      .describe('Processes at once; the longest idle one makes room.'),
    memory_mb: z
      .int()
      .min(16)
      .max(1_048_576)
      .describe('Memory of one process with its children; more ends it. Absent: no limit.')
      .optional(),
    idle_after: duration(
      'How long a process without work is kept; its session is taken up again later.',
      15 * 60_000,
    ),
    turn_timeout: duration('The longest that one message may take.', 60 * 60_000),
    silence: duration(
      'Without a sign for so long it is asked whether it lives; without an answer it is ended.',
      5 * 60_000,
    ),
    mode: text(
      'The mode that its sessions work in, by the id that the agent gives it (`session/set_mode`). Absent: the agent’s own.',
    ).optional(),
    auth: text(
      'The way to sign in, by the id that the agent gives it, where it can do so by itself.',
    ).optional(),
    files: z
      .enum(['none', 'read', 'write'])
      .default('none')
      .describe('Files in cwd that it may read, or read and write, through Switchboard.'),
    terminal: z.boolean().default(false).describe('Whether it may run commands in cwd through Switchboard.'),
    always: z
      .boolean()
      .default(false)
      .describe('A yes may stand for all later calls where the agent offers nothing less.'),
  })
  .describe('An ACP agent over stdio, one process a session.')

export type AcpOptions = z.output<typeof acpOptions>

export interface AcpConfig extends AcpOptions {
  readonly place: ProcessPlace
  readonly folder: string
  /** The whole environment of the program. */
  readonly environment: Readonly<Record<string, string>>
  /** Values that no log line or event may show. */
  readonly secrets: readonly string[]
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: Pick<ConnectorDeps, 'agent' | 'secret' | 'processes'>): AcpConfig {
  const invalid = (problem: string) =>
    new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.${problem}`)
  const parsed = acpOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) throw invalid(optionsProblem(parsed) ?? 'malformed')
  const place = deps.processes
  if (!place) throw invalid('type: it needs a data folder')
  const { cwd, env } = parsed.data
  const secrets: string[] = []
  const value = (written: string) => {
    if (!SECRET_REFERENCE.test(written)) return written
    const secret = deps.secret(written)
    secrets.push(secret)
    return secret
  }
  const listed = Object.fromEntries(Object.entries(env).map(([name, written]) => [name, value(written)]))
  return {
    ...parsed.data,
    place,
    folder: resolve(place.base, cwd ?? '.'),
    environment: { ...place.environment, ...listed },
    secrets,
  }
}
