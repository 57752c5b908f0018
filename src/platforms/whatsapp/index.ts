// The platform `whatsapp`: the Cloud API, with its webhook in and the Graph API out. It keeps no history. It reports
// more about a message than other platforms: sent, delivered, read, failed.
import {
  type Abilities,
  createBoundedMap,
  type GateView,
  type PlatformAdapter,
  type PlatformDeps,
  SwitchboardError,
} from '../../contract/index.ts'
import { createChatPace, type GuardedFetch, hmacKey } from '../../kit/index.ts'
import { createWhatsAppClient } from './client.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createWhatsAppFiles } from './files.ts'
import { whatsappMarkdown } from './markdown.ts'
import { createPeople } from './people.ts'
import { createPresence } from './presence.ts'
import { createReceiver, type Receiver } from './receive.ts'
import { TEXT_LIMIT } from './render.ts'
import { createSelfWatch } from './self.ts'
import { createSend } from './send.ts'
import { createStatuses } from './statuses.ts'
import { verifyRequest } from './verify.ts'
import { createWindows } from './window.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: whatsappMarkdown,
  // The API cannot change or delete a sent message.
  edits: false,
  reactions: true,
  files: true,
  buttons: true,
  replies: true,
  typing: true,
  deletes: true,
  textAsFile: true,
  templates: true,
  // There is no idempotency key, but a status reports the outcome.
  idempotentSend: false,
}
/** The limit of one number, for both directions together. */
const A_SECOND = 80
/** The most messages to one person at once. They count against later ones. */
const PAIR_BURST = 45
const NUMBERS_TOLD = 20
/** The size of Meta's batches. A refused one is repeated for days, and then dropped. */
const MOST_POST_BYTES = 3 * 1_048_576

export interface WhatsAppAdapterOptions {
  readonly timings?: Partial<Timings>
  readonly fetch?: GuardedFetch
}

/** Throws `config_invalid` for invalid options. Timings and fetch are for tests. */
export function createWhatsApp(deps: PlatformDeps, options: WhatsAppAdapterOptions = {}): PlatformAdapter {
  const { clock, log } = deps
  const config = readConfig(deps)
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const client = createWhatsAppClient(config, timings, deps, options.fetch)
  const self = createSelfWatch(client, config, { clock, timings })
  const files = createWhatsAppFiles(client, config, deps)
  const windows = createWindows(deps)
  const statuses = createStatuses({ transcript: deps.transcript })
  const presence = createPresence({ client, config, clock, typingMs: timings.typingMs })
  const send = createSend({ client, config, files, windows, statuses })
  const keys = { appSecret: hmacKey(config.appSecret), verifyToken: config.verifyToken }
  const people = createPeople()
  const others = createBoundedMap<string, true>(NUMBERS_TOLD)
  let receiver: Receiver | null = null

  const elsewhere = (phoneNumberId: string) => {
    if (!others.has(phoneNumberId))
      log.warn({ phone_number_id: phoneNumberId }, 'a post for another phone number came here, and was left')
    others.set(phoneNumberId, true)
  }
  const context = () => ({ phoneNumberId: config.phoneNumberId, people, now: clock.now() })

  return {
    abilities: ABILITIES,
    pace: createChatPace({
      clock,
      intervalMs: timings.pairIntervalMs,
      burst: PAIR_BURST,
      overall: { count: A_SECOND, perMs: 1_000 },
    }),
    endpoint: {
      postsBytes: MOST_POST_BYTES,
      verify: (request) => verifyRequest(keys, request),
      async handle(verified) {
        if (receiver === null)
          throw new SwitchboardError('store_unavailable', 'the integration is not started')
        return receiver(verified)
      },
    },
    async start(intake) {
      const { answerMs } = timings
      receiver = createReceiver({
        intake,
        clock,
        log,
        answerMs,
        context,
        statuses,
        windows,
        presence,
        elsewhere,
      })
      self.start(() => intake.connected?.())
    },
    async send(request) {
      try {
        const receipt = await send(request)
        self.worked()
        return receipt
      } catch (thrown) {
        self.refused(thrown)
        throw thrown
      }
    },
    async reconcile(request) {
      const wamid = statuses.known(request.key)
      return wamid === null ? { outcome: 'unknown' } : { outcome: 'sent', receipt: { platformIds: [wamid] } }
    },
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    signal: (to, signal) => presence.signal(to, signal),
    checks: { gates: () => gatesOf([...others].map(([id]) => id)) },
    link: {
      state: () => self.link(),
      who: () => {
        const me = self.known()
        return me === null ? null : `${me.number}${me.name === '' ? '' : ` (${me.name})`}`
      },
    },
    async stop() {
      self.stop()
      presence.stop()
      receiver = null
    },
  }
}

/** These phone numbers have no integration. It is reported while this process runs. */
function gatesOf(others: readonly string[]): readonly GateView[] {
  return others.map((id) => ({
    gate: 'phone number',
    pass: true,
    flagged: true,
    reason: `posts for phone number id ${id} come to this URL and are left: it needs an integration and a URL of its own`,
    key: 'phone_number_id',
  }))
}
