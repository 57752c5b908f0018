// Measures what one input costs a real daemon: processor time of its main thread, and memory. Both numbers come from
// the kernel, so a busy machine does not change them.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Daemon } from './daemon.ts'
import { pause } from './until.ts'

const MOST_MS = 200
const RUNS = 3
export const MB = 1_048_576
const QUIET_MS = 250
const QUIET_NS = 6_000_000

/** Why it cannot be measured here. Null where it can. */
export const missing = process.platform === 'linux' ? null : 'only Linux tells what one thread spends'

/** Forms of text that took a reader more than linear time, or are likely to. */
const FAMILIES: Readonly<Record<string, (size: number) => string>> = {
  'line feeds': (size) => '\n'.repeat(size),
  'quoted lines': (size) => '> a\n'.repeat(size / 4),
  'nested quotes': (size) => '> '.repeat(size / 2),
  'nested brackets': (size) => '['.repeat(size),
  'nested lists': (size) => '- '.repeat(size / 2),
  'open emphasis': (size) => '*a **b '.repeat(size / 7),
  'open tags': (size) => '<b>'.repeat(size / 3),
  'channel tags': (size) => '</channel>'.repeat(size / 10),
  'rows of a table': (size) => `|a\n|-\n${'|a'.repeat(size / 2)}`,
  fences: (size) => '```\n'.repeat(size / 4),
  spaces: (size) => `a${' '.repeat(size - 2)}b`,
}
export const families = Object.keys(FAMILIES)
export const text = (family: string, size: number) => FAMILIES[family]?.(size) ?? ''

/** Forms of JSON that cost its reader most. The size is that of the whole value. */
const JSON_FAMILIES: Readonly<Record<string, (size: number) => string>> = {
  'one long text': (size) => `"${'a'.repeat(size - 2)}"`,
  'escaped line feeds': (size) => `"${'\\n'.repeat(size / 2 - 1)}"`,
  'open lists': (size) => '['.repeat(size),
  'many keys': (size) =>
    `{${Array.from({ length: Math.floor(size / 14) }, (_, at) => `"k${at.toString(36).padStart(6, '0')}":1`).join()}}`,
}
/** Values of the maximum size with the most parts that a reader works on. A message holds the value `times` times. */
const FULL_FAMILIES: Readonly<Record<string, (size: number, times: number) => string>> = {
  'the most blocks': (size, times) =>
    padded(size, Array.from({ length: 34_000 / times }, () => '{"type":"tool_use"}').join()),
  'the most keys': (size, times) =>
    `{${Array.from({ length: 70_000 / times }, (_, at) => `"${`${at}`.padEnd(size / (77_000 / times), 'k')}":1`).join()}}`,
  'the deepest lists': (size, times) =>
    padded(size, Array.from({ length: 350 / times }, () => '['.repeat(190) + ']'.repeat(190)).join()),
}
const padded = (size: number, values: string) => `["${'a'.repeat(size - values.length - 10)}",${values}]`

export const jsonFamilies = [...Object.keys(JSON_FAMILIES), ...Object.keys(FULL_FAMILIES)]
export const json = (family: string, size: number, times = 1) =>
  JSON_FAMILIES[family]?.(size) ?? FULL_FAMILIES[family]?.(size, times) ?? ''

interface Cost {
  readonly ms: number
  readonly bytes: number
}

export interface Measure {
  /** Waits until the main thread is almost idle. */
  quiet(): Promise<void>
  /**
   * Fails if an input of this size takes the main thread 200 ms or more, or more memory than 8 × its size and 64 MB.
   * `beside` is the number of bytes that a worker thread may take.
   */
  expectBounded(act: () => Promise<unknown>, size: number, beside?: number): Promise<void>
  /** Fails if the daemon keeps as much more memory than before the first input as the largest input may take. */
  expectReturned(): Promise<void>
}

/** Writes the numbers to test-results/`file` as well. */
export function createMeasure(daemonNow: () => Daemon, file: string): Measure {
  const results = `test-results/${file}`
  mkdirSync('test-results', { recursive: true })
  writeFileSync(results, '')
  const spentNs = () => {
    const { pid } = daemonNow()
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0])
  }
  const memoryOf = (name: string) => {
    const status = readFileSync(`/proc/${daemonNow().pid}/status`, 'utf8')
    return 1_024 * Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1])
  }

  const quiet = async (): Promise<void> => {
    for (let before = spentNs(); ; before = spentNs()) {
      await pause(QUIET_MS)
      if (spentNs() - before < QUIET_NS) return
    }
  }

  /** The least cost of some runs, so that garbage of an earlier input does not count. */
  const costOf = async (act: () => Promise<unknown>, mostBytes: number): Promise<Cost> => {
    const runs: Cost[] = []
    for (let run = 0; run < RUNS; run++) {
      await quiet()
      writeFileSync(`/proc/${daemonNow().pid}/clear_refs`, '5')
      const [before, memory] = [spentNs(), memoryOf('VmRSS')]
      await act()
      await quiet()
      const cost = { ms: (spentNs() - before) / 1e6, bytes: memoryOf('VmHWM') - memory }
      runs.push(cost)
      // One run is enough if the cost is far below the limit.
      if (cost.ms < MOST_MS / 2 && cost.bytes < mostBytes / 2) break
    }
    return { ms: Math.min(...runs.map(({ ms }) => ms)), bytes: Math.min(...runs.map(({ bytes }) => bytes)) }
  }

  /** The memory before the first input. */
  let emptyBytes: number | null = null
  let largest = 0

  return {
    quiet,
    async expectReturned() {
      await quiet()
      const bytes = memoryOf('VmRSS') - (emptyBytes ?? 0)
      appendFileSync(results, `${Math.round(bytes / MB)} MB more than before the first of them\n`)
      expect(bytes / MB, 'MB that the daemon holds afterwards').toBeLessThan((8 * largest) / MB + 64)
    },
    async expectBounded(act, size, beside = 0) {
      const mostBytes = 8 * size + 64 * MB + beside
      if (emptyBytes === null) {
        await quiet()
        emptyBytes = memoryOf('VmRSS')
      }
      largest = Math.max(largest, size)
      const { ms, bytes } = await costOf(act, mostBytes)
      const name = expect.getState().currentTestName ?? ''
      appendFileSync(results, `${Math.round(ms)} ms, ${Math.round(bytes / MB)} MB: ${name}\n`)
      expect(Math.round(ms), 'milliseconds of the main thread').toBeLessThan(MOST_MS)
      expect(bytes / MB, 'MB of memory').toBeLessThan(mostBytes / MB)
    },
  }
}
