// Commands that an ACP agent may run through its client, if the configuration allows it. Each is a kept process in the
// agent's folder, and keeps as much of its output as the agent asked for.
import { isAbsolute, relative, sep } from 'node:path'
import { RequestError } from '@agentclientprotocol/sdk'
import type { Random } from '../../contract/index.ts'
import type { KeptProcess, ProcessKeeper } from '../../kit/processes/index.ts'
import type { ClientMethods } from './agent-link.ts'

export interface ClientTerminals {
  readonly methods: ClientMethods
  /** Ends the running commands when the session is over. */
  stop(): Promise<void>
}

interface Terminal {
  readonly process: KeptProcess
  readonly limit: number
  output: string
  truncated: boolean
  exit: { readonly exitCode: number | null; readonly signal: string | null } | null
}

const MOST_TERMINALS = 16
const MOST_BYTES = 1_048_576

export function clientTerminals(
  {
    folder,
    environment,
  }: { readonly folder: string; readonly environment: Readonly<Record<string, string>> },
  {
    keeper,
    random,
    name,
  }: { readonly keeper: ProcessKeeper; readonly random: Random; readonly name: string },
): ClientTerminals {
  const terminals = new Map<string, Terminal>()
  const found = (id: unknown): Terminal => {
    const terminal = typeof id === 'string' ? terminals.get(id) : undefined
    if (!terminal) throw RequestError.invalidParams(undefined, 'terminalId: there is no such terminal')
    return terminal
  }
  const keep = (terminal: Terminal, chunk: Buffer) => {
    terminal.output += chunk.toString('utf8')
    if (terminal.output.length <= terminal.limit) return
    terminal.truncated = true
    terminal.output = terminal.output.slice(-terminal.limit)
  }
  return {
    methods: {
      'terminal/create': async ({ command, args, env, cwd, outputByteLimit }) => {
        if (typeof command !== 'string')
          throw RequestError.invalidParams(undefined, 'command: a text is needed')
        if (terminals.size >= MOST_TERMINALS)
          throw RequestError.invalidParams(undefined, `at most ${MOST_TERMINALS} terminals at once`)
        const process = await keeper.start(`${name} terminal`, {
          // The shell merges both outputs in their order.
          command: '/bin/sh',
          args: ['-c', 'exec "$@" 2>&1', 'sh', command, ...(Array.isArray(args) ? args.map(String) : [])],
          env: { ...environment, ...variables(env) },
          cwd: placed(folder, cwd),
        })
        const asked = typeof outputByteLimit === 'number' ? outputByteLimit : MOST_BYTES
        const limit = Math.max(0, Math.min(MOST_BYTES, asked))
        const terminal: Terminal = { process, limit, output: '', truncated: false, exit: null }
        const id = `term_${Buffer.from(random.bytes(9)).toString('hex')}`
        terminals.set(id, terminal)
        process.output.on('data', (chunk: Buffer) => keep(terminal, chunk))
        process.input.end()
        void process.ended.then(({ code, signal }) => {
          terminal.exit = { exitCode: code, signal }
        })
        return { terminalId: id }
      },
      'terminal/output': async ({ terminalId }) => {
        const { output, truncated, exit } = found(terminalId)
        return { output, truncated, ...(exit ? { exitStatus: exit } : {}) }
      },
      'terminal/wait_for_exit': async ({ terminalId }) => {
        const { code, signal } = await found(terminalId).process.ended
        return { exitCode: code, signal }
      },
      'terminal/kill': async ({ terminalId }) => {
        await found(terminalId).process.end('the agent ended it', 'now')
        return {}
      },
      'terminal/release': async ({ terminalId }) => {
        const terminal = found(terminalId)
        terminals.delete(String(terminalId))
        await terminal.process.end('the agent let go of it', 'now')
        return {}
      },
    },
    async stop() {
      await Promise.all(
        [...terminals.values()].map(({ process }) => process.end('the session is over', 'now')),
      )
      terminals.clear()
    },
  }
}

function placed(folder: string, cwd: unknown): string {
  if (typeof cwd !== 'string' || cwd === '') return folder
  const way = relative(folder, cwd)
  if (!isAbsolute(cwd) || way === '..' || way.startsWith(`..${sep}`))
    throw RequestError.invalidParams(undefined, 'cwd: it is outside of the folder that is open to you')
  return cwd
}

function variables(env: unknown): Record<string, string> {
  if (!Array.isArray(env)) return {}
  return Object.fromEntries(
    env.flatMap((one) => {
      const { name, value } = (one ?? {}) as { name?: unknown; value?: unknown }
      return typeof name === 'string' && typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
