// The platform discord through the shared platformSuite, against the fake Discord.
import { defined } from '../../contract/index.ts'
import type { FaultRule } from '../../testing/emulate.ts'
import {
  type Delivered,
  describePlatform,
  type FixtureOptions,
  type PlatformFault,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import { openScene, type Scene, until } from './fixtures/discord-scene.ts'

const GENERAL = '920000000000000001'

const FAULTS: Readonly<Record<PlatformFault, readonly FaultRule[]>> = {
  none: [],
  down: [{ on: 'create-message', do: 'error', status: 503 }],
  silent: [{ on: 'create-message', do: 'half-open' }],
  rejects: [],
  busy: [{ on: 'create-message', do: 'rate-limit', retryAfter: 3 }],
}

async function fixture({ fault, lease }: FixtureOptions): Promise<PlatformFixture> {
  // Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
  const timings = { requestTimeoutMs: fault === 'silent' ? 300 : 5_000 }
  const scene = await openScene({ faults: FAULTS[fault], timings, ...defined({ lease }) })
  const { fake } = scene
  const kate = fake.person()
  const inChannel = fake.person({ channel: GENERAL })
  const said = kate.says('before')
  const buttons = [
    { type: 1, components: [{ type: 2, style: 3, label: 'Allow', custom_id: 'v:abcde:allow' }] },
  ]
  const standing = fake.world.put(kate.channel.id, { author: fake.world.bot, content: 'standing' })
  fake.world.put(kate.channel.id, { author: fake.world.bot, content: 'asked', components: buttons })
  const push = (act: () => unknown) => watched(scene, act)
  const greeting = (at: Pick<Scene, 'fake' | 'adapter'>) => ({
    name: 'a direct message',
    deliver: () => watched(at, () => kate.says('hello')),
  })
  const message = (data: Readonly<Record<string, unknown>>) => () =>
    push(() => fake.gateway.dispatch('MESSAGE_CREATE', data, {}))
  return {
    adapter: scene.adapter,
    inbound: [
      greeting(scene),
      { name: 'a mention in a channel', deliver: () => push(() => inChannel.says('@switchboard hello')) },
      { name: 'a file', deliver: () => push(() => kate.sendsFile({ name: 'a.png', mime: 'image/png' })) },
      { name: 'an edit', deliver: () => push(() => kate.edits(said.id, 'changed')) },
      { name: 'a reaction', deliver: () => push(() => kate.reacts(said.id, '👍')) },
      { name: 'a button', deliver: () => push(() => kate.taps('Allow')) },
      { name: 'a slash command', deliver: () => push(() => kate.commands('status')) },
      {
        name: 'another bot',
        deliver: () =>
          push(() => fake.person({ id: '930000000000000077', isBot: true, channel: GENERAL }).says('beep')),
      },
    ],
    malformed: [
      { name: 'no id', deliver: message({ channel_id: kate.channel.id, author: kate.user, content: 'x' }) },
      { name: 'no author', deliver: message({ id: '1', channel_id: kate.channel.id, content: 'x' }) },
      { name: 'no channel', deliver: message({ id: '2', author: kate.user, content: 'x' }) },
      {
        name: 'a text that is none',
        deliver: message({ id: '3', channel_id: kate.channel.id, author: kate.user, content: { a: 1 } }),
      },
    ],
    unverified: [],
    address: { integration: 'dc', conversation: fault === 'rejects' ? '1234567890' : kate.channel.id },
    standing: standing.id,
    reads: async () => readBy(fake.world.messages(kate.channel.id).at(-1)?.content ?? ''),
    history: {
      async heard(text) {
        await push(() => kate.says(text))
      },
      async missed(text) {
        fake.world.put(kate.channel.id, { author: kate.user, content: text })
      },
    },
    atNode(another) {
      const adapter = scene.make(another)
      return { adapter, inbound: [greeting({ fake, adapter })] }
    },
    planted: [fake.token],
    logLines: () => scene.log.lines,
    close: () => scene.close(),
  }
}

/** An unescaped mark has an effect and is not shown. */
function readBy(content: string): string {
  return content.replace(
    /\\([\\*_~`|<>[\]()#.+-])|[*_~`|]/g,
    (_all, written: string | undefined) => written ?? '',
  )
}

/** An event is acknowledged when a heartbeat confirms it. Discord then does not send it again. */
async function watched(
  { fake, adapter }: Pick<Scene, 'fake' | 'adapter'>,
  act: () => unknown,
): Promise<Delivered> {
  await until('a connection', () => adapter.link?.state().state === 'up')
  act()
  const seq = fake.gateway.lastSeq()
  const { resumed } = fake.gateway.counts()
  let acknowledged = false
  await until('it is heard, or asked for again', () => {
    fake.gateway.askBeat()
    acknowledged = (fake.gateway.lastBeat() ?? 0) >= seq
    return acknowledged || fake.gateway.counts().resumed > resumed
  })
  return {
    acknowledged,
    sentBack: JSON.stringify([fake.world.calls, fake.gateway.heard.filter(({ op }) => op !== 2 && op !== 6)]),
  }
}

describePlatform('discord', fixture, {
  faults: ['down', 'silent', 'rejects', 'busy'],
  without: {
    unverified: 'the connection was opened by us, with our token: nobody else can hand one in',
  },
})
