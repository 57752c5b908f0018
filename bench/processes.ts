// The child processes of the benchmark. They are pinned if possible, and always ended by their id.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { canPin } from './machine.ts'

export type Core = 'server' | 'generator' | 'any'

const living = new Set<ChildProcess>()
const STOP_MS = 20_000

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Starts Node on one core. `taskset` replaces itself by Node, so the id is Node's own. */
export function startNode(core: Core, args: readonly string[], options: SpawnOptions): ChildProcess {
  const pinned = canPin && core !== 'any'
  const child = pinned
    ? spawn('taskset', ['-c', core === 'server' ? '0' : '1', process.execPath, ...args], options)
    : spawn(process.execPath, args, options)
  living.add(child)
  child.once('exit', () => living.delete(child))
  return child
}

export interface Server {
  readonly pid: number
  readonly url: string
  /** Sends SIGTERM, then SIGKILL if needed. */
  stop(): Promise<void>
}

/** Starts a server that prints one JSON line with its `url` when it is ready. Rejects with its stderr. */
export async function startServer(
  core: Core,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const child = startNode(core, args, { stdio: ['ignore', 'pipe', 'pipe'], env: childEnvironment(env) })
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000)
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const line = text.split('\n').find((one) => one.startsWith('{') && one.endsWith('}'))
      const announced = line === undefined ? undefined : (JSON.parse(line) as { url?: string }).url
      if (announced !== undefined) resolve(announced)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}\n${errors}`)))
  })
  return { pid: child.pid ?? 0, url, stop: () => stopChild(child) }
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}

/** The variables that Node needs. Settings of the person who runs the benchmark do not reach the servers. */
export function childEnvironment(more: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '', LANG = 'C.UTF-8' } = process.env
  return { PATH, HOME, LANG, NODE_ENV: 'production', ...more }
}
