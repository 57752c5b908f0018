// The platform slack through the shared platformSuite, by Socket Mode and by the Events API, against the fake Slack.
import { createHmac } from 'node:crypto'
import { defined, type RawRequest } from '../../contract/index.ts'
import { plainText, readMarkdown } from '../../kit/markdown/index.ts'
import type { FaultRule } from '../../testing/emulate.ts'
import type { FakeMessage } from '../../testing/slack/world.ts'
import {
  type Delivered,
  deliverTo,
  describePlatform,
  type FixtureOptions,
  type PlatformFault,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import { openScene, recorded, type Scene, until } from './fixtures/slack-scene.ts'

const EVENTS = [
  'dm-message',
  'channel-mention',
  'thread-reply',
  'thread-broadcast',
  'file-share',
  'message-changed',
  'message-deleted',
  'bot-message',
  'app-mention',
  'reaction-added',
  'forwarded',
]

const FAULTS: Readonly<Record<PlatformFault, readonly FaultRule[]>> = {
  none: [],
  down: [{ on: 'chat.postMessage', do: 'error', status: 503 }],
  silent: [{ on: 'chat.postMessage', do: 'half-open' }],
  rejects: [],
  busy: [{ on: 'chat.postMessage', do: 'rate-limit', retryAfter: 3 }],
}

async function fixture(
  mode: 'socket' | 'events',
  { fault, lease }: FixtureOptions,
): Promise<PlatformFixture> {
  // Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
  const timings = { requestTimeoutMs: fault === 'silent' ? 300 : 5_000 }
  const scene = await openScene({ mode, faults: FAULTS[fault], ackMs: 60, timings, ...defined({ lease }) })
  const kate = scene.fake.person()
  const standing = scene.fake.world.put(kate.channel.id, { user: scene.fake.world.bot.id, text: 'standing' })
  const deliver = mode === 'events' ? byRequest(scene) : bySocket(scene)
  const malformed = { channel: 'D0KATE001', type: 'message', user: 'U0KATE001', text: 'x' }
  return {
    adapter: scene.adapter,
    inbound: inboundBy(deliver),
    atNode(another) {
      const adapter = scene.atNode(another)
      return { adapter, inbound: inboundBy(bySocket({ ...scene, adapter })) }
    },
    malformed: [
      {
        name: 'no ts',
        deliver: () => deliver.event({ ...recorded<object>('dm-message'), event: malformed }),
      },
      {
        name: 'no channel',
        deliver: () =>
          deliver.event({ ...recorded<object>('dm-message'), event: { ...malformed, channel: 7 } }),
      },
      { name: 'no event', deliver: () => deliver.event({ type: 'event_callback', team_id: 'T0SWBTEAM' }) },
    ],
    unverified: mode === 'events' ? unverified(scene) : [],
    address: { integration: 'sl', conversation: fault === 'rejects' ? 'C0NOWHERE' : kate.channel.id },
    standing: standing.ts,
    reads: async () => readBy(scene.fake.world.messages(kate.channel.id).at(-1)),
    history: {
      async heard(text) {
        const { channel, user } = kate
        const { ts } = scene.fake.world.put(channel.id, { user: user.id, text })
        const event = { type: 'message', channel: channel.id, channel_type: 'im', user: user.id, text, ts }
        await deliver.event({ ...recorded<object>('dm-message'), event })
      },
      async missed(text) {
        scene.fake.world.put(kate.channel.id, { user: kate.user.id, text })
      },
    },
    planted: [scene.fake.botToken, scene.fake.appToken, scene.fake.signingSecret],
    logLines: () => scene.log.lines,
    close: () => scene.close(),
  }
}

const inboundBy = (deliver: Deliver) => [
  ...EVENTS.map((name) => ({ name, deliver: () => deliver.event(recorded(name)) })),
  { name: 'block-actions', deliver: () => deliver.interaction(recorded('block-actions')) },
  { name: 'slash-command', deliver: () => deliver.command(recorded('slash-command')) },
]

/** Slack shows the Markdown block if there is one. */
function readBy(message: FakeMessage | undefined): string {
  const [block] = message?.blocks ?? []
  if (block?.type === 'markdown') return plainText(readMarkdown(String(block.text)))
  const text = message?.text ?? ''
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

interface Deliver {
  event(body: unknown): Promise<Delivered>
  interaction(payload: unknown): Promise<Delivered>
  command(fields: Record<string, string>): Promise<Delivered>
}

function signed(
  scene: Scene,
  body: string,
  type: string,
  at = Date.now(),
  secret = scene.fake.signingSecret,
): RawRequest {
  const timestamp = String(Math.floor(at / 1_000))
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  return {
    method: 'POST',
    path: '',
    query: new URLSearchParams(),
    headers: {
      'content-type': type,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
    body: Buffer.from(body),
    fromLoopback: true,
  }
}

function byRequest(scene: Scene): Deliver {
  const { endpoint } = scene.adapter
  if (!endpoint) throw new Error('mode events has an endpoint')
  const post = (body: string, type: string) => deliverTo(endpoint, signed(scene, body, type))
  const form = 'application/x-www-form-urlencoded'
  return {
    event: (body) => post(JSON.stringify(body), 'application/json'),
    interaction: (payload) =>
      post(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), form),
    command: (fields) => post(new URLSearchParams(fields).toString(), form),
  }
}

function unverified(scene: Scene) {
  const { endpoint } = scene.adapter
  if (!endpoint) throw new Error('mode events has an endpoint')
  const body = JSON.stringify(recorded('dm-message'))
  const good = () => signed(scene, body, 'application/json')
  const cases: Readonly<Record<string, () => RawRequest>> = {
    'no signature': () => ({ ...good(), headers: { 'content-type': 'application/json' } }),
    'wrong secret': () => signed(scene, body, 'application/json', Date.now(), 'guess'),
    'another body': () => ({ ...good(), body: Buffer.from('{}') }),
    'six minutes old': () => signed(scene, body, 'application/json', Date.now() - 360_000),
    'six minutes ahead': () => signed(scene, body, 'application/json', Date.now() + 360_000),
  }
  return Object.entries(cases).map(([name, make]) => ({ name, deliver: () => deliverTo(endpoint, make()) }))
}

/** An acknowledged envelope is not sent again. */
function bySocket({ fake, adapter }: Pick<Scene, 'fake' | 'adapter'>): Deliver {
  const watch = async (push: () => string): Promise<Delivered> => {
    await until('a connection', () => adapter.link?.state().state === 'up')
    const id = push()
    let again = false
    const late = setTimeout(() => {
      again = true
    }, 400)
    await until('the envelope is acknowledged or comes again', () => fake.socket.acknowledged(id) || again)
    clearTimeout(late)
    return { acknowledged: fake.socket.acknowledged(id), sentBack: JSON.stringify(fake.world.calls) }
  }
  return {
    event: (body) => watch(() => fake.socket.deliver('events_api', body)),
    interaction: (payload) => watch(() => fake.socket.deliver('interactive', payload)),
    command: (fields) => watch(() => fake.socket.deliver('slash_commands', fields)),
  }
}

const faults = ['down', 'silent', 'rejects', 'busy'] as const
describePlatform('slack by the Events API', (options) => fixture('events', options), { faults })
describePlatform('slack by Socket Mode', (options) => fixture('socket', options), {
  faults,
  without: { unverified: 'the connection was opened by us, with our token: nobody else can hand one in' },
})
