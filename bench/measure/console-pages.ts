// What the console's pages ask for when they are opened: Now, and the first page of Conversations. Timed by turns with
// what else is asked of an empty and of a grown store.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SwitchboardFolder } from '../servers/switchboard.ts'
import { quantile } from '../statistics.ts'

const CALLS = 30

/** As web/console asks: all of a page's questions at once. */
const PAGES = {
  now: ['/api/status', '/api/pairings', '/api/series?since=24h'],
  conversations: ['/api/status', '/api/conversations?limit=100'],
} as const

export interface ConsoleTimes {
  readonly now: number
  readonly conversations: number
}

/** Medians in milliseconds. The list of conversations is told new rows when somebody looks: one look goes before. */
export async function timeConsole(folder: SwitchboardFolder, url: string): Promise<ConsoleTimes> {
  const token = readFileSync(join(folder.dataDir, 'admin.token'), 'utf8').trim()
  const ask = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    await response.text()
  }
  const time = async (paths: readonly string[]) => {
    await Promise.all(paths.map(ask))
    const taken: number[] = []
    for (let at = 0; at < CALLS; at++) {
      const before = performance.now()
      await Promise.all(paths.map(ask))
      taken.push(performance.now() - before)
    }
    return quantile(taken, 0.5)
  }
  return { now: await time(PAGES.now), conversations: await time(PAGES.conversations) }
}
