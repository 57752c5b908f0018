// Webhook mode: Telegram posts one update a request and takes a 200 for "received", so it is said after the commit.
// Parts of an album come as requests side by side: they wait for each other for a moment and are committed as one.
import {
  type Cancel,
  type HttpReply,
  type Logger,
  type PlatformDeps,
  type PlatformIntake,
  type Received,
  SwitchboardError,
  type VerifiedRequest,
} from '../../contract/index.ts'
import { backoffMs } from '../../kit/index.ts'
import { gatherAlbums, MAX_ALBUM } from './albums.ts'
import type { TelegramClient } from './client.ts'
import type { TelegramConfig, Timings } from './config.ts'
import { ALLOWED_UPDATES, type Parsed, parseUpdate, type Self } from './parse.ts'
import type { LinkState } from './poller.ts'

export interface WebhookDoor {
  /** Throws when nothing was committed: the server then answers 5xx, and Telegram comes again. */
  handle(verified: VerifiedRequest): Promise<HttpReply>
  stop(): Promise<void>
}

interface WebhookDeps extends Pick<PlatformDeps, 'clock' | 'random'> {
  readonly client: TelegramClient
  readonly self: () => Promise<Self>
  readonly intake: PlatformIntake
  readonly log: Logger
  readonly tell: (link: LinkState) => void
  readonly settled: (parsed: readonly Parsed[], received: readonly Received[]) => void
}

interface OpenAlbum {
  readonly parts: Parsed[]
  readonly done: Promise<void>
  readonly close: () => void
}

const TAKEN: HttpReply = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }

export function createWebhookDoor(config: TelegramConfig, timings: Timings, deps: WebhookDeps): WebhookDoor {
  const albums = new Map<string, OpenAlbum>()
  let cancelRetry: Cancel = () => undefined
  let stopped = false

  const commit = async (parsed: readonly Parsed[]) => {
    const events = gatherAlbums(parsed)
    const received = await deps.intake.receive(events.map(({ event }) => event))
    deps.settled(events, received)
  }

  const joinAlbum = (key: string, part: Parsed): Promise<void> => {
    const open = albums.get(key) ?? openAlbum(key)
    open.parts.push(part)
    if (open.parts.length >= MAX_ALBUM) open.close()
    return open.done
  }

  const openAlbum = (key: string): OpenAlbum => {
    const parts: Parsed[] = []
    let close = () => {}
    const done = new Promise<void>((resolve) => {
      const cancel = deps.clock.after(timings.albumSettleMs, resolve)
      close = () => {
        cancel()
        resolve()
      }
    }).then(() => {
      albums.delete(key)
      const inOrder = parts.toSorted((a, b) => Number(a.event.messageId) - Number(b.event.messageId))
      return commit(inOrder)
    })
    const album = { parts, done, close }
    albums.set(key, album)
    return album
  }

  /** Tells Telegram where to post, if we know where we are reached. */
  const announce = async (attempt: number): Promise<void> => {
    if (config.webhook === null || stopped) return
    try {
      await deps.self()
      if (config.webhook.url === null) {
        return deps.tell({
          state: 'up',
          detail: `server.public_url is not set: call setWebhook yourself with https://HOST/hooks/${config.id}`,
        })
      }
      await deps.client.call(
        'setWebhook',
        {
          url: config.webhook.url,
          secret_token: config.webhook.secret,
          allowed_updates: [...ALLOWED_UPDATES],
        },
        { repeatable: true },
      )
      deps.tell({ state: 'up' })
    } catch (thrown) {
      const detail = thrown instanceof SwitchboardError ? thrown.message : 'the webhook could not be set'
      deps.tell({ state: 'down', detail })
      if (attempt === 1) deps.log.warn({ problem: detail }, 'the webhook could not be set')
      const range = { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }
      cancelRetry = deps.clock.after(backoffMs(attempt, range, deps.random), () => void announce(attempt + 1))
    }
  }
  void announce(1)

  return {
    async handle({ request }) {
      const self = await deps.self().catch((thrown: unknown) => ({ thrown }))
      const known = 'thrown' in self ? { id: config.botId, username: '' } : self
      const parsed = parseUpdate(readBody(request.body), known, deps.clock.now())
      if (parsed === null) return TAKEN
      // Who is mentioned in a group can be told only by who knows its own name: Telegram comes again.
      if ('thrown' in self && parsed.event.chat === 'group') throw self.thrown
      if (parsed.album === undefined) await commit([parsed])
      else await joinAlbum(parsed.album, parsed)
      return TAKEN
    },
    async stop() {
      stopped = true
      cancelRetry()
      const open = [...albums.values()]
      for (const album of open) album.close()
      await Promise.allSettled(open.map(({ done }) => done))
    },
  }
}

function readBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return null
  }
}
