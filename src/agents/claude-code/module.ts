// The module of the connector `claude-code`: what Switchboard knows before it runs one.
import type { AgentSettings, ConnectorModule, GateView } from '../../contract/index.ts'
import { claudeCodeOptions } from './config.ts'

export const claudeCodeModule: ConnectorModule = {
  name: 'claude-code',
  options: claudeCodeOptions,
  docs: 'docs/agents/claude-code.md',
  asks: () => true,
  title: 'Claude Code, started by Switchboard',
  setup: {
    questions: [
      { key: 'command', flag: 'command', ask: 'the program', default: 'claude' },
      { key: 'cwd', flag: 'cwd', ask: 'the folder it works in', optional: () => true },
    ],
    /** Finds the program, its version, and whether it is signed in. It calls no model. */
    try: async (options, deps) => (await import('./try-claude.ts')).tryClaude(options, deps),
  },
  doctor,
  create: async (deps) => (await import('./index.ts')).createClaudeCodeConnector(deps),
}

const UNASKED = ['bypassPermissions', 'dontAsk']

function doctor(agent: AgentSettings): readonly GateView[] {
  const parsed = claudeCodeOptions.safeParse(agent.connector.options)
  if (!parsed.success) return []
  const { permission_mode: mode, always_allow: always, args } = parsed.data
  const key = (name: string) => `${agent.origin}.connector.${name}`
  const skips = args.includes('--dangerously-skip-permissions')
  return [
    UNASKED.includes(mode) || skips
      ? {
          gate: 'approvals',
          pass: true,
          flagged: true,
          open: 'high',
          reason: 'it uses every tool without asking anybody, for whoever may write to it',
          key: skips ? key('args') : key('permission_mode'),
        }
      : {
          gate: 'approvals',
          pass: true,
          ...(always.length === 0 ? {} : { flagged: true }),
          reason:
            always.length === 0
              ? `asked for (permission mode ${mode})`
              : `asked for (permission mode ${mode}); one allowed call of ${always.join(', ')} allows its like for the session`,
          key: always.length === 0 ? key('permission_mode') : key('always_allow'),
        },
  ]
}
