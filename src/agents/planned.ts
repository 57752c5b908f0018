// Connectors that SPEC names and that this version does not build: known by name and keys, so that a file which names one
// is refused for what it is. One that is built takes its schema along into its folder.
import { z } from 'zod'
import type { PlannedModule } from '../contract/index.ts'
import { text } from '../kit/option-words.ts'

const claudeCodeOptions = z
  .strictObject({
    command: text('The program.').default('claude'),
    cwd: text('Folder it runs in, relative to this file.').optional(),
    args: z.array(z.string()).default([]).describe('More arguments.'),
    model: text('Model.').optional(),
    permission_mode: text('Permission mode.').optional(),
    max_processes: z.int().min(1).max(1000).default(8).describe('Processes at once.'),
  })
  .describe('Claude Code, one process per session.')

export const claudeCode: PlannedModule = { name: 'claude-code', options: claudeCodeOptions }
