// The table of links: what each network fault does to the connection for messages (Socket Mode, Discord's gateway,
// IMAP), to reading the history and to the read-back of a send. Each platform is its own fake, in this process, with
// one proxy before its link and one before its API.
import type { DoctorReport, Store } from '../../src/contract/index.ts'
import { linkOf } from '../../src/core/links.ts'
import { createFaultProxy, type FaultProxy, type ProxyFault } from '../../src/testing/faults/fault-proxy.ts'
import type { ScriptedAgent } from '../../src/testing/scripted/scripted-connector.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { openDiscordRiver } from './discord-river.ts'
import { openEmailRiver } from './email-river.ts'
import type { openEmulatedRiver } from './emulated-river.ts'
import { openSlackRiver } from './slack-river.ts'

/**
 * Bytes on a socket need real time, so the clock is not driven. It is 60 times faster: time-outs of 18 s take 300 ms.
 */
const FASTER = 60
const TIMEOUT_MS = 300 * FASTER

export interface NamedFault extends ProxyFault {
  readonly name: string
}

/** Each lasts until it is healed. */
export const LINK_FAULTS: readonly NamedFault[] = [
  { name: 'refuse', kind: 'refuse' },
  { name: 'silent', kind: 'silent' },
  { name: 'half-open', kind: 'half-open' },
  { name: 'reset before', kind: 'reset-before' },
  { name: 'reset after', kind: 'reset-after' },
  { name: 'cut header', kind: 'cut-header' },
  { name: 'cut body', kind: 'cut-body' },
  { name: '502', kind: 'status', status: 502, on: /^GET / },
  { name: '503', kind: 'status', status: 503, on: /^GET / },
  { name: 'slow', kind: 'slow' },
]

/** These hit exactly the bytes that bring a message, once. */
export const FRAME_FAULTS: readonly (Pick<NamedFault, 'kind'> & { readonly name: string })[] = [
  { name: 'cut in the message', kind: 'cut-body' },
  { name: 'reset at the message', kind: 'reset-after' },
  { name: 'silent from the message on', kind: 'half-open' },
  { name: 'slow from the message on', kind: 'slow' },
]

export const CALL_FAULTS: readonly NamedFault[] = [
  ...LINK_FAULTS.filter(({ kind }) => kind !== 'status' && kind !== 'refuse'),
  { name: '502', kind: 'status', status: 502 },
  { name: '503', kind: 'status', status: 503 },
  { name: '504 after it was done', kind: 'status', status: 504, done: true },
  { name: '429', kind: 'status', status: 429, retryAfter: 12 },
]

export interface LinkBench {
  /** The proxy before the connection for messages. */
  readonly link: FaultProxy
  /** The proxy before the calls of the API. For email it is before SMTP. */
  readonly api: FaultProxy
  readonly store: Store
  readonly agent: ScriptedAgent
  readonly integration: string
  now(): number
  state(): string
  doctor(): Promise<DoctorReport>
  says(text: string): unknown
  /** Whether the platform has a connection. */
  isJoined(): boolean
  /** Forgets sessions, so that no connection replays messages from the time without a link. */
  forget(): void
  /** The messages that she saw, oldest first. */
  sees(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface LinkPlatform {
  readonly name: string
  /** True when the link begins by HTTP, so a status can replace the answer. */
  readonly http: boolean
  /** How to recognise the call by its bytes, and the proxy that it passes. */
  readonly history: Call
  readonly readBack: Call
  readonly send: Call
  /** How long answers are lost before the platform is asked about the send: as long as a nonce is valid. */
  readonly loseMs: number
  readonly open: () => Promise<LinkBench>
}

interface Call {
  readonly by: 'link' | 'api'
  readonly on: RegExp
}

const AGENT = 'kit'
const COMMON = { retryBaseMs: 1_000, retryMaxMs: 20_000, requestTimeoutMs: TIMEOUT_MS, helloMs: TIMEOUT_MS }

function proxies() {
  const made: FaultProxy[] = []
  const before = async (port: number) => {
    const proxy = await createFaultProxy({ port })
    made.push(proxy)
    return proxy.port
  }
  return {
    port: before,
    async url(url: string) {
      const { port } = new URL(url)
      return url.replace(`:${port}`, `:${await before(Number(port))}`)
    },
    made,
    async stop() {
      for (const proxy of made) await proxy.stop()
    },
  }
}

interface Person {
  says(text: string): unknown
  sees(): readonly string[]
}

type River = Pick<
  Awaited<ReturnType<typeof openEmulatedRiver>>,
  'store' | 'gateway' | 'agent' | 'clock' | 'doctor' | 'close'
>

function benchOf(
  integration: string,
  river: River,
  kate: Person,
  before: ReturnType<typeof proxies>,
  fake: Pick<LinkBench, 'isJoined' | 'forget'>,
): LinkBench {
  const [link, api] = before.made
  if (link === undefined || api === undefined) throw new Error('nothing was put behind the proxies')
  const { store, gateway, clock } = river
  return {
    ...{ link, api, store, integration },
    ...fake,
    agent: river.agent(AGENT),
    now: () => clock.now(),
    state: () => stateOf(gateway, integration),
    doctor: () => river.doctor(),
    says: (text) => kate.says(text),
    sees: async () => kate.sees(),
    async close() {
      await river.close()
      await before.stop()
    },
  }
}

function stateOf(gateway: River['gateway'], integration: string): string {
  const link = gateway.links.get(integration)
  return link === undefined ? 'down' : linkOf(link.adapter).state
}

export const LINK_TABLE: readonly LinkPlatform[] = [
  {
    name: 'slack',
    http: true,
    history: { by: 'api', on: /conversations\.history/ },
    readBack: { by: 'api', on: /conversations\.history/ },
    send: { by: 'api', on: /chat\.postMessage/ },
    loseMs: 0,
    async open() {
      const before = proxies()
      const river = await openSlackRiver({
        ...{ faster: FASTER, played: [testAgent(AGENT, ['sl'])], ackMs: 500 },
        // The proxy of the link is made before that of the API. The server gives the address once it listens.
        socketThrough: before.url,
        through: before.url,
        timings: { ...COMMON, pingMs: 6_000, drainMs: 3_000, namesMs: TIMEOUT_MS, chatIntervalMs: 300 },
      })
      return benchOf('sl', river, river.kate, before, {
        isJoined: () => river.fake.socket.open() > 0,
        forget: () => undefined,
      })
    },
  },
  {
    name: 'discord',
    http: true,
    history: { by: 'api', on: /GET \S+\/messages\?/ },
    readBack: { by: 'api', on: /GET \S+\/messages\?/ },
    send: { by: 'api', on: /POST \S+\/messages/ },
    loseMs: 90_000 / FASTER,
    async open() {
      const before = proxies()
      const river = await openDiscordRiver({
        ...{ faster: FASTER, played: [testAgent(AGENT, ['dc'])], heartbeatMs: 12_000 },
        socketThrough: before.url,
        through: before.url,
        timings: {
          ...COMMON,
          ...{ readyMs: TIMEOUT_MS, identifyMs: 300, invalidMs: 3_000, chatIntervalMs: 300 },
        },
      })
      const { gateway } = river.fake
      return benchOf('dc', river, river.kate, before, {
        isJoined: () => gateway.open() > 0,
        forget: () => gateway.forgetSessions(),
      })
    },
  },
  {
    name: 'email',
    http: false,
    // The link itself never sends STATUS.
    history: { by: 'link', on: /STATUS "?INBOX/i },
    readBack: { by: 'link', on: /STATUS "?Sent/i },
    send: { by: 'api', on: /\r\n\.\r\n$/ },
    loseMs: 0,
    async open() {
      const before = proxies()
      const river = await openEmailRiver({
        ...{ faster: FASTER, played: testAgent(AGENT, ['mail']) },
        imapThrough: before.port,
        smtpThrough: before.port,
        mailbox: { poll_interval: '30s' },
        timings: {
          ...{ connectMs: TIMEOUT_MS, commandMs: TIMEOUT_MS, sendMs: TIMEOUT_MS, busyMs: 6_000 },
          ...{ retryBaseMs: 1_000, retryMaxMs: 20_000, settleMs: 3_000 },
        },
      })
      const { kate } = river.fake
      let written = 0
      return {
        link: before.made[0] as FaultProxy,
        api: before.made[1] as FaultProxy,
        store: river.store(),
        integration: 'mail',
        agent: river.agent(AGENT),
        now: () => river.clock.now(),
        isJoined: () => river.fake.open().imap > 0,
        forget: () => undefined,
        state: () => stateOf(river.gateway(), 'mail'),
        doctor: () => river.doctor(),
        says: (text) => kate.writes(text, { fresh: written++ === 0 }),
        sees: async () => (await kate.reads()).map(({ text }) => text),
        async close() {
          await river.close()
          await before.stop()
        },
      }
    },
  },
]
