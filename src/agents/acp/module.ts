// The module of the connector `acp`: what Switchboard knows before it runs one.
import type { ConnectorModule, GateView } from '../../contract/index.ts'
import { acpOptions } from './config.ts'
import { judgeModeOfAny } from './modes.ts'

export const acpModule: ConnectorModule = {
  name: 'acp',
  options: acpOptions,
  docs: 'docs/agents/acp.md',
  asks: () => true,
  title: 'An agent that speaks ACP (Gemini CLI, Codex, OpenCode, …)',
  setup: {
    questions: [
      {
        key: 'command',
        flag: 'command',
        ask: 'The program with its arguments (gemini --acp)',
      },
      { key: 'cwd', flag: 'cwd', ask: 'The folder that it works in', default: '.' },
    ],
    /** People give one line. Its first word is the program. */
    complete({ command }) {
      if (typeof command !== 'string') return {}
      const [program = command, ...args] = wordsOf(command)
      return { command: program, args }
    },
    /** Starts the agent and reads its name. */
    async try(options, deps) {
      const { tryAgent } = await import('./try-agent.ts')
      return tryAgent(options, deps)
    },
  },
  doctor(agent) {
    const parsed = acpOptions.safeParse(agent.connector.options)
    if (!parsed.success) return []
    const { command, files, terminal, always, max_processes, idle_after, mode } = parsed.data
    const at = `${agent.origin}.connector`
    const minutes = Math.round(idle_after / 60_000)
    const flagged = (reason: string, key: string) => ({
      ...{ gate: 'doors', pass: true, flagged: true as const, reason, key: `${at}.${key}` },
    })
    return [
      {
        ...{ gate: 'program', pass: true, key: `${at}.command` },
        reason: `${command}: at most ${max_processes} processes, each ended after ${minutes} min without work`,
      },
      ...(files === 'write'
        ? [flagged('it may write files in its folder through Switchboard', 'files')]
        : []),
      ...(terminal ? [flagged('it may run commands in its folder through Switchboard', 'terminal')] : []),
      ...(mode === undefined ? [] : modeFindings(mode, flagged)),
      ...(always ? [flagged('a yes may stand for all later calls', 'always')] : []),
    ]
  },
  create: async (deps) => (await import('./index.ts')).createAcpConnector(deps),
}

type FlaggedGate = GateView & { readonly flagged: true }

/** Returns the findings about a configured mode: which actions it allows without asking. */
function modeFindings(
  mode: string,
  flagged: (reason: string, key: string) => FlaggedGate,
): readonly FlaggedGate[] {
  switch (judgeModeOfAny(mode)) {
    case 'asks':
      return []
    case 'unasked':
      return [{ ...flagged(`in the mode ${mode} tools run without being asked about`, 'mode'), open: 'high' }]
    default:
      return [
        {
          ...flagged(`the mode ${mode} is not known to ask a person before tools run`, 'mode'),
          open: 'medium',
        },
      ]
  }
}

/** Splits a line into words as a shell does, with quotes only. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )
}
