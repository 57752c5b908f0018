// Controls the load generator from the benchmark. It prepares, measures the server's CPU time during the load, and
// reports.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Probe } from '../probe.ts'
import { childEnvironment, startNode, stopChild } from '../processes.ts'
import type { FromGenerator, LoadPlan, LoadResult, ToGenerator } from './messages.ts'

export interface Measured extends LoadResult {
  /** CPU time of the server's processes per message. Null if the kernel does not report it. */
  readonly cpuMicrosPerMessage: number | null
  /** Bytes that they wrote to the disk per message, log and checkpoints together. */
  readonly diskBytesPerMessage: number | null
}

const GIVE_UP_MS = 240_000

export interface Load {
  /** Throws when a connection breaks or an answer is not 200. */
  run(plan: LoadPlan, server: Probe): Promise<Measured>
  stop(): Promise<void>
}

export function startLoad(): Load {
  const child = startNode(
    'generator',
    ['--import', 'tsx', fileURLToPath(new URL('generator.ts', import.meta.url))],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: childEnvironment({}),
    },
  )
  const ended = once(child, 'exit').then(() => ({ is: 'failed', error: 'the generator ended' }) as const)
  const ask = async (message: ToGenerator): Promise<FromGenerator> => {
    child.send(message)
    const answered = once(child, 'message').then(([answer]) => answer as FromGenerator)
    const answer = await Promise.race([answered, ended, tooLate(message.do)])
    if (answer.is === 'failed') throw new Error(`load generator: ${answer.error}`)
    return answer
  }
  return {
    async run(plan, server) {
      await ask({ do: 'prepare', plan })
      const before = { cpu: server.cpu(), disk: server.disk() }
      const answer = await ask({ do: 'measure' })
      const after = { cpu: server.cpu(), disk: server.disk() }
      if (answer.is !== 'done') throw new Error('load generator: out of step')
      const { statuses } = answer.result
      if (statuses[200] !== plan.warmUp + plan.messages) {
        throw new Error(`not every answer was 200: ${JSON.stringify(statuses)}`)
      }
      return {
        ...answer.result,
        cpuMicrosPerMessage: perMessage(before.cpu, after.cpu, plan.messages),
        diskBytesPerMessage: perMessage(before.disk, after.disk, plan.messages),
      }
    },
    stop: () => stopChild(child),
  }
}

/** A server that hangs must not hang the benchmark. */
async function tooLate(what: string): Promise<FromGenerator> {
  await new Promise((resolve) => setTimeout(resolve, GIVE_UP_MS).unref())
  return { is: 'failed', error: `${what} took more than ${GIVE_UP_MS / 1000} s` }
}

function perMessage(before: number | null, after: number | null, messages: number): number | null {
  return before === null || after === null ? null : (after - before) / messages
}
