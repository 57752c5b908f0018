// Webhook mode. Telegram posts one update per request and takes a 200 for "received", so the 200 follows the commit.
// Parts of an album are requests of their own and become one message (open-albums.ts). If the webhook was removed or
// cannot be reached, that looks like silence. So the state of the webhook is read from Telegram regularly, and the
// webhook is set again if it is no longer ours.
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
import { backoffMs, type LinkState } from '../../kit/index.ts'
import { gatherAlbums } from './albums.ts'
import type { TelegramClient } from './client.ts'
import type { TelegramConfig, Timings } from './config.ts'
import { createOpenAlbums } from './open-albums.ts'
import { ALLOWED_UPDATES, type Parsed, parseUpdate, type Self } from './parse.ts'

export interface WebhookEndpoint {
  /** Throws when nothing was committed. The server then answers 5xx, and Telegram posts it again. */
  handle(verified: VerifiedRequest): Promise<HttpReply>
  stop(): Promise<void>
}

interface WebhookDeps extends Pick<PlatformDeps, 'clock' | 'random' | 'credentials'> {
  readonly client: TelegramClient
  readonly self: () => Promise<Self>
  readonly intake: PlatformIntake
  readonly log: Logger
  readonly tell: (link: LinkState) => void
  readonly settled: (parsed: readonly Parsed[], received: readonly Received[]) => void
}

type Hook = NonNullable<TelegramConfig['webhook']>

const setItYourself = (id: string) =>
  `server.public_url is not set: call setWebhook yourself with https://HOST/hooks/${id}`

const TAKEN: HttpReply = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }

export function createWebhookEndpoint(
  config: TelegramConfig,
  timings: Timings,
  deps: WebhookDeps,
): WebhookEndpoint {
  let cancelNext: Cancel = () => undefined
  let takenAt = deps.clock.now()
  let told: LinkState['state'] = 'connecting'
  let stopped = false

  const commit = async (parsed: readonly Parsed[]) => {
    const events = gatherAlbums(parsed)
    const received = await deps.intake.receive(events.map(({ event }) => event))
    deps.settled(events, received)
  }

  const albums = createOpenAlbums(timings.albumSettleMs, {
    ...deps,
    async commit(updates) {
      const self = await deps.self()
      const parsed = updates.flatMap((update) => parseUpdate(update, self, deps.clock.now()) ?? [])
      await commit(parsed.toSorted((a, b) => Number(a.event.messageId) - Number(b.event.messageId)))
    },
  })

  /** Sets the webhook, if our public address is known. */
  const announce = async (hook: Hook): Promise<LinkState> => {
    if (hook.url === null) return { state: 'up', detail: setItYourself(config.id) }
    await deps.client.call(
      'setWebhook',
      { url: hook.url, secret_token: hook.secret, allowed_updates: [...ALLOWED_UPDATES] },
      { repeatable: true },
    )
    return { state: 'up' }
  }

  const look = async (hook: Hook): Promise<LinkState> => {
    const info = await deps.client.call('getWebhookInfo', {} as never, { repeatable: true })
    if (hook.url === null && info.url === '') return { state: 'down', detail: setItYourself(config.id) }
    if (hook.url !== null && info.url !== hook.url) {
      deps.log.warn({}, 'the webhook was taken away by somebody else; it is set again')
      return announce(hook)
    }
    // An error is over when a post arrived after it, or when no update waits.
    const failedAt = info.last_error_date ?? 0
    if (info.pending_update_count === 0 || failedAt < Math.floor(takenAt / 1_000)) return { state: 'up' }
    return {
      state: 'down',
      detail: `Telegram cannot post here: ${info.last_error_message ?? 'no reason given'}`,
    }
  }

  const tell = (state: LinkState) => {
    if (stopped) return
    told = state.state
    deps.tell(state)
  }

  /** Sets the webhook, then watches it until the adapter stops. */
  const keep = async (step: typeof announce, attempt: number): Promise<void> => {
    if (config.webhook === null || stopped) return
    const again = (delayMs: number, next: typeof announce, count: number) => {
      if (!stopped) cancelNext = deps.clock.after(delayMs, () => void keep(next, count))
    }
    try {
      await deps.self()
      tell(await step(config.webhook))
      again(timings.webhookLookMs, look, 1)
    } catch (thrown) {
      const detail = thrown instanceof SwitchboardError ? thrown.message : 'the webhook could not be set'
      tell({ state: 'down', detail })
      if (attempt === 1) deps.log.warn({ problem: detail }, 'the webhook could not be set or looked at')
      const range = { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }
      again(backoffMs(attempt, range, deps.random), step, attempt + 1)
    }
  }
  void keep(announce, 1)

  const cameThrough = (): HttpReply => {
    takenAt = deps.clock.now()
    if (told === 'down') tell({ state: 'up' })
    return TAKEN
  }

  return {
    async handle({ request }) {
      const self = await deps.self().catch((thrown: unknown) => ({ thrown }))
      const known = 'thrown' in self ? { id: config.botId, username: '' } : self
      const update = readBody(request.body)
      const parsed = parseUpdate(update, known, deps.clock.now())
      if (parsed === null) return cameThrough()
      // Mentions in a group need our own name. Until it is known, Telegram posts the update again.
      if ('thrown' in self && parsed.event.chat === 'group') throw self.thrown
      if (parsed.album === undefined) await commit([parsed])
      else await albums.add(parsed.album, String(parsed.event.messageId), update)
      return cameThrough()
    },
    async stop() {
      stopped = true
      cancelNext()
      await albums.stop()
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
