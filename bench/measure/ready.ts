// The time from the spawn of a fresh process to the first 200 of /readyz, and its memory at rest.
import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { freePort } from '../../src/testing/free-port.ts'
import { residentMb } from '../machine.ts'
import { childEnvironment, startNode, stopChild } from '../processes.ts'
import { makeFolder, type SwitchboardFolder, startSwitchboard, upArguments } from '../servers/switchboard.ts'
import { median, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

const GIVE_UP_MS = 30_000
const REST_MS = 5_000

export interface ReadyReport {
  /** The first start in an empty folder, median. */
  readonly first_ms: number
  /** A start in a used folder, median. */
  readonly again_ms: number
  readonly all_ms: readonly number[]
  /** The command `status` beside a running daemon, from its start to its end, median. */
  readonly status_ms: number
}

export async function measureReady(context: BenchContext): Promise<ReadyReport> {
  const times = context.options.quick ? 3 : 9
  const first: number[] = []
  const again: number[] = []
  for (let at = 0; at < times; at++) {
    const { options, secret } = context
    const folder = makeFolder({
      dir: context.freshFolder('ready'),
      entry: options.entry,
      agent: 'demo',
      secret,
    })
    first.push(await timeToReady(folder))
    again.push(await timeToReady(folder))
  }
  const status = await timeStatus(context, times)
  context.say(
    `ready after ${Math.round(median(first))} ms (first start), ${Math.round(median(again))} ms (again); status ${Math.round(status)} ms`,
  )
  return {
    first_ms: rounded(median(first), 0),
    again_ms: rounded(median(again), 0),
    all_ms: first.map((ms) => rounded(ms, 0)),
    status_ms: rounded(status, 0),
  }
}

async function timeStatus(context: BenchContext, times: number): Promise<number> {
  const { options, secret } = context
  const dir = context.freshFolder('status')
  const folder = makeFolder({ dir, entry: options.entry, agent: 'demo', secret })
  const server = await startSwitchboard(folder, 'any')
  const { entry, dataDir, configFile } = folder
  const args = [entry, 'status', '--data', dataDir, '--config', configFile]
  try {
    const took: number[] = []
    for (let at = 0; at < times; at++) {
      const began = performance.now()
      await promisify(execFile)(process.execPath, args, { env: childEnvironment(folder.env) })
      took.push(performance.now() - began)
    }
    return median(took)
  } finally {
    await server.stop()
  }
}

/** The process is not pinned, because a start uses what the machine has. */
export async function timeToReady(folder: SwitchboardFolder): Promise<number> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = startNode('any', upArguments(folder, port), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: childEnvironment(folder.env),
  })
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000)
  })
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}\n${errors}`)
      if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('the daemon does not get ready')
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return performance.now() - startedAt
  } finally {
    await stopChild(child)
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const ask = request(
      { host: '127.0.0.1', port, path: '/readyz', agent: false, timeout: 1_000 },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    )
    ask.on('error', () => resolve(false))
    ask.on('timeout', () => ask.destroy())
    ask.end()
  })
}

/** The resident memory of a daemon after an idle time. */
export async function measureRest(context: BenchContext): Promise<number | null> {
  const { options, secret } = context
  const folder = makeFolder({ dir: context.freshFolder('rest'), entry: options.entry, agent: 'demo', secret })
  const server = await startSwitchboard(folder, 'any')
  try {
    await new Promise((resolve) => setTimeout(resolve, REST_MS))
    const mb = residentMb(server.pid)
    context.say(`at rest: ${mb?.toFixed(1) ?? '?'} MB`)
    return rounded(mb, 1)
  } finally {
    await server.stop()
  }
}
