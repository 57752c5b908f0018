// Requests to a store of a million turns besides its work: the lists by filter, doctor, the ledger's head and export,
// and pruning. It also measures how long others wait meanwhile.
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Gaps, openGaps } from '../load/loop-gap.ts'
import { childEnvironment, startNode } from '../processes.ts'
import { type SwitchboardFolder, startSwitchboard } from '../servers/switchboard.ts'
import { median, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import { ask, tokenOf } from './scale/folder.ts'

const CALLS = 5
const EXPORT_MS = 15_000
/** Filters with recent matches, with no match, and with all turns. A scan is visible in one of them. */
const LISTS = {
  failed: 'turns?state=failed',
  queued: 'turns?state=queued',
  agent: 'turns?agent=bench',
  idle_agent: 'turns?agent=nobody',
  sender: 'turns?sender=nobody',
  since: 'turns?since=1m',
} as const

export interface GrowthReads {
  readonly rest_gap_ms: number
  /** The median per filter, and the longest wait of others. A list without an index is walked in slices. */
  readonly turns: Readonly<Record<keyof typeof LISTS, ListTime>>
  readonly doctor_ms: number
  readonly head_ms: number
  /** The part of the export that arrived in 15 seconds. */
  readonly export: { readonly seconds: number; readonly mb: number; readonly gap_ms: number }
}

export interface ListTime {
  readonly ms: number
  readonly gap_ms: number
}

export interface PruneReport {
  readonly gap_ms: number
  readonly slices: number
  readonly rows: number
}

export async function measureReads(context: BenchContext, folder: SwitchboardFolder): Promise<GrowthReads> {
  const server = await startSwitchboard(folder, 'any')
  const gaps = await openGaps(server.url)
  try {
    const rest = (await gaps.during(() => wait(1_000))).gapMs
    const timed = async (path: string) => {
      await ask(folder, server.url, path)
      const times: number[] = []
      for (let at = 0; at < CALLS; at++) times.push((await ask(folder, server.url, path)).ms)
      return rounded(median(times), 1)
    }
    const listed = async (path: string): Promise<ListTime> => {
      const { result, gapMs } = await gaps.during(() => timed(path))
      return { ms: result, gap_ms: rounded(gapMs, 0) }
    }
    const turns = {
      failed: await listed(LISTS.failed),
      queued: await listed(LISTS.queued),
      agent: await listed(LISTS.agent),
      idle_agent: await listed(LISTS.idle_agent),
      sender: await listed(LISTS.sender),
      since: await listed(LISTS.since),
    }
    context.say(`turns by filter: ${JSON.stringify(turns)}`)
    const [doctor_ms, head_ms] = [await timed('doctor'), await timed('audit/head')]
    const exported = await streamed(folder, server.url, gaps)
    context.say(
      `doctor ${doctor_ms} ms, head ${head_ms} ms, export ${exported.mb} MB in ${exported.seconds} s: ` +
        `others waited ${exported.gap_ms} ms at most`,
    )
    return {
      rest_gap_ms: rounded(rest, 0),
      turns,
      doctor_ms,
      head_ms,
      export: exported,
    }
  } finally {
    gaps.close()
    await server.stop()
  }
}

async function streamed(folder: SwitchboardFolder, url: string, gaps: Gaps): Promise<GrowthReads['export']> {
  const headers = { authorization: `Bearer ${tokenOf(folder)}` }
  const began = performance.now()
  const { result, gapMs } = await gaps.during(async () => {
    const answer = await fetch(`${url}/api/audit/export`, { headers })
    if (!answer.ok || answer.body === null) throw new Error(`the export answered ${answer.status}`)
    let bytes = 0
    for await (const chunk of answer.body) {
      bytes += chunk.length
      if (performance.now() - began > EXPORT_MS) break
    }
    return bytes
  })
  const seconds = rounded((performance.now() - began) / 1000, 1)
  return { seconds, mb: rounded(result / 1e6, 1), gap_ms: rounded(gapMs, 0) }
}

/** Afterwards the bodies of the folder are gone. */
export async function measurePrune(context: BenchContext, folder: SwitchboardFolder): Promise<PruneReport> {
  const script = fileURLToPath(new URL('../prune-gap.ts', import.meta.url))
  const forMs = context.options.quick ? 500 : 10_000
  const args = ['--import', 'tsx', script, folder.dataDir, context.options.entry, String(forMs)]
  const child = startNode('any', args, { stdio: ['ignore', 'pipe', 'inherit'], env: childEnvironment({}) })
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`pruning ended with ${code}`)
  const found = JSON.parse(printed) as PruneReport
  context.say(`pruning: ${found.rows} bodies in ${found.slices} slices, the longest ${found.gap_ms} ms`)
  return found
}
