// The same store methods at many sizes. They show whether each call costs more when there is more data.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childEnvironment, startNode } from '../processes.ts'
import type { BenchContext } from './context.ts'

export interface SizeFigures {
  readonly sessions: number
  readonly turns: number
  /** Per lane. */
  readonly take_us: number
  readonly settle_us: number
  readonly status_ms: number
  readonly turns_ms: number
  readonly failed_ms: number
  readonly stream_ms: number
  /** Heap per session, with its one waiting turn. */
  readonly bytes_a_waiting_session: number
  /** Heap per further turn that waits in a session. */
  readonly bytes_a_waiting_turn: number
}

const SESSIONS = { full: [1, 100, 10_000, 100_000], quick: [1, 100, 1_000] }
const TURNS = { full: [1_000_000, 10_000_000], quick: [20_000] }

export async function measureSizes(context: BenchContext): Promise<readonly SizeFigures[]> {
  const of = context.options.quick ? 'quick' : 'full'
  const found: SizeFigures[] = []
  for (const sessions of SESSIONS[of]) found.push(await measureOne(context, sessions, 0))
  let last = { turns: 1, ms: 0 }
  for (const turns of TURNS[of]) {
    if ((last.ms * turns) / last.turns > context.rounds.leftMs()) {
      context.say(`sizes: no time is left for ${turns.toLocaleString('en')} turns`)
      break
    }
    const began = performance.now()
    found.push(await measureOne(context, 100, turns))
    last = { turns, ms: performance.now() - began }
  }
  return found
}

async function measureOne(context: BenchContext, sessions: number, turns: number): Promise<SizeFigures> {
  const script = fileURLToPath(new URL('../size-costs.ts', import.meta.url))
  const dir = context.freshFolder('sizes')
  const args = [dir, context.options.entry, String(sessions), String(turns)]
  const child = startNode('any', ['--expose-gc', '--import', 'tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: childEnvironment({}),
  })
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the verbs at ${sessions} sessions and ${turns} turns ended with ${code}`)
  const figures = JSON.parse(printed) as SizeFigures
  context.say(sizeLine(figures))
  return figures
}

export function sizeLine(one: SizeFigures): string {
  const many = (count: number) => count.toLocaleString('en')
  return (
    `${many(one.sessions)} sessions that wait, ${many(one.turns)} turns before them: take ${one.take_us} µs and settle ` +
    `${one.settle_us} µs a lane, status ${one.status_ms} ms, turns ${one.turns_ms} ms, failed ones ${one.failed_ms} ms, ` +
    `stream ${one.stream_ms} ms, ${one.bytes_a_waiting_session} bytes of heap a session and ${one.bytes_a_waiting_turn} a turn that waits`
  )
}
