// Albums in webhook mode. Telegram posts each picture as a request of its own, and may wait for one answer before it
// posts the next. So each part is stored durably and answered at once. The parts become one message when no further
// part came for a moment. The next start continues albums that a stop left.
import { createHash } from 'node:crypto'
import type { Cancel, Clock, IntegrationCredentials, Logger, Random } from '../../contract/index.ts'
import { backoffMs } from '../../kit/index.ts'
import { MAX_ALBUM } from './albums.ts'

export interface OpenAlbumsDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Stores the parts. Absent: they are in memory, and each is answered when the album is committed. */
  readonly credentials?: IntegrationCredentials | undefined
  /** Commits the updates of one album, in any order. */
  readonly commit: (updates: readonly unknown[]) => Promise<void>
}

export interface OpenAlbums {
  /** Resolves when the part cannot be lost any more. */
  add(album: string, messageId: string, update: unknown): Promise<void>
  stop(): Promise<void>
}

const PREFIX = 'album.'
const RETRY = { baseMs: 500, maxMs: 30_000 }

export function createOpenAlbums(settleMs: number, deps: OpenAlbumsDeps): OpenAlbums {
  const { clock, log } = deps
  const credentials = deps.credentials ?? memoryCredentials()
  const timers = new Map<string, Cancel>()
  const waiting = new Map<string, ((outcome: Promise<void>) => void)[]>()
  let stopped = false

  /** `group` is the album's name without its parts. */
  const commitGroup = async (group: string) => {
    const names = (await credentials.names()).filter((name) => name.startsWith(group))
    const kept = await Promise.all(names.map((name) => credentials.get(name)))
    const updates = kept.flatMap((text) => (text === null ? [] : [JSON.parse(text) as unknown]))
    if (updates.length > 0) await deps.commit(updates)
    await credentials.remove(names)
  }

  const settle = async (group: string, attempt: number): Promise<void> => {
    timers.get(group)?.()
    timers.delete(group)
    const done = commitGroup(group)
    for (const tell of waiting.get(group) ?? []) tell(done)
    waiting.delete(group)
    try {
      await done
    } catch (thrown) {
      if (deps.credentials === undefined) return
      log.warn({ error: String(thrown), attempt }, 'an album could not be stored yet')
      if (!stopped) settleIn(backoffMs(attempt, RETRY, deps.random), group, attempt + 1)
    }
  }

  const settleIn = (ms: number, group: string, attempt = 1) => {
    timers.get(group)?.()
    timers.set(
      group,
      clock.after(ms, () => void settle(group, attempt)),
    )
  }

  const takeUp = async () => {
    const names = (await credentials.names()).filter((name) => name.startsWith(PREFIX))
    for (const group of new Set(names.map(groupOf))) if (!timers.has(group)) settleIn(settleMs, group)
  }
  takeUp().catch((thrown) => log.warn({ error: String(thrown) }, 'albums of before could not be looked for'))

  return {
    async add(album, messageId, update) {
      const group = `${PREFIX}${createHash('sha256').update(album).digest('hex').slice(0, 24)}.`
      await credentials.put(group + messageId, JSON.stringify(update))
      const parts = (await credentials.names()).filter((name) => name.startsWith(group)).length
      const committed = new Promise<Promise<void>>((resolve) => {
        // Wrapped in a function, because resolving with a promise would wait for it here.
        waiting.set(group, [...(waiting.get(group) ?? []), (outcome) => resolve(outcome)])
      })
      if (parts >= MAX_ALBUM) void settle(group, 1)
      else settleIn(settleMs, group)
      if (deps.credentials === undefined) await committed
      else committed.catch(() => undefined)
    },
    async stop() {
      stopped = true
      await Promise.all([...timers.keys()].map((group) => settle(group, 1)))
    },
  }
}

function groupOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.') + 1)
}

function memoryCredentials(): Pick<IntegrationCredentials, 'put' | 'get' | 'remove' | 'names'> {
  const kept = new Map<string, string>()
  return {
    put: async (name, value) => void kept.set(name, value),
    get: async (name) => kept.get(name) ?? null,
    remove: async (names) => {
      for (const name of names) kept.delete(name)
    },
    names: async () => [...kept.keys()],
  }
}
