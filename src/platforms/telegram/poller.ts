// Long polling: learn who we are → getUpdates from the stored offset → intake.receive with the next offset in the same
// commit → again. Telegram forgets an update only when a later offset is requested. So nothing is confirmed before its
// commit, and the messages of a downtime are the first batch.
//
// A poll that neither answers nor fails in time is aborted and repeated over a new connection. A 409 means that another
// program polls with this token, or set a webhook. That is reported, and the wait gets longer each time.
import {
  asSwitchboardError,
  type Clock,
  type LinkLease,
  type Logger,
  type PlatformIntake,
  type Random,
  type Received,
  SwitchboardError,
} from '../../contract/index.ts'
import { type Link, type LinkState, pause, startLink } from '../../kit/index.ts'
import { gatherAlbums, MAX_ALBUM, trailingAlbum } from './albums.ts'
import type { TelegramClient } from './client.ts'
import type { Timings } from './config.ts'
import { ALLOWED_UPDATES, type Parsed, parseUpdate, type Self } from './parse.ts'

export interface PollerDeps {
  readonly client: TelegramClient
  readonly self: () => Promise<Self>
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly lease?: LinkLease | undefined
  readonly tell: (link: LinkState) => void
  readonly settled: (parsed: readonly Parsed[], received: readonly Received[]) => void
}

const LIMIT = 100
const LONGEST_ALBUM_WAITS = 5
const HASTY_MS = 100
const HASTY_PAUSE_MS = 500

export function startPoller(timings: Timings, cursor: string | null, deps: PollerDeps): Pick<Link, 'stop'> {
  const { client, clock, random, log, lease } = deps
  let offset = readOffset(cursor)
  let album: { readonly key: string; readonly parts: number; readonly waits: number } | null = null

  const poll = async (waitMs: number, signal: AbortSignal): Promise<readonly unknown[]> => {
    const updates: unknown = await client.call(
      'getUpdates',
      { offset, limit: LIMIT, timeout: Math.ceil(waitMs / 1000), allowed_updates: [...ALLOWED_UPDATES] },
      { timeoutMs: waitMs + timings.pollMarginMs, signal, repeatable: true },
    )
    if (!Array.isArray(updates))
      throw new SwitchboardError('platform_unavailable', 'Telegram: getUpdates gave no list')
    return updates
  }

  /** Commits a batch. An album at its end is left for the next poll until it no longer grows. */
  const take = async (given: readonly unknown[], self: Self, signal: AbortSignal) => {
    const updates = inOrder(given)
    const parsed = updates.map(({ update }) => parseUpdate(update, self, clock.now()))
    const held = albumToHold(parsed)
    const count = held ?? updates.length
    const last = updates[count - 1]
    if (last !== undefined) {
      const whole = parsed.slice(0, count).filter((one) => one !== null)
      const events = gatherAlbums(whole)
      const next = last.id + 1
      const received = await deps.intake
        .receive(
          events.map(({ event }) => event),
          { cursor: String(next) },
        )
        .catch(unfenced)
      offset = next
      deps.settled(events, received)
    }
    if (held !== null) await pause(clock, timings.albumSettleMs, signal)
  }

  /** How many updates may be committed now; null: all of them. */
  const albumToHold = (parsed: readonly (Parsed | null)[]): number | null => {
    const trailing = trailingAlbum(parsed)
    if (trailing === null || trailing.parts >= MAX_ALBUM) {
      album = null
      return null
    }
    const before: typeof album = album
    const waits = before?.key === trailing.key ? before.waits + 1 : 0
    if ((before?.key === trailing.key && before.parts === trailing.parts) || waits >= LONGEST_ALBUM_WAITS) {
      album = null
      return null
    }
    album = { key: trailing.key, parts: trailing.parts, waits }
    return trailing.from
  }

  const pollOn = async (signal: AbortSignal, up: () => void) => {
    album = null
    // The first poll returns at once, so that a backlog or a rival is noticed.
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const self = await deps.self()
      const isPatient = !isFirst && album === null
      const askedAt = clock.now()
      const updates = await poll(isPatient ? timings.pollTimeoutMs : 0, signal)
      await take(updates, self, signal)
      up()
      // A server without long polling answers "nothing" at once, and must not be asked without a pause.
      if (isPatient && updates.length === 0 && clock.now() - askedAt < HASTY_MS)
        await pause(clock, HASTY_PAUSE_MS, signal)
    }
  }

  return startLink({
    ...{ clock, random, log, lease },
    report: deps.tell,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    words: {
      failed: 'polling failed',
      lost: 'the lease of its poller was lost',
      elsewhere: 'another node polls for this integration',
      unknown: 'the store does not say which node polls',
    },
    async connect({ signal, up }) {
      try {
        await pollOn(signal, up)
      } catch (thrown) {
        const { code, message } = asSwitchboardError(thrown)
        if (code !== 'conflict') throw thrown
        const retry = { baseMs: timings.conflictBaseMs, maxMs: timings.conflictMaxMs }
        return { why: conflictDetail(message), down: true, retry }
      }
    },
  })
}

/** Another node holds the lease by now. This is no conflict with a foreign program. */
function unfenced(thrown: unknown): never {
  const { code, message } = asSwitchboardError(thrown)
  if (code === 'conflict') throw new SwitchboardError('platform_unavailable', `not stored: ${message}`)
  throw thrown
}

function readOffset(cursor: string | null): number {
  const value = Number(cursor ?? '0')
  return Number.isSafeInteger(value) && value > 0 ? value : 0
}

/**
 * Sorts by update id, each once, because a busy server repeats and reorders. An update without an id refuses the batch.
 */
function inOrder(updates: readonly unknown[]): readonly { readonly id: number; readonly update: unknown }[] {
  const byId = new Map<number, unknown>()
  for (const update of updates) {
    const id = (update as { update_id?: unknown } | null)?.update_id
    if (typeof id !== 'number')
      throw new SwitchboardError('platform_unavailable', 'Telegram: an update without update_id')
    byId.set(id, update)
  }
  return [...byId].sort(([a], [b]) => a - b).map(([id, update]) => ({ id, update }))
}

function conflictDetail(said: string): string {
  return /webhook/i.test(said)
    ? `${said}. A webhook is set for this bot: delete it (deleteWebhook), or use mode: webhook`
    : `${said}. Another program polls with the same token: stop it, or give this integration a bot of its own`
}
