// Tables for people: the command `turns --limit N` on a store that no process has open.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { seedPast } from '../../load/seed-past.ts'
import { childEnvironment } from '../../processes.ts'
import { rounded } from '../../statistics.ts'
import type { BenchContext } from '../context.ts'
import { timeToReady } from '../ready.ts'
import { agent, bound, makeLargeFolder, webhook } from './folder.ts'

/** Milliseconds by the number of lines, and the ratio of the cost per line, without the start of the command. */
export async function measureTables(context: BenchContext, few: number, many: number) {
  const folder = makeLargeFolder(context, 'tables', {
    integrations: [webhook('bench')],
    agents: [agent('bench', [bound('bench')])],
  })
  // A start creates the tables.
  await timeToReady(folder)
  seedPast(join(folder.dataDir, 'switchboard.db'), many)
  const print = async (limit: number) => {
    const words = ['turns', '--limit', String(limit), '--data', folder.dataDir, '--config', folder.configFile]
    const began = performance.now()
    const { stdout } = await promisify(execFile)(process.execPath, [folder.entry, ...words], {
      env: childEnvironment(folder.env),
      maxBuffer: 1 << 29,
    })
    const lines = stdout.split('\n').filter((line) => line.includes('answered')).length
    if (lines !== limit) throw new Error(`turns --limit ${limit} printed ${lines} of them`)
    return performance.now() - began
  }
  await print(1)
  const start = await print(1)
  const [small, large] = [await print(few), await print(many)]
  const found = {
    few_ms: rounded(small, 0),
    many_ms: rounded(large, 0),
    a_line_ratio: rounded((large - start) / many / ((small - start) / few), 2),
  }
  context.say(
    `turns --limit ${few}: ${found.few_ms} ms; ${many}: ${found.many_ms} ms; ${found.a_line_ratio}× a line`,
  )
  return found
}
