// The table of outages: which fault of the TCP proxy hits which call of which platform, and what must hold afterwards.
// Every platform is its own fake behind the proxy, in this process. Bytes on a socket need real time, so time-outs are
// 300 ms.
import type { DoctorReport, Store } from '../../src/contract/index.ts'
import { createTelegram } from '../../src/platforms/telegram/index.ts'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { createFaultProxy, type FaultProxy, type ProxyFault } from '../../src/testing/faults/fault-proxy.ts'
import type { ScriptedAgent } from '../../src/testing/scripted/scripted-connector.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { openDiscordRiver } from './discord-river.ts'
import { openEmailRiver } from './email-river.ts'
import { accessOf, clockOf, emulatedIntegration, openEmulatedRiver } from './emulated-river.ts'
import { openSlackRiver } from './slack-river.ts'
import { openWebhookRiver } from './webhook-river.ts'
import { openWhatsAppRiver } from './whatsapp-river.ts'

/** The calls of one talk, in order. `login` happens while the gateway starts, or at the first send. */
export const CALLS = [
  'login',
  'send',
  'part 1',
  'part 2',
  'file',
  'upload',
  'edit',
  'prompt',
  'read-back',
] as const
export type Call = (typeof CALLS)[number]

export interface Bench {
  readonly proxy: FaultProxy
  readonly store: Store
  readonly agent: ScriptedAgent
  doctor(): Promise<DoctorReport>
  /** Whether its link is up, so that messages from now on use it. */
  isUp(): boolean
  says(text: string): unknown
  /** The messages that she saw, oldest first. */
  sees(): Promise<readonly string[]> | readonly string[]
  close(): Promise<void>
}

export interface TablePlatform {
  readonly name: string
  /** How to recognise each call by its bytes. A call is absent if the platform has none. */
  readonly calls: Readonly<Partial<Record<Call, RegExp>>>
  /** True when it logs in for each send. */
  readonly loginAtSend?: true
  /** True for HTTP: a status can replace the server's answer. */
  readonly http: boolean
  /** `before` is the fault that the login meets. */
  readonly open: (before?: ProxyFault) => Promise<Bench>
}

export const FAULTS: readonly (ProxyFault & { readonly name: string })[] = [
  { name: 'refuse', kind: 'refuse' },
  { name: 'silent', kind: 'silent' },
  { name: 'half-open', kind: 'half-open' },
  { name: 'reset before', kind: 'reset-before' },
  { name: 'reset after', kind: 'reset-after' },
  { name: 'cut header', kind: 'cut-header' },
  { name: 'cut body', kind: 'cut-body' },
  { name: '502', kind: 'status', status: 502 },
  { name: '502 after it was done', kind: 'status', status: 502, done: true },
  { name: '503', kind: 'status', status: 503 },
  { name: '504 after it was done', kind: 'status', status: 504, done: true },
  { name: '429', kind: 'status', status: 429, retryAfter: 0.2 },
  { name: 'slow', kind: 'slow', byteEveryMs: 100 },
]

const AGENT = 'kit'
const CHUNK = 150
export const TIMEOUT_MS = 300
const COMMON = { retryBaseMs: 10, retryMaxMs: 50, requestTimeoutMs: TIMEOUT_MS }

/** A proxy in front of an HTTP server. The address keeps its path. */
function behind(before: ProxyFault | undefined) {
  let made: FaultProxy | undefined
  return {
    async through(url: string) {
      const at = new URL(url)
      made = await createFaultProxy({ port: Number(at.port) })
      if (before) await made.fail(before)
      return url.replace(`:${at.port}`, `:${made.port}`)
    },
    async port(port: number) {
      made = await createFaultProxy({ port })
      if (before) await made.fail(before)
      return made.port
    },
    proxy() {
      if (made === undefined) throw new Error('nothing was put behind the proxy')
      return made
    },
  }
}

const shared = (integration: string, url: ReturnType<typeof behind>) => ({
  played: [testAgent(AGENT, [integration])],
  textChunkLimit: CHUNK,
  through: url.through,
})

export const TABLE: readonly TablePlatform[] = [
  {
    name: 'slack',
    http: true,
    calls: {
      login: /auth\.test/,
      send: /chat\.postMessage[\s\S]*T-send/,
      'part 1': /chat\.postMessage[\s\S]*T-head/,
      'part 2': /chat\.postMessage[\s\S]*T-two/,
      file: /files\.completeUploadExternal/,
      upload: /^POST \/upload\//m,
      edit: /chat\.update/,
      prompt: /chat\.postMessage[\s\S]*Bash/,
      'read-back': /conversations\.history/,
    },
    async open(before) {
      const url = behind(before)
      const timings = { ...COMMON, helloMs: 3_000, pingMs: 500, drainMs: 50, chatIntervalMs: 5 }
      const river = await openSlackRiver({ ...shared('sl', url), timings })
      return benchOf(url, river, river.kate)
    },
  },
  {
    name: 'discord',
    http: true,
    calls: {
      login: /\/gateway\/bot|\/users\/@me/,
      send: /POST \S+\/messages[\s\S]*T-send/,
      'part 1': /POST \S+\/messages[\s\S]*T-head/,
      'part 2': /POST \S+\/messages[\s\S]*T-two/,
      file: /POST \S+\/messages[\s\S]*filename/,
      edit: /PATCH \S+\/messages/,
      prompt: /POST \S+\/messages[\s\S]*Bash/,
    },
    async open(before) {
      const url = behind(before)
      const timings = { ...COMMON, chatIntervalMs: 5, identifyMs: 10 }
      const river = await openDiscordRiver({ ...shared('dc', url), timings })
      return benchOf(url, river, river.kate)
    },
  },
  {
    name: 'telegram',
    http: true,
    calls: {
      login: /\/getMe/,
      send: /\/sendMessage[\s\S]*T-send/,
      'part 1': /\/sendMessage[\s\S]*T-head/,
      'part 2': /\/sendMessage[\s\S]*T-two/,
      file: /\/sendDocument/,
      edit: /\/editMessageText/,
      prompt: /\/sendMessage[\s\S]*Bash/,
    },
    async open(before) {
      const url = behind(before)
      const fake = await createFakeTelegram()
      const kate = fake.person()
      const api_root = await url.through(fake.url)
      const timings = {
        ...COMMON,
        pollTimeoutMs: 500,
        pollMarginMs: 200,
        chatIntervalMs: 5,
        reviseEveryMs: 5,
      }
      const river = await openEmulatedRiver(
        [
          {
            integration: emulatedIntegration('tg', {
              platform: 'telegram',
              options: { token: 'env:TOKEN', api_root },
              access: accessOf(String(kate.user.id)),
              textChunkLimit: CHUNK,
            }),
            create: (deps) => createTelegram(deps, { timings }),
            secrets: { 'env:TOKEN': fake.token },
            stop: () => fake.stop(),
          },
        ],
        { clock: clockOf({}), played: [testAgent(AGENT, ['tg'])] },
      )
      return benchOf(url, river, kate)
    },
  },
  {
    name: 'whatsapp',
    http: true,
    calls: {
      send: /\/messages[\s\S]*T-send/,
      'part 1': /\/messages[\s\S]*T-head/,
      'part 2': /\/messages[\s\S]*T-two/,
      file: /\/messages[\s\S]*"document"/,
      upload: /^POST \S+\/media /m,
      prompt: /\/messages[\s\S]*Bash/,
    },
    async open(before) {
      const url = behind(before)
      const river = await openWhatsAppRiver({
        ...shared('wa', url),
        timings: { ...COMMON, pairIntervalMs: 5 },
      })
      return benchOf(url, river, river.kate)
    },
  },
  {
    name: 'webhook',
    http: true,
    calls: {
      send: /T-send/,
      'part 1': /T-head/,
      'part 2': /T-two/,
      prompt: /Bash/,
    },
    async open(before) {
      const url = behind(before)
      const river = await openWebhookRiver({ ...shared('hook', url), postMs: TIMEOUT_MS })
      return benchOf(url, river, river.kate)
    },
  },
  {
    name: 'email',
    http: false,
    loginAtSend: true,
    calls: {
      login: /^EHLO/m,
      send: /T-send[\s\S]*\r\n\.\r\n$/,
      file: /a\.txt[\s\S]*\r\n\.\r\n$/,
      prompt: /Bash[\s\S]*\r\n\.\r\n$/,
    },
    async open(before) {
      const url = behind(before)
      const river = await openEmailRiver({
        played: testAgent(AGENT, ['mail']),
        smtpThrough: url.port,
        timings: { connectMs: TIMEOUT_MS, sendMs: TIMEOUT_MS, busyMs: 50, retryBaseMs: 10, retryMaxMs: 50 },
      })
      return {
        proxy: url.proxy(),
        store: river.store(),
        agent: river.agent(AGENT),
        doctor: () => river.doctor(),
        isUp: () => true,
        says: (text) => river.fake.kate.writes(text, { fresh: true }),
        sees: async () => (await river.fake.kate.reads()).map(({ text }) => text),
        async close() {
          await river.close()
          await url.proxy().stop()
        },
      }
    },
  },
]

interface Person {
  says(text: string): unknown
  sees(): readonly string[]
}

function benchOf(
  url: ReturnType<typeof behind>,
  river: Pick<
    Awaited<ReturnType<typeof openEmulatedRiver>>,
    'store' | 'gateway' | 'agent' | 'doctor' | 'close'
  >,
  kate: Person,
): Bench {
  return {
    proxy: url.proxy(),
    store: river.store,
    agent: river.agent(AGENT),
    doctor: () => river.doctor(),
    isUp: () => river.gateway.links.all().every(({ adapter }) => adapter.link?.state().state === 'up'),
    says: (text) => kate.says(text),
    sees: () => kate.sees(),
    async close() {
      await river.close()
      await url.proxy().stop()
    },
  }
}

/** Answers each message with the texts that cause the call. */
export function playTable({ agent, store }: Pick<Bench, 'agent' | 'store'>): void {
  /** A turn that ends withdraws its question, even one that was not shown yet. So the agent waits until it is shown. */
  const isShown = async () => {
    const rows = await store.sends({ states: ['queued', 'sending'], limit: 200 })
    return rows.every(({ cause }) => cause !== 'prompt')
  }
  agent.script = async (delivery) => {
    const [call = ''] = delivery.text.trim().split('\n')
    switch (call) {
      case 'part 1':
        return void (await agent.answer(
          delivery,
          `T-head ${'word '.repeat(25)}\n\nT-tail ${'word '.repeat(20)}`,
        ))
      case 'part 2':
        return void (await agent.answer(
          delivery,
          `T-one ${'word '.repeat(25)}\n\nT-two ${'word '.repeat(20)}`,
        ))
      case 'file':
      case 'upload':
        return void (await agent.answer(delivery, `T-${call}`, {
          files: [{ name: 'a.txt', mime: 'text/plain', bytes: Buffer.from('abc') }],
        }))
      case 'edit':
        await agent.partial(delivery, 'T-edit')
        await new Promise((resolve) => setTimeout(resolve, 200))
        return void (await agent.answer(delivery, 'T-edit whole'))
      case 'prompt':
        await agent.ask(delivery, { toolName: 'Bash', description: 'List', input: 'ls' })
        while (!(await isShown())) await new Promise((resolve) => setTimeout(resolve, 20))
        return void (await agent.answer(delivery, 'T-prompt'))
      case 'read-back':
        return void (await agent.answer(delivery, 'T-back'))
      default:
        return void (await agent.answer(delivery, `T-${call.replace(/\s/g, '-')}`))
    }
  }
}

const QUESTION = 'wants to run Bash'
/** The text that replaces an ended question if the platform can edit. */
const QUESTION_OVER = ': no longer asked'

/** The texts that she must have seen at the end. */
export const WORDS: Readonly<Record<Call, readonly string[]>> = {
  login: ['T-login'],
  send: ['T-send'],
  'part 1': ['T-head', 'T-tail'],
  'part 2': ['T-one', 'T-two'],
  file: ['T-file'],
  upload: ['T-upload'],
  edit: ['T-edit whole'],
  prompt: [QUESTION, 'T-prompt'],
  'read-back': ['T-back'],
}

const LABEL = '(may be a duplicate'

/**
 * Checks a platform that works again, after every case. Each answer was delivered once, or its copies are labelled.
 * Answers are in order, nothing is open or unknown, and the agent knows about failures.
 */
export async function problemsOf(bench: Bench, words: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = []
  const seen = (await bench.sees()).map((text) => text.trim())
  const first: number[] = []
  for (const word of words) {
    const places = (of: string) =>
      seen.flatMap((text, at) => (text.includes(of) && !text.startsWith('Re:') ? [at] : []))
    const asked = places(word)
    const copies = asked.length === 0 && word === QUESTION ? places(QUESTION_OVER) : asked
    const plain = copies.filter((at) => !seen[at]?.includes(LABEL))
    if (copies.length === 0) problems.push(`${word} was not delivered`)
    if (plain.length > 1)
      problems.push(`${word} was delivered ${plain.length} times without a label: ${seen.join(' | ')}`)
    first.push(copies[0] ?? -1)
  }
  if (first.some((at, index) => at < (first[index - 1] ?? -1)))
    problems.push(`out of order: ${seen.join(' | ')}`)
  const rows = await bench.store.sends({ limit: 200 })
  const told = new Set((await bench.store.unreportedFailures(null)).map(({ id }) => id))
  for (const { id, state, reason, cause, op } of rows) {
    const isOpen = state === 'queued' || state === 'sending' || state === 'unknown'
    if (isOpen) problems.push(`${id} (${cause}, ${op?.kind}) is ${state}: ${reason}`)
    if (state === 'failed' && cause === 'reply' && !told.has(id))
      problems.push(`${id} failed (${reason}) and nobody knows`)
  }
  const isUndelivered = rows.some(({ state, cause }) => state === 'failed' && cause !== 'notice')
  for (const { code, text } of (await bench.doctor()).problems) {
    // The table of links covers the link. How far the history was compared changes only after minutes.
    if (code === 'history-behind' || (code === 'sends-undelivered' && isUndelivered)) continue
    problems.push(`doctor says ${code}: ${text}`)
  }
  const { ok } = await bench.store.verify()
  if (!ok) problems.push('the ledger does not verify')
  return problems
}
