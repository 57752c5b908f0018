// An MCP host on stdio with minimal parsing. It starts a channel server, opens it as Claude Code does, and counts what
// the server pushes.
import type { ChildProcess } from 'node:child_process'
import { childEnvironment, startNode, stopChild } from '../processes.ts'

export interface Pushed {
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
}

export interface McpHost {
  readonly pid: number
  /** The time from the spawn to the answer of `initialize`. */
  readonly startMs: number
  /** Resolves when this many notifications arrived since the start. */
  heard(count: number): Promise<void>
  /** Calls `listen` with each notification. */
  onPush(listen: (pushed: Pushed) => void): void
  call(tool: string, input: Readonly<Record<string, string>>): void
  stop(): Promise<void>
}

interface Line {
  readonly id?: number
  readonly method?: string
  readonly params?: Pushed
}

export async function startMcpHost(args: readonly string[]): Promise<McpHost> {
  const began = performance.now()
  const child: ChildProcess = startNode('any', args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: childEnvironment({}),
  })
  let seen = 0
  let wanted = Number.POSITIVE_INFINITY
  let reached: () => void = () => undefined
  let listen: (pushed: Pushed) => void = () => undefined
  let calls = 1
  let rest = ''
  const say = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const opened = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)))
    child.stdin?.on('error', () => undefined)
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const message = JSON.parse(line) as Line
        if (message.id === 1) resolve()
        if (message.method !== 'notifications/claude/channel') continue
        if (message.params) listen(message.params)
        if (++seen >= wanted) reached()
      }
    })
  })
  const clientInfo = { name: 'bench', version: '1' }
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await opened
  const startMs = performance.now() - began
  say({ method: 'notifications/initialized' })
  return {
    pid: child.pid ?? 0,
    startMs,
    heard: (count) =>
      new Promise((resolve) => {
        wanted = count
        reached = resolve
        if (seen >= wanted) resolve()
      }),
    onPush(told) {
      listen = told
    },
    call: (name, input) => say({ id: ++calls, method: 'tools/call', params: { name, arguments: input } }),
    stop: () => stopChild(child),
  }
}
