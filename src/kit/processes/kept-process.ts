// One process with its family. It is started in a group of its own, recorded and watched, read by lines or as a stream,
// and ended
// as a whole. running → ending (its input closed, then SIGTERM, then SIGKILL) → gone. `ended` resolves once, when its pipes are
// closed or were waited for long enough, and its family is gone.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type Cancel, type Clock, defined, type Logger, SwitchboardError } from '../../contract/index.ts'
import type { GroupWatcher } from './group-watcher.ts'
import { createLines } from './lines.ts'
import { bootId, MARK_NAME, markedBy, startTimeOf } from './proc-table.ts'
import { endFamily, type ProcessRecords } from './process-records.ts'
import { createRedactor } from './redact.ts'
import { createStderrLog } from './stderr-log.ts'

export interface ProcessLaunch {
  readonly command: string
  readonly args: readonly string[]
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Values that are masked wherever its output is shown. */
  readonly secrets?: readonly string[]
  /** The hint if the program is missing. */
  readonly hint?: string
}

export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  /** Why we ended it; null: it ended by itself. */
  readonly asked: string | null
  /** For people: how it ended, and its last line on stderr. */
  readonly words: string
}

export type EndHow = 'now' | 'unheard'

export interface KeptProcess {
  readonly name: string
  readonly pid: number
  readonly startedAt: number
  /** For protocols that need streams. Others use `write` and `readLines`. */
  readonly input: Writable
  readonly output: Readable
  /** Never rejects. */
  readonly ended: Promise<ProcessEnd>
  isAlive(): boolean
  /** Its last lines on stderr, masked. */
  stderr(): readonly string[]
  /** Resolves when the pipe took it. Throws `outcome_unknown` when the child does not read or is gone. */
  write(text: string): Promise<void>
  /** Reads its output by lines. A line over the limit is skipped and counted. Use it instead of `output`, once. */
  readLines(maxBytes: number, on: { line(text: string): void; tooLong(): void }): void
  /**
   * Closes its input, then sends SIGTERM, then SIGKILL. `now`: SIGTERM at once. `unheard`: SIGKILL at once, so that it
   * can do nothing more. Resolves when it is gone.
   */
  end(reason: string, how?: EndHow): Promise<ProcessEnd>
}

export interface KeptProcessDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly watcher: GroupWatcher
  readonly records: ProcessRecords
  readonly graceMs: number
  readonly writeTimeoutMs: number
  readonly mark: string
}

const MAX_STDERR_LINE_BYTES = 65_536
/** The bytes that may wait for a child that does not read. */
const MAX_UNREAD_BYTES = 16 * 1_048_576
/** A process that left the group may start others during a sweep, so there are several. */
const SWEEPS = 5

const GROUPED = process.platform !== 'win32'

/** Resolves when it runs. Throws `agent_absent` with the hint when it cannot be started. */
export function startProcess(
  name: string,
  launch: ProcessLaunch,
  deps: KeptProcessDeps,
): Promise<KeptProcess> {
  const { clock, records, mark, graceMs } = deps
  const redact = createRedactor(launch.secrets ?? [])
  const stderrLog = createStderrLog({ clock, log: deps.log, redact, who: name })
  // Before the start, so that a crash right after it leaves no process without a record or a watch.
  const unexpect = deps.watcher.expect(mark)
  records.put({ mark, name, pid: null, start: null, boot: bootId() })
  return new Promise((resolve, reject) => {
    const child: ChildProcessWithoutNullStreams = spawn(launch.command, [...launch.args], {
      env: { ...launch.env, [MARK_NAME]: mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: GROUPED,
      windowsHide: true,
      ...defined({ cwd: launch.cwd }),
    })
    let release = () => {}
    const failed = (error: NodeJS.ErrnoException) => {
      release()
      unexpect()
      records.remove(mark)
      reject(startError(launch, error))
    }
    child.once('error', failed)
    // Despite the types: without a free file descriptor there are no pipes, and `error` follows.
    if ((child.stdout as unknown) === undefined) return
    if (child.pid !== undefined)
      release = deps.watcher.hold(child.pid, [child.stdin, child.stdout, child.stderr])
    child.once('spawn', () => {
      child.off('error', failed)
      resolve(keep(child, release))
    })
  })

  function keep(child: ChildProcessWithoutNullStreams, release: () => void): KeptProcess {
    const pid = child.pid as number
    const start = startTimeOf(pid)
    const unwatch = deps.watcher.watch(pid, mark)
    records.put({ mark, name, pid, start, boot: bootId() })
    let alive = true
    let asked: string | null = null
    let how: { code: number | null; signal: string | null } = { code: null, signal: null }
    let cancels: Cancel[] = []
    let tell: (end: ProcessEnd) => void = () => undefined
    const ended = new Promise<ProcessEnd>((resolve) => {
      tell = resolve
    })
    const pipes = [child.stdin, child.stdout, child.stderr]
    const signal = (name: NodeJS.Signals) => endFamily({ pid, start, mark }, name)
    // The pipes are let go before the end is known, because a process that left the family may hold them for ever.
    const letGo = () => {
      for (const pipe of pipes) pipe.destroy()
    }
    let finished = false
    const finish = () => {
      if (finished) return
      finished = true
      alive = false
      for (const cancel of cancels) cancel()
      cancels = []
      letGo()
      const last = stderrLines.end()
      if (last !== '') stderrLog.line(last)
      signal('SIGKILL')
      for (let sweep = 0; sweep < SWEEPS && markedBy(mark).length > 0; sweep++) signal('SIGKILL')
      unwatch()
      release()
      unexpect()
      records.remove(mark)
      stderrLog.stop()
      tell({ ...how, asked, words: endWords(how, asked, stderrLog.last()) })
    }
    const stderrLines = createLines(MAX_STDERR_LINE_BYTES, { line: stderrLog.line, tooLong: () => undefined })
    child.stderr.on('data', (chunk: Buffer) => stderrLines.push(chunk))
    for (const pipe of pipes) pipe.on('error', () => undefined)
    child.on('error', () => undefined)
    child.once('exit', (code, name) => {
      how = { code, signal: name }
      // Its helpers may hold the pipes, so the rest of the family is ended too. Earlier output is still read.
      signal('SIGTERM')
      cancels.push(clock.after(graceMs, letGo), clock.after(graceMs + 1_000, finish))
    })
    child.once('close', finish)

    return {
      ...{ name, pid, startedAt: clock.now(), ended },
      input: child.stdin,
      output: child.stdout,
      isAlive: () => alive && asked === null,
      stderr: () => stderrLog.recent(),
      write: (text) =>
        new Promise((resolve, reject) => {
          const input = child.stdin
          if (!input.writable || input.writableLength > MAX_UNREAD_BYTES)
            return reject(new SwitchboardError('outcome_unknown', `${name} does not read what is written`))
          const cancel = clock.after(deps.writeTimeoutMs, () =>
            reject(new SwitchboardError('outcome_unknown', `${name} does not read what is written`)),
          )
          input.write(text, (error) => {
            cancel()
            if (error) reject(new SwitchboardError('outcome_unknown', `the input of ${name} is closed`))
            else resolve()
          })
        }),
      readLines(maxBytes, on) {
        const lines = createLines(maxBytes, on)
        child.stdout.on('data', (chunk: Buffer) => lines.push(chunk))
        child.stdout.once('end', () => {
          const rest = lines.end()
          if (rest.trim() !== '') on.line(rest)
        })
      },
      end(reason, when) {
        if (asked === null && !finished) {
          asked = reason
          if (when === 'unheard') signal('SIGKILL')
          child.stdin.end()
          child.stdout.resume()
          const termMs = when === undefined ? graceMs : 0
          if (when === 'now') signal('SIGTERM')
          else cancels.push(clock.after(termMs, () => signal('SIGTERM')))
          cancels.push(
            clock.after(termMs + graceMs, () => signal('SIGKILL')),
            clock.after(termMs + 2 * graceMs, finish),
          )
        }
        return ended
      },
    }
  }
}

const START_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'it is not on PATH, or its folder (cwd) is not there',
  EACCES: 'it may not be run',
  EMFILE: 'too many files are open here (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
  E2BIG: 'its arguments are too long',
}

function startError({ command, hint }: ProcessLaunch, { code = 'unknown' }: NodeJS.ErrnoException) {
  const why = START_WORDS[code] ?? code
  return new SwitchboardError('agent_absent', `"${command}" cannot be started: ${why}`, defined({ hint }))
}

function endWords(
  { code, signal }: { code: number | null; signal: string | null },
  asked: string | null,
  last: string | null,
): string {
  const how = asked === null ? `it ended (${signal ?? `exit code ${code}`})` : `it was ended: ${asked}`
  return last === null ? how : `${how}; it said: ${last}`
}
