// The platform telegram through the shared platformSuite, by webhook and by polling, against the fake Bot API.
import { defined, type RawRequest, SwitchboardError } from '../../contract/index.ts'
import type { FaultRule } from '../../testing/emulate.ts'
import {
  type Delivered,
  deliverTo,
  describePlatform,
  type FixtureOptions,
  type PlatformFault,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import {
  openScene,
  pushRecorded,
  recorded,
  type Scene,
  SECRET_TOKEN,
  until,
} from './fixtures/telegram-scene.ts'

const CHAT = 412_587_349
const INBOUND = [
  'private-message',
  'group-mention',
  'group-reply-to-bot',
  'topic-message',
  'edited-message',
  'document',
  'voice',
  'location',
  'callback-query',
  'message-reaction',
]

const FAULTS: Readonly<Record<PlatformFault, readonly FaultRule[]>> = {
  none: [],
  down: [{ on: 'sendMessage', do: 'error', status: 503 }],
  silent: [{ on: 'sendMessage', do: 'half-open' }],
  rejects: [],
  busy: [{ on: 'sendMessage', do: 'rate-limit', retryAfter: 3 }],
}

async function fixture(
  mode: 'polling' | 'webhook',
  { fault, lease }: FixtureOptions,
): Promise<PlatformFixture> {
  const scene = await openScene({ mode, faults: FAULTS[fault], ...defined({ lease }) })
  const kate = scene.fake.person()
  const standing = scene.fake.world.put(
    { from: scene.fake.world.bot, chat: kate.chat, text: 'standing' },
    { fromBot: true, silent: false, sentAs: {} },
  )
  const deliver = mode === 'webhook' ? byWebhook(scene) : byPolling(scene)
  const inbound = INBOUND.map((name) => ({ name, deliver: () => deliver.recorded(name) }))
  return {
    adapter: scene.adapter,
    inbound,
    malformed: [
      { name: 'no chat', deliver: () => deliver.content('message', { message_id: 1, date: 1, text: 'x' }) },
      {
        name: 'no sender',
        deliver: () =>
          deliver.content('message', { message_id: 1, date: 1, chat: { id: -5, type: 'group' }, text: 'x' }),
      },
      ...(mode === 'webhook' ? [{ name: 'no JSON', deliver: () => deliver.raw('not json') }] : []),
    ],
    unverified:
      mode === 'webhook'
        ? [
            { name: 'no token', deliver: () => deliver.raw(JSON.stringify(recorded('private-message')), {}) },
            {
              name: 'wrong token',
              deliver: () => deliver.raw('{}', { 'x-telegram-bot-api-secret-token': 'guess' }),
            },
          ]
        : [],
    address: { integration: 'tg', conversation: fault === 'rejects' ? '999' : String(CHAT) },
    standing: String(standing.message_id),
    reads: async () => kate.sees().at(-1) ?? '',
    // Both nodes fetch from the same queue.
    atNode: (another) => ({ adapter: scene.atNode(another), inbound }),
    planted: [scene.fake.token, SECRET_TOKEN],
    logLines: () => scene.log.lines,
    close: () => scene.close(),
  }
}

interface Deliver {
  recorded(name: string): Promise<Delivered>
  content(kind: string, value: unknown): Promise<Delivered>
  raw(body: string, headers?: Record<string, string>): Promise<Delivered>
}

function byWebhook(scene: Scene): Deliver {
  const { endpoint } = scene.adapter
  if (!endpoint) throw new Error('webhook mode has an endpoint')
  let updateId = 5_000
  const raw: Deliver['raw'] = (body, headers = { 'x-telegram-bot-api-secret-token': SECRET_TOKEN }) => {
    const request: RawRequest = {
      method: 'POST',
      path: '',
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
      fromLoopback: true,
    }
    return deliverTo(endpoint, request)
  }
  return {
    raw,
    recorded: (name) => raw(JSON.stringify(recorded(name))),
    content: (kind, value) => raw(JSON.stringify({ update_id: ++updateId, [kind]: value })),
  }
}

/** An acknowledged update has an offset beyond it. One that is asked for again does not. */
function byPolling({ fake }: Scene): Deliver {
  const watch = async (push: () => number): Promise<Delivered> => {
    const before = fake.updates.polls.length
    const id = push()
    await until('the update is confirmed or asked for again', () => {
      const again = fake.updates.polls.slice(before).filter((offset) => offset <= id).length
      return fake.updates.confirmed(id) || again >= 2
    })
    return { acknowledged: fake.updates.confirmed(id), sentBack: JSON.stringify(fake.world.calls) }
  }
  return {
    recorded: (name) => watch(() => pushRecorded(fake, name)),
    content: (kind, value) => watch(() => fake.world.push(kind, value).update_id),
    raw: () => Promise.reject(new SwitchboardError('internal', 'polling has no door')),
  }
}

const faults = ['down', 'silent', 'rejects', 'busy'] as const
const history = 'a bot may not read the history of a chat; what it did not confirm is sent again for a day'
describePlatform('telegram by webhook', (options) => fixture('webhook', options), {
  faults,
  without: { history },
})
describePlatform('telegram by polling', (options) => fixture('polling', options), {
  faults,
  without: { history, unverified: 'updates are fetched from the platform: nobody else can hand one in' },
})
