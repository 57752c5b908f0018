// The scene of a fault test: temporary data folders, daemons in them, and the command line. Everything is removed by
// pid and path when the test ends, whatever happened.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { rememberingTerminal } from '../../src/cli/fixtures/fake-daemon.ts'
import { BINARY, bareEnvironment, type Daemon, type DaemonOptions, type Launch, launch } from './daemon.ts'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Scene {
  folder(): string
  /** Starts a daemon and waits until it is ready. Throws with its log if it ends instead. */
  start(options: DaemonOptions): Promise<Daemon>
  /** Starts a daemon that may fail to start. */
  launch(options: DaemonOptions): Launch
  /** Runs this after the test, last first. */
  onEnd(undo: () => Promise<void> | void): void
  end(): Promise<void>
}

/** Undoes everything after each test. With `until-end` it does so when the test calls `end`. */
export function createScene(lasts: 'test' | 'until-end' = 'test'): Scene {
  const undo: (() => Promise<void> | void)[] = []
  const end = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  if (lasts === 'test') afterEach(end)

  const begin = (options: DaemonOptions): Launch => {
    const started = launch(options)
    undo.push(async () => {
      const daemon = await started.ready.catch(() => null)
      daemon?.signal('SIGKILL')
      if (started.process.exitCode === null && started.process.signalCode === null) {
        started.process.kill('SIGKILL')
      }
      await started.exited
    })
    return started
  }

  return {
    folder() {
      const path = mkdtempSync(join(tmpdir(), 'swb-fault-'))
      undo.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
      return path
    },
    async start(options) {
      const started = begin(options)
      const daemon = await started.ready
      if (daemon) return daemon
      const { code, signal } = await started.exited
      throw new Error(`the daemon ended (${code ?? signal}) instead of starting:\n${started.stderr()}`)
    },
    launch: begin,
    onEnd: (step) => void undo.push(step),
    end,
  }
}

/** Runs the command line as a person would. Never throws for an exit code. */
export function switchboard(data: string, ...args: readonly string[]): Promise<Ran> {
  return run(process.execPath, [BINARY, ...args, '--data', data], data)
}

export function run(program: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      cwd,
      env: bareEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/**
 * Runs a command in this process. It asks the daemon's socket, or the store, as the command does. Starting a process
 * takes ten times as long, and most questions are repeated until the answer is there.
 */
async function ask(data: string, args: readonly string[]): Promise<string> {
  const { run: runCommand } = await import('../../src/cli/run.ts')
  const terminal = rememberingTerminal({ env: bareEnvironment(), cwd: () => data, now: Date.now })
  const code = await runCommand([...args, '--json', '--data', data], terminal)
  const { out, err } = terminal.printed
  if (code !== 0) throw new Error(`switchboard ${args.join(' ')} exited ${code}: ${err}${out}`)
  return out
}

/** Returns one JSON object of a command that must succeed. */
export async function askJson<T>(data: string, ...args: readonly string[]): Promise<T> {
  return JSON.parse(await ask(data, args)) as T
}

/** Returns the JSON lines of a command that must succeed. */
export async function askLines<T>(data: string, ...args: readonly string[]): Promise<readonly T[]> {
  return (await ask(data, args))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

/** A configuration with a webhook for many conversations. A caller with the secret may name any of them. */
export function crowdConfig(data: string): string {
  return writeConfig(
    data,
    `tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: crowd, platform: webhook, secret: "file:crowd.secret", signature: plain, two_way: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: webhook, instance: crowd }]
`,
  )
}

/** The shared secret of `crowdConfig`. */
export const CROWD_SECRET = 'one-secret-for-the-crowd'

export function writeConfig(data: string, yaml: string): string {
  const file = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'crowd.secret'), CROWD_SECRET, { mode: 0o600 })
  writeFileSync(file, yaml)
  return file
}
