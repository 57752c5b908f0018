// Outages with a real daemon behind the TCP fault proxy, for each platform: the platform is away for a while, or the
// daemon is killed while the outcome of a send is open.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  createFakeDiscord,
  createFakeMail,
  createFakeSlack,
  createFakeTelegram,
  createFakeWhatsApp,
} from '../../../src/testing/emulate.ts'
import { createFaultProxy } from '../../../src/testing/faults/fault-proxy.ts'
import { FAULTS } from '../../scenarios/outage-table.ts'
import { expectLedgerHolds } from '../river-checks.ts'
import { askJson, createScene, type Scene } from '../scene.ts'
import { pause, until } from '../until.ts'

const OUTAGE_MS = 3_000
const OVER_MS = 120_000
const CASE_MS = 300_000
const LABEL = '(may be a duplicate'

interface Played {
  /** The URL of the server that the daemon calls. */
  readonly url: string
  /** True without HTTP. A status cannot replace an answer then. */
  readonly isMail?: true
  /** Gives platforms that call the daemon its address. */
  readonly joined?: (daemon: string) => Promise<unknown>
  readonly send: RegExp
  /** The integration as YAML, with the address that it calls. */
  readonly yaml: (api: string) => string
  readonly secrets: Readonly<Record<string, string>>
  readonly person: {
    says(text: string): unknown
    sees(): Promise<readonly string[]> | readonly string[]
  }
  readonly up: () => boolean
}

const PLATFORMS: Readonly<Record<string, (scene: Scene) => Promise<Played>>> = {
  async telegram(scene) {
    const fake = await createFakeTelegram()
    scene.onEnd(() => fake.stop())
    const person = fake.person()
    return {
      ...{ url: fake.url, send: /\/sendMessage/, person, up: () => true },
      secrets: { 'a.token': fake.token },
      yaml: (api) =>
        `{ id: it, platform: telegram, token: "file:a.token", api_root: "${api}", access: { dm: allowlist, allow_from: ["${person.user.id}"] } }`,
    }
  },
  async slack(scene) {
    const fake = await createFakeSlack()
    scene.onEnd(() => fake.stop())
    const person = fake.person()
    return {
      ...{ url: fake.apiUrl, send: /chat\.postMessage/, person, up: () => fake.socket.open() > 0 },
      secrets: { 'a.token': fake.botToken, 'b.token': fake.appToken },
      yaml: (api) =>
        `{ id: it, platform: slack, bot_token: "file:a.token", app_token: "file:b.token", api_url: "${api}", access: { dm: allowlist, allow_from: ["${person.user.id}"] } }`,
    }
  },
  async discord(scene) {
    const fake = await createFakeDiscord()
    scene.onEnd(() => fake.stop())
    const person = fake.person()
    return {
      ...{ url: fake.apiUrl, send: /POST \S+\/messages/, person, up: () => true },
      secrets: { 'a.token': fake.token },
      yaml: (api) =>
        `{ id: it, platform: discord, token: "file:a.token", api_url: "${api}", access: { dm: allowlist, allow_from: ["${person.user.id}"] } }`,
    }
  },
  async whatsapp(scene) {
    const fake = await createFakeWhatsApp({ retryMs: [30, 60, 100] })
    scene.onEnd(() => fake.stop())
    const person = fake.person()
    return {
      ...{ url: fake.url, send: /POST \S+\/messages[\s\S]*You said/, person, up: () => true },
      joined: (daemon) => fake.webhook.use(`${daemon}/hooks/it`),
      secrets: { 'a.token': fake.token, 'a.secret': fake.appSecret, 'a.verify': fake.verifyToken },
      yaml: (api) =>
        `{ id: it, platform: whatsapp, phone_number_id: "${fake.phoneNumberId}", access_token: "file:a.token", app_secret: "file:a.secret", verify_token: "file:a.verify", api_url: "${api}", access: { dm: allowlist, allow_from: ["${person.chat}"] } }`,
    }
  },
  async email(scene) {
    const fake = await createFakeMail()
    scene.onEnd(() => fake.stop())
    const login = (port: number | string) =>
      `{ host: 127.0.0.1, port: ${port}, password: "file:a.password", tls: false }`
    return {
      ...{ url: `http://127.0.0.1:${fake.smtpPort}`, isMail: true, send: /\r\n\.\r\n$/ },
      up: () => fake.open().imap > 0,
      person: {
        says: (text) => fake.kate.writes(text, { fresh: true }),
        sees: async () => (await fake.kate.reads()).map(({ text }) => text),
      },
      secrets: { 'a.password': fake.password },
      yaml: (api) =>
        `{ id: it, platform: email, address: ${fake.bot}, imap: ${login(fake.imapPort)}, smtp: ${login(new URL(api).port)}, authserv_id: ${fake.authservId}, results_below_received: true, poll_interval: 1s, access: { allow_from: ["${fake.kate.address}"] } }`,
    }
  },
}

async function begin(platform: string, scene: Scene) {
  const played = await (PLATFORMS[platform] as (scene: Scene) => Promise<Played>)(scene)
  const at = new URL(played.url)
  const proxy = await createFaultProxy({ port: Number(at.port) })
  scene.onEnd(() => proxy.stop())
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  for (const [name, secret] of Object.entries(played.secrets))
    writeFileSync(join(data, name), secret, { mode: 0o600 })
  writeFileSync(
    config,
    `tunables: { send_retry_base: 200ms }
integrations:
  - ${played.yaml(played.url.replace(`:${at.port}`, `:${proxy.port}`))}
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: ${platform}, instance: it }] }
`,
  )
  const start = async () => {
    const started = await scene.start({ data, config })
    await played.joined?.(started.url)
    return started
  }
  const daemon = await start()
  const { person } = played
  const copies = async (word: string) =>
    (await person.sees()).filter((text) => text.includes(`You said: ${word}`))
  /** The position of the word among all messages that she saw. */
  const seen = async (word: string) =>
    (await person.sees()).flatMap((text, at) => (text.includes(`You said: ${word}`) ? [at] : []))
  // Messages from before the link is up come by another way.
  await until('the link', async () => {
    const { integrations } = await askJson<{ integrations: { id: string; link: string }[] }>(data, 'status')
    return played.up() && integrations.some(({ id, link }) => id === 'it' && link === 'up')
  })
  return { ...played, proxy, data, daemon, start, copies, seen }
}

/** One case for each fault, each with its own daemon, and one in which the daemon is killed. */
export function describeOutages(platform: string): void {
  const isHttp = platform !== 'email'
  const faults = FAULTS.filter(({ kind }) => isHttp || kind !== 'status')
  it.concurrent.for(faults)(
    `${platform}: $name at a real daemon: both answers arrive, once or labelled, in order`,
    { timeout: CASE_MS },
    async ({ name: _, ...fault }, { expect }) => {
      const scene = createScene('until-end')
      try {
        const bench = await begin(platform, scene)
        const { proxy, send, person, seen } = bench
        await proxy.fail({ ...fault, on: send })
        person.says('first')
        // The proxy does not notice a refused connection.
        if (fault.kind !== 'refuse') await until('it met the answer', () => proxy.fired > 0, OVER_MS)
        person.says('second')
        await pause(OUTAGE_MS)
        await proxy.heal()
        await bothArrive(bench)
        const places = (await Promise.all(['first', 'second'].map(seen))).map(([at]) => at)
        expect(places).toEqual(places.toSorted((a = 0, b = 0) => a - b))
        await bench.daemon.terminate()
        await expectLedgerHolds(bench.data)
      } finally {
        await scene.end()
      }
    },
  )

  it.concurrent(`${platform}: killed while an outcome is open, the next daemon settles it: once, or labelled`, {
    timeout: CASE_MS,
  }, async () => {
    const scene = createScene('until-end')
    try {
      const bench = await begin(platform, scene)
      const { proxy, send, person, daemon, start } = bench
      await proxy.fail({ kind: 'reset-after', on: send })
      person.says('first')
      await until('the answer is lost', () => proxy.fired > 0, OVER_MS)
      await daemon.kill9()
      await proxy.heal()
      const next = await start()
      person.says('second')
      await bothArrive(bench)
      await next.terminate()
      await expectLedgerHolds(bench.data)
    } finally {
      await scene.end()
    }
  })
}

/** Expects both answers, each without a label at most once. Nothing may be open, unknown or failed. */
async function bothArrive({ copies, data }: Awaited<ReturnType<typeof begin>>): Promise<void> {
  for (const word of ['first', 'second'])
    await until(`the answer to ${word}`, async () => (await copies(word)).length > 0, OVER_MS)
  const outbox = async () =>
    (await askJson<{ outbox: Record<string, number> }>(data, 'status')).outbox as Record<string, number>
  await until(
    'nothing is open',
    async () => {
      const { queued, outcome_open } = await outbox()
      return queued === 0 && outcome_open === 0
    },
    OVER_MS,
  )
  for (const word of ['first', 'second']) {
    const plain = (await copies(word)).filter((text) => !text.startsWith(LABEL))
    expect(plain.length, word).toBeLessThanOrEqual(1)
  }
  expect(await outbox()).toMatchObject({ unknown: 0, failed: 0 })
}
