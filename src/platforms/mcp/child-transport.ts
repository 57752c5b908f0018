// Runs a channel server as a child process and speaks MCP as lines over its pipes. The SDK's own transport does not fit
// for three reasons. Bad lines of a server must be counted. Its messages must be seen before a schema refuses them. And
// the whole process group must end, because `npx x` starts three processes.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import {
  type Cancel,
  type Clock,
  createBoundedMap,
  defined,
  MAX_MESSAGE_BYTES,
  readMessage,
  SwitchboardError,
} from '../../contract/index.ts'
import { createLines, type GroupWatcher } from '../../kit/processes/index.ts'
import type { StdioLaunch } from './config.ts'

export interface ChildTransport extends Transport {
  /** Stops reading, so that the pipe slows the server down. */
  pause(): void
  resume(): void
  /** Why it ended, or null while it runs. */
  ending(): string | null
}

export interface ChildTransportDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly graceMs: number
  readonly writeTimeoutMs: number
  /** Called for a line that is not an MCP message. */
  readonly noise: () => void
  readonly stderr: (line: string) => void
  /** Ends this process's group if we are killed, before the group notices its closed pipes. */
  readonly guard: GroupWatcher['guard']
}

const MAX_STDERR_LINE_BYTES = 65_536
const MOST_ASKED = 10_000
/** The most that a server that is being ended may still write. It is read regardless of pauses, so it needs a limit. */
const MAX_FAREWELL_BYTES = MAX_MESSAGE_BYTES
/** The most unread input of a child that does not read. */
const MAX_UNREAD_BYTES = 16 * 1_048_576

const START_HINT = 'is the command on PATH, and is cwd there?'
const START_HINTS: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open here (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
}

// The child gets its own process group, so that everything it started can be ended with it.
const GROUPED = process.platform !== 'win32'

export function createChildTransport(launch: StdioLaunch, deps: ChildTransportDeps): ChildTransport {
  let child: ChildProcessWithoutNullStreams | null = null
  let ending: string | null = null
  let unguard: () => void = () => undefined
  let closing: Promise<void> | null = null
  let cancels: Cancel[] = []
  /** Reports the end once: when the pipes are closed, or when waiting for them took too long. */
  let finish: () => void = () => undefined

  const signal = (name: NodeJS.Signals) => {
    const pid = child?.pid
    if (pid === undefined) return
    try {
      if (GROUPED) process.kill(-pid, name)
      else child?.kill(name)
    } catch {
      // The process is gone already.
    }
  }

  /** Our requests that are not answered yet. */
  const asked = createBoundedMap<string | number, true>(MOST_ASKED)
  /** Whether it is a request, a notification, or the answer to an open request. Other answers are dropped. */
  const belongs = (message: JSONRPCMessage): boolean => {
    if ('method' in message || !('id' in message) || message.id === undefined) return true
    return asked.delete(message.id)
  }

  const heard = (line: string) => {
    let message: unknown
    try {
      message = readMessage(line)
    } catch {
      if (line.trim() !== '') deps.noise()
      return
    }
    for (const one of Array.isArray(message) ? message : [message]) {
      if (isMessage(one) && belongs(one)) transport.onmessage?.(one)
      else deps.noise()
    }
  }

  const start = () =>
    new Promise<void>((resolve, reject) => {
      const started: ChildProcessWithoutNullStreams = spawn(launch.command, [...launch.args], {
        env: { ...launch.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: GROUPED,
        windowsHide: true,
        ...defined({ cwd: launch.cwd }),
      })
      started.once('error', (error: NodeJS.ErrnoException) => {
        const reason = `it cannot be started (${error.code ?? 'unknown'}): ${START_HINTS[error.code ?? ''] ?? START_HINT}`
        ending = reason
        reject(new SwitchboardError('platform_unavailable', reason))
      })
      // Despite the types there are no pipes when no file descriptor is left. `error` follows.
      if ((started.stdout as unknown) === undefined) return
      child = started
      const pipes = [started.stdin, started.stdout, started.stderr]
      if (started.pid !== undefined) unguard = deps.guard(started.pid, pipes)
      const stdout = createLines(MAX_MESSAGE_BYTES, { line: heard, tooLong: deps.noise })
      const stderr = createLines(MAX_STDERR_LINE_BYTES, { line: deps.stderr, tooLong: () => undefined })
      let farewell = 0
      started.stdout.on('data', (chunk: Buffer) => {
        stdout.push(chunk)
        if (closing === null) return
        farewell += chunk.length
        if (farewell <= MAX_FAREWELL_BYTES) return
        deps.noise()
        started.stdout.destroy()
      })
      started.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
      for (const pipe of pipes) pipe.on('error', (error) => transport.onerror?.(error))
      started.once('spawn', () => resolve())
      const letGo = () => {
        for (const pipe of pipes) pipe.destroy()
      }
      started.once('exit', (code, name) => {
        ending = closing === null ? `it ended (${name ?? `exit code ${code}`})` : 'it was ended'
        // Helper processes may hold the pipes open for ever, so the rest of the group is ended too. A process outside
        // the group cannot be ended, but its pipes are not waited for.
        if (closing === null) signal('SIGTERM')
        // The output before its death is read, however much waits.
        started.stdout.resume()
        cancels.push(deps.clock.after(deps.graceMs, letGo))
      })
      finish = () => {
        if (child !== started) return
        for (const cancel of cancels) cancel()
        cancels = []
        letGo()
        if (stdout.end().trim() !== '') deps.noise()
        const last = stderr.end()
        if (last !== '') deps.stderr(last)
        signal('SIGKILL')
        unguard()
        child = null
        transport.onclose?.()
      }
      started.once('close', () => finish())
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
      const { graceMs, clock } = deps
      const told = finish
      finish = () => {
        told()
        resolve()
      }
      cancels.push(
        clock.after(graceMs, () => signal('SIGTERM')),
        clock.after(2 * graceMs, () => signal('SIGKILL')),
        clock.after(3 * graceMs, () => finish()),
      )
      running.stdout.resume()
      running.stdin.end()
    })
    return closing
  }

  const transport: ChildTransport = {
    start,
    close,
    send(message: JSONRPCMessage) {
      if ('method' in message && 'id' in message) asked.set(message.id, true)
      return write(`${JSON.stringify(message)}\n`)
    },
    pause() {
      if (ending === null && closing === null) child?.stdout.pause()
    },
    resume: () => void child?.stdout.resume(),
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
