// A channel server as a child process: MCP as lines over its pipes. Not the SDK's own transport, because a server's bad
// line must be counted instead of lost, its messages must be seen before a schema refuses them, and the whole family of
// processes must end: `npx x` is three of them.
import { type ChildProcess, spawn } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import type { StdioLaunch } from './config.ts'
import { createLines } from './lines.ts'

export interface ChildTransport extends Transport {
  /** Stops reading: the pipe pushes back on the server. */
  pause(): void
  resume(): void
  /** Why it ended, once it has. */
  ending(): string | null
}

export interface ChildTransportDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly graceMs: number
  readonly writeTimeoutMs: number
  /** A line that is no MCP message. */
  readonly noise: () => void
  readonly stderr: (line: string) => void
  /** Somebody who ends the family of this process when we are killed. */
  readonly watch: (pid: number) => () => void
}

/** A message beyond this is skipped; the connection lives on. */
const MAX_MESSAGE_BYTES = 16 * 1_048_576
const MAX_STDERR_LINE_BYTES = 65_536
/** A child that does not read is not fed without end. */
const MAX_UNREAD_BYTES = 16 * 1_048_576

// A group of its own, so that all it started can be ended with it.
const GROUPED = process.platform !== 'win32'

export function createChildTransport(launch: StdioLaunch, deps: ChildTransportDeps): ChildTransport {
  let child: ChildProcess | null = null
  let ending: string | null = null
  let unwatch: () => void = () => undefined
  let closing: Promise<void> | null = null

  const signal = (name: NodeJS.Signals) => {
    const pid = child?.pid
    if (pid === undefined) return
    try {
      if (GROUPED) process.kill(-pid, name)
      else child?.kill(name)
    } catch {
      // It is gone already.
    }
  }

  const heard = (line: string) => {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      if (line.trim() !== '') deps.noise()
      return
    }
    for (const one of Array.isArray(message) ? message : [message]) {
      if (isMessage(one)) transport.onmessage?.(one)
      else deps.noise()
    }
  }

  const start = () =>
    new Promise<void>((resolve, reject) => {
      const started = spawn(launch.command, [...launch.args], {
        env: { ...launch.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: GROUPED,
        windowsHide: true,
        ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
      })
      child = started
      const stdout = createLines(MAX_MESSAGE_BYTES, { line: heard, tooLong: deps.noise })
      const stderr = createLines(MAX_STDERR_LINE_BYTES, { line: deps.stderr, tooLong: () => undefined })
      started.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
      started.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
      for (const pipe of [started.stdin, started.stdout, started.stderr])
        pipe.on('error', (error) => transport.onerror?.(error))
      started.once('error', (error: NodeJS.ErrnoException) => {
        const reason = `it cannot be started (${error.code ?? 'unknown'}): is the command on PATH, and is cwd there?`
        ending = reason
        reject(new SwitchboardError('platform_unavailable', reason))
      })
      started.once('spawn', () => {
        if (started.pid !== undefined) unwatch = deps.watch(started.pid)
        resolve()
      })
      started.once('exit', (code, name) => {
        ending = closing === null ? `it ended (${name ?? `exit code ${code}`})` : 'it was ended'
        // Its helpers may hold the pipes open for ever: what is left of the family goes too.
        if (closing === null) signal('SIGTERM')
        deps.clock.after(deps.graceMs, () => started.stdout.destroy())
      })
      started.once('close', () => {
        if (stdout.end().trim() !== '') deps.noise()
        const last = stderr.end()
        if (last !== '') deps.stderr(last)
        signal('SIGKILL')
        unwatch()
        child = null
        transport.onclose?.()
      })
    })

  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const input = child?.stdin
      if (!input?.writable || input.writableLength > MAX_UNREAD_BYTES)
        return reject(new SwitchboardError('platform_unavailable', 'it does not read what is sent'))
      const cancel = deps.clock.after(deps.writeTimeoutMs, () =>
        reject(new SwitchboardError('outcome_unknown', 'it does not read what is sent')),
      )
      input.write(text, (error) => {
        cancel()
        if (error) reject(new SwitchboardError('outcome_unknown', 'its input is closed'))
        else resolve()
      })
    })

  const close = () => {
    const running = child
    if (running === null) return Promise.resolve()
    closing ??= new Promise<void>((resolve) => {
      const cancels = [
        deps.clock.after(deps.graceMs, () => signal('SIGTERM')),
        deps.clock.after(2 * deps.graceMs, () => signal('SIGKILL')),
      ]
      running.once('close', () => {
        for (const cancel of cancels) cancel()
        resolve()
      })
      running.stdout?.resume()
      running.stdin?.end()
    })
    return closing
  }

  const transport: ChildTransport = {
    start,
    close,
    send: (message: JSONRPCMessage) => write(`${JSON.stringify(message)}\n`),
    pause: () => void child?.stdout?.pause(),
    resume: () => void child?.stdout?.resume(),
    ending: () => ending,
  }
  return transport
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { jsonrpc?: unknown }).jsonrpc === '2.0' &&
    ('method' in value || 'result' in value || 'error' in value)
  )
}
