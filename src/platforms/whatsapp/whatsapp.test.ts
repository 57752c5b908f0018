// The platform whatsapp through the shared platformSuite, against the fake Cloud API.
import { FAKE_DISPLAY_NUMBER, type FaultRule } from '../../testing/emulate.ts'
import {
  describePlatform,
  type PlatformFault,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import { fromKate, openScene, type Scene } from './fixtures/whatsapp-scene.ts'

const FAULTS: Readonly<Record<PlatformFault, readonly FaultRule[]>> = {
  none: [],
  down: [{ on: 'messages', do: 'error', status: 503 }],
  silent: [{ on: 'messages', do: 'drop-response' }],
  rejects: [],
  busy: [{ on: 'messages', do: 'rate-limit', retryAfter: 3 }],
}

const KINDS: readonly (readonly [string, unknown, object?])[] = [
  ['text', { body: 'hello ä 🚀' }],
  ['image', { id: '111', mime_type: 'image/jpeg', sha256: '', caption: 'look' }],
  ['audio', { id: '112', mime_type: 'audio/ogg; codecs=opus', voice: true }],
  ['document', { id: '113', mime_type: 'application/pdf', filename: '../a.pdf' }],
  ['sticker', { id: '114', mime_type: 'image/webp', animated: false }],
  ['location', { latitude: 52.5, longitude: 13.4, name: 'Berlin' }],
  ['contacts', [{ name: { formatted_name: 'Anna' }, phones: [{ phone: '+49 1' }] }]],
  ['reaction', { message_id: 'wamid.X', emoji: '👍' }],
  ['button', { text: 'Yes', payload: 'p' }],
  [
    'interactive',
    { type: 'button_reply', button_reply: { id: 'swb:yes', title: 'Yes' } },
    { context: { id: 'wamid.X' } },
  ],
  ['order', { catalog_id: '1', product_items: [{ product_retailer_id: 'sku', quantity: 2 }] }],
  ['unsupported', { type: 'poll_creation' }, { errors: [{ code: 131051, title: 'Message type unknown' }] }],
  ['edit', { original_message_id: 'wamid.O', message: { type: 'text', text: { body: 'new' } } }],
  ['revoke', { original_message_id: 'wamid.O' }],
  ['system', { type: 'user_changed_number', body: 'changed', wa_id: '49' }],
]

async function fixture(fault: PlatformFault): Promise<PlatformFixture> {
  // Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
  const scene = await openScene({ faults: FAULTS[fault], statuses: [] })
  const kate = scene.fake.person()
  const standing = kate.says('standing')
  const chat = kate.chat
  await openWindow(scene, [chat, FAKE_DISPLAY_NUMBER])
  const deliveredBy = (reply: {
    readonly status: number
    readonly headers?: unknown
    readonly body?: unknown
  }) => ({
    acknowledged: reply.status === 200,
    sentBack: JSON.stringify([reply.headers, String(reply.body ?? '')]),
  })
  const deliver = async (request: () => ReturnType<Scene['ask']>) =>
    request().then(deliveredBy, (thrown: unknown) => ({ acknowledged: false, sentBack: String(thrown) }))
  const good = JSON.stringify(scene.fake.envelope(fromKate('text', { body: 'hi' })))
  const unverified: Readonly<Record<string, () => Parameters<Scene['ask']>[0]>> = {
    'no signature': () => ({ ...scene.signed(good), headers: {} }),
    'wrong secret': () => scene.signed(good, 'guess'),
    'another body': () => ({ ...scene.signed(good), body: Buffer.from('{}') }),
    'sha1 alone': () => ({ ...scene.signed(good), headers: { 'x-hub-signature': 'sha1=00' } }),
    'a wrong verify token': () => ({
      method: 'GET',
      query: new URLSearchParams({
        'hub.mode': 'subscribe',
        'hub.verify_token': 'guess',
        'hub.challenge': '1',
      }),
    }),
  }
  return {
    adapter: scene.adapter,
    inbound: KINDS.map(([type, inside, more]) => ({
      name: type,
      deliver: () => deliver(() => scene.change(fromKate(type, inside, { id: `wamid.${type}`, ...more }))),
    })),
    malformed: [
      { name: 'no JSON', deliver: () => deliver(() => scene.ask(scene.signed('{"object"'))) },
      { name: 'another object', deliver: () => deliver(() => scene.post({ object: 'page', entry: [] })) },
      {
        name: 'no changes',
        deliver: () => deliver(() => scene.post({ object: 'whatsapp_business_account', entry: [{}] })),
      },
      {
        name: 'no id',
        deliver: () => deliver(() => scene.change(fromKate('text', { body: 'x' }, { id: 7.5e300 ** 2 }))),
      },
      {
        name: 'no sender',
        deliver: () =>
          deliver(() => scene.change({ messages: [{ id: 'wamid.1', type: 'text', text: { body: 'x' } }] })),
      },
      { name: 'no body', deliver: () => deliver(() => scene.change(fromKate('text', {}))) },
      { name: 'an unknown type', deliver: () => deliver(() => scene.change(fromKate('hologram', { a: 1 }))) },
      { name: 'neither messages nor statuses', deliver: () => deliver(() => scene.change({})) },
    ],
    unverified: Object.entries(unverified).map(([name, make]) => ({
      name,
      deliver: () => deliver(() => scene.ask(make())),
    })),
    address: { integration: 'wa', conversation: fault === 'rejects' ? FAKE_DISPLAY_NUMBER : chat },
    standing: standing.id,
    reads: async () => kate.sees().at(-1) ?? '',
    planted: [scene.fake.token, scene.fake.appSecret, scene.fake.verifyToken],
    logLines: () => scene.log.lines,
    close: () => scene.close(),
  }
}

/** These people wrote a moment ago. */
async function openWindow({ adapter, intake, change }: Scene, people: readonly string[]) {
  await adapter.start({ ...intake, receive: async () => [] }, null)
  for (const from of people)
    await change(fromKate('text', { body: 'hi' }, { from, from_user_id: `DE.${from}`, id: `wamid.${from}` }))
  await adapter.stop()
}

describePlatform('whatsapp [I24.wa-suite] [I24.wa-secrets]', ({ fault }) => fixture(fault), {
  faults: ['down', 'silent', 'rejects', 'busy'],
  without: { history: 'WhatsApp keeps no history that a business may read' },
})
