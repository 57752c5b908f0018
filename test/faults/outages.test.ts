// Outages with a real daemon behind the TCP fault proxy: a platform that is away for a while, at every platform by itself, and a
// daemon that is killed while the outcome of a send is open.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createFakeDiscord,
  createFakeMail,
  createFakeSlack,
  createFakeTelegram,
  createFakeWhatsApp,
} from '../../src/testing/emulate.ts'
import { createFaultProxy, type ProxyFault } from '../../src/testing/fault-proxy.ts'
import { expectLedgerHolds } from './river-checks.ts'
import { askJson, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const OUTAGE_MS = 3_000
const OVER_MS = 120_000
const LABEL = '(may be a duplicate'

interface Played {
  /** Of the server that the daemon calls. */
  readonly url: string
  /** No HTTP: no status can stand in its way. */
  readonly isMail?: true
  /** Where the daemon listens now, for platforms that call it. */
  readonly joined?: (daemon: string) => Promise<unknown>
  readonly send: RegExp
  /** The integration, with the address that it calls. */
  readonly yaml: (api: string) => string
  readonly secrets: Readonly<Record<string, string>>
  readonly person: {
    says(text: string): unknown
    sees(): Promise<readonly string[]> | readonly string[]
  }
  readonly up: () => boolean
}

const PLATFORMS: Readonly<Record<string, () => Promise<Played>>> = {
  async telegram() {
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
  async slack() {
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
  async discord() {
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
  async whatsapp() {
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
  async email() {
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

async function begin(platform: string) {
  const played = await (PLATFORMS[platform] as () => Promise<Played>)()
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
  // What was said before its link stands comes by another way.
  await until('the link', async () => {
    const { integrations } = await askJson<{ integrations: { id: string; link: string }[] }>(data, 'status')
    return played.up() && integrations.some(({ id, link }) => id === 'it' && link === 'up')
  })
  return { ...played, proxy, data, daemon, start, copies }
}

const FAULTS: readonly ProxyFault[] = [
  { kind: 'status', status: 502 },
  { kind: 'status', status: 504, done: true },
  { kind: 'reset-after' },
  { kind: 'reset-before' },
]

describe.each(Object.keys(PLATFORMS))(
  '[I35.b1] [I35.a1-daemons] %s through outages of a real daemon',
  (platform) => {
    it('each answer arrives once, or labelled, in order; nothing stays open', async () => {
      const { proxy, send, person, copies, data, daemon, isMail } = await begin(platform)
      const words: string[] = []
      const faults = FAULTS.filter(({ kind }) => isMail === undefined || kind !== 'status')
      for (const [at, fault] of faults.entries()) {
        const word = `word${at}`
        words.push(word)
        await proxy.fail({ ...fault, on: send })
        const before = proxy.fired
        person.says(word)
        await until(`${word} met it`, () => proxy.fired > before)
        await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS))
        await proxy.heal()
        await until(`the answer to ${word}`, async () => (await copies(word)).length > 0, OVER_MS)
        await until(
          'nothing is open',
          async () => {
            const { outbox } = await askJson<{ outbox: Record<string, number> }>(data, 'status')
            return outbox.queued === 0 && outbox.outcome_open === 0
          },
          OVER_MS,
        )
      }
      for (const word of words) {
        const plain = (await copies(word)).filter((text) => !text.startsWith(LABEL))
        expect(plain.length, word).toBeLessThanOrEqual(1)
      }
      const { outbox } = await askJson<{ outbox: Record<string, number> }>(data, 'status')
      expect(outbox).toMatchObject({ unknown: 0, failed: 0 })
      await daemon.terminate()
      await expectLedgerHolds(data)
    })

    it('killed while an outcome is open, the next daemon settles it: once, or labelled', async () => {
      const { proxy, send, person, copies, data, daemon, start } = await begin(platform)
      await proxy.fail({ kind: 'reset-after', on: send })
      person.says('alpha')
      await until('the answer is lost', () => proxy.fired > 0)
      await daemon.kill9()
      await proxy.heal()
      const next = await start()
      await until('the answer', async () => (await copies('alpha')).length > 0, OVER_MS)
      await until(
        'it is settled',
        async () => {
          const { outbox } = await askJson<{ outbox: Record<string, number> }>(data, 'status')
          return outbox.queued === 0 && outbox.outcome_open === 0
        },
        OVER_MS,
      )
      const plain = (await copies('alpha')).filter((text) => !text.startsWith(LABEL))
      expect(plain.length).toBeLessThanOrEqual(1)
      await next.terminate()
      await expectLedgerHolds(data)
    })
  },
)
