// The platform `telegram`: long polling or a webhook in, the Bot API out.
import {
  type Abilities,
  type PlatformAdapter,
  type PlatformDeps,
  type Received,
  SwitchboardError,
} from '../../contract/index.ts'
import { type GuardedFetch, type Link, type LinkState, refusalWord } from '../../kit/index.ts'
import { createTelegramClient, type TelegramClient } from './client.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createFileStore } from './files.ts'
import { telegramMarkdown } from './markdown.ts'
import { createPace } from './pace.ts'
import type { Parsed, Self } from './parse.ts'
import { startPoller } from './poller.ts'
import { TEXT_LIMIT } from './render.ts'
import { createSend } from './send.ts'
import { createStatusLine } from './status-line.ts'
import { createTyping } from './typing.ts'
import { verifyRequest } from './verify.ts'
import { createWebhookEndpoint, type WebhookEndpoint } from './webhook-endpoint.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: telegramMarkdown,
  threads: true,
  edits: true,
  reactions: true,
  files: true,
  buttons: true,
  typing: true,
  // The Bot API has no idempotency key.
  idempotentSend: false,
}

export interface TelegramOptions {
  readonly timings?: Partial<Timings>
  readonly fetch?: GuardedFetch
}

/** Throws `config_invalid` for invalid options. Timings and fetch are for tests. */
export function createTelegram(deps: PlatformDeps, options: TelegramOptions = {}): PlatformAdapter {
  const config = readConfig(deps)
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const client = createTelegramClient(config, timings, deps, options.fetch)
  const files = createFileStore(client, deps)
  const typing = createTyping(client, deps.clock)
  const send = createSend({ client, files })
  const self = knowOneself(client)
  let link: LinkState = { state: 'connecting' }
  let poller: Pick<Link, 'stop'> | null = null
  let webhook: WebhookEndpoint | null = null
  const tell = (next: LinkState) => {
    link = next
  }
  const settled = (parsed: readonly Parsed[], received: readonly Received[]) =>
    answerTaps(client, parsed, received)

  return {
    abilities: ABILITIES,
    pace: createPace(deps.clock, timings.chatIntervalMs),
    ...(config.webhook === null
      ? {}
      : {
          endpoint: {
            headDecides: () => true,
            verify: (request) => verifyRequest(config, request),
            async handle(verified) {
              if (webhook === null)
                throw new SwitchboardError('store_unavailable', 'the integration is not started')
              return webhook.handle(verified)
            },
          },
        }),
    async start(intake, cursor) {
      const shared = { ...deps, client, self, intake, tell, settled }
      if (config.webhook === null) poller = startPoller(timings, cursor, shared)
      else webhook = createWebhookEndpoint(config, timings, shared)
    },
    send,
    // Twenty a minute in a group. That is slower than the eye, and leaves room for other messages.
    streaming: {
      by: 'edits',
      everyMs: timings.reviseEveryMs,
      revise: async (request) => void (await send(request)),
    },
    // Repeating an edit or a reaction shows the same, so after a crash it is simply repeated.
    reconcile: async ({ op }) => ({
      outcome: op.kind === 'edit' || op.kind === 'react' ? 'absent' : 'unknown',
    }),
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    status: createStatusLine(client),
    signal(to, signal) {
      if (signal.kind === 'typing') typing.set(to, signal.on)
    },
    link: { state: () => link, who: () => self.known() },
    async stop() {
      typing.stop()
      await poller?.stop()
      await webhook?.stop()
      poller = null
      webhook = null
    },
  }
}

/** Asks once and remembers the answer. A failure is asked again. Concurrent callers share one request. */
function knowOneself(client: TelegramClient): (() => Promise<Self>) & { known(): string | null } {
  let asking: Promise<Self> | null = null
  let known: string | null = null
  const self = () => {
    asking ??= client
      .call('getMe', {} as never, { repeatable: true })
      .then(({ id, username }) => {
        if (typeof id !== 'number')
          throw new SwitchboardError('platform_unavailable', 'Telegram: getMe names nobody')
        if (username) known = `@${username}`
        return { id, username: username ?? '' }
      })
      .catch((thrown) => {
        asking = null
        throw thrown
      })
    return asking
  }
  return Object.assign(self, { known: () => known })
}

/**
 * Ends the progress mark on a tapped button, with a short text if there is one. Lossy: the decision itself is
 * committed.
 */
function answerTaps(client: TelegramClient, parsed: readonly Parsed[], received: readonly Received[]): void {
  for (const [at, { callbackId }] of parsed.entries()) {
    if (callbackId === undefined) continue
    const result = received[at]
    const refused = result?.state === 'refused'
    const text = refused ? refusalWord(result) : (result?.answer ?? '')
    client
      .call(
        'answerCallbackQuery',
        {
          callback_query_id: callbackId,
          ...(text === '' ? {} : { text: text.slice(0, 200) }),
          ...(refused ? { show_alert: true } : {}),
        },
        { repeatable: true },
      )
      .catch(() => undefined)
  }
}
