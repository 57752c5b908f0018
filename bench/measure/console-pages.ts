// The requests of the console's pages when they open: Now, and the first page of Conversations. They alternate with
// other requests to an empty and a grown store.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SwitchboardFolder } from '../servers/switchboard.ts'
import { quantile } from '../statistics.ts'

const CALLS = 30

/** All requests of a page at once, as web/console makes them. */
const PAGES = {
  now: ['/api/status', '/api/pairings', '/api/series?since=24h'],
  conversations: ['/api/status', '/api/conversations?limit=100'],
} as const

export interface ConsoleTimes {
  readonly now: number
  readonly conversations: number
}

/** Medians in milliseconds. A first request gathers new rows into the list of conversations and is not measured. */
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
