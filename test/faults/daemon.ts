// A real daemon under test: the built binary in a process of its own. The test starts it, kills it by its pid and asks
// it.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../../src/contract/index.ts'
import { until } from './until.ts'

/** The binary that is shipped. */
export const SHIPPED = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** The binary under test. SWITCHBOARD_BIN selects another build. */
export const BINARY = process.env.SWITCHBOARD_BIN ?? SHIPPED

export interface DaemonOptions {
  readonly data: string
  readonly config?: string
  /** The default is a free port. */
  readonly port?: number
  readonly env?: Readonly<Record<string, string>>
  /** Another command line than `BINARY`. */
  readonly binary?: string
  /** Put in front of the command, for example strace and its arguments. */
  readonly under?: readonly string[]
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface LogLine {
  readonly level: number
  readonly time: string
  readonly msg: string
  readonly [field: string]: unknown
}

export interface Daemon {
  /** The pid of the daemon itself, also when it runs under another program. */
  readonly pid: number
  readonly url: string
  readonly data: string
  readonly exited: Promise<Exit>
  /** Everything on its stderr so far. */
  stderr(): string
  log(): readonly LogLine[]
  signal(name: NodeJS.Signals): void
  /** Kills it with SIGKILL and waits for the end. */
  kill9(): Promise<Exit>
  /** Sends SIGTERM and waits for the end. */
  terminate(): Promise<Exit>
}

export interface Launch {
  readonly process: ChildProcess
  readonly exited: Promise<Exit>
  /** The daemon when it is ready, or null when it ended before. */
  readonly ready: Promise<Daemon | null>
  stderr(): string
}

/** Starts `switchboard up --json` on a free port. Never throws. `ready` and `exited` hold the result. */
export function launch(options: DaemonOptions): Launch {
  const [program = process.execPath, ...args] = [
    ...(options.under ?? []),
    process.execPath,
    options.binary ?? BINARY,
    'up',
    '--json',
    ...['--port', String(options.port ?? 0), '--data', options.data],
    ...(options.config === undefined ? [] : ['--config', options.config]),
  ]
  const child = spawn(program, args, {
    cwd: options.data,
    env: { ...bareEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  let ended: Exit | null = null
  const exited = new Promise<Exit>((resolve) => {
    // `close` comes after `exit`, when everything that it wrote has been read.
    child.once('close', (code, signal) => {
      ended = { code, signal }
      resolve(ended)
    })
    child.once('error', () => resolve({ code: null, signal: null }))
  })
  const ready = until('the daemon is ready or has ended', () => out.includes('\n') || ended !== null).then(
    () => (out.includes('\n') ? daemonOf(child, out, exited, () => err) : null),
  )
  return { process: child, exited, ready, stderr: () => err }
}

function daemonOf(child: ChildProcess, out: string, exited: Promise<Exit>, stderr: () => string): Daemon {
  const said = JSON.parse(out.slice(0, out.indexOf('\n'))) as { pid: number; url: string; data: string }
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(said.pid, name)
  }
  const end = (name: NodeJS.Signals) => {
    signal(name)
    return exited
  }
  return {
    pid: said.pid,
    url: said.url,
    data: said.data,
    exited,
    stderr,
    log: () => logLines(stderr()),
    signal,
    kill9: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  }
}

/** Parses the log. Every line must be JSON. Any other line fails the test. */
function logLines(text: string): readonly LogLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine)
}

/** The variables that the machine needs to run a program, and none that could change Switchboard. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', TMPDIR } = process.env
  return { PATH, HOME: testHome(), NO_COLOR: '1', ...defined({ TMPDIR }) }
}

let madeHome: string | null = null

/** A home for the user under test, one for each test file. So tests record nothing in the real home. */
function testHome(): string {
  if (madeHome === null) {
    const made = mkdtempSync(join(tmpdir(), 'swb-home-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    madeHome = made
  }
  return madeHome
}
