// Three whole nodes in this process, on one real PostgreSQL and the real clock, with a two-way hook and the web chat.
// It is for behaviour that needs several commits in progress at once.
import { tmpdir } from 'node:os'
import {
  defined,
  type NewSend,
  type RawRequest,
  type Store,
  type StreamSink,
} from '../../src/contract/index.ts'
import { createTokens } from '../../src/gateway/access/tokens.ts'
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts'
import { createWatchers, type Watchers } from '../../src/operations/watchers.ts'
import { SESSION_KIND } from '../../src/platforms/web/config.ts'
import { createWebPlatform } from '../../src/platforms/web/index.ts'
import { createWebhook } from '../../src/platforms/webhook/index.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { eventsReply } from '../../src/server/events.ts'
import { openStore } from '../../src/store/open.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { createScriptedConnector } from '../../src/testing/scripted/scripted-connector.ts'
import { testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { prepareStore } from './node.ts'

export const HOOK = 'hook'
export const CHAT = 'chat'
const SECRET = 'planted-stream-secret-4713'
const NAMES = ['one', 'two', 'three'] as const

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface StreamReader {
  readonly node: number
  events(): readonly StreamEvent[]
  /** Whether the stream reported that it is connected. */
  started(): boolean
  /** The texts that it showed, in order. */
  texts(): readonly string[]
  close(): void
}

export interface StreamNodes {
  readonly stores: readonly Store[]
  /** Queues a text in a conversation of the hook or the chat, through one node. */
  say(node: number, integration: string, conversation: string, text: string, dueAt?: number): Promise<void>
  /** Opens a reader of the hook, for one conversation or for all. */
  readHook(node: number, conversation: string | null, after?: string): Promise<StreamReader>
  readChat(node: number, person: string, after?: string): Promise<StreamReader>
  readEvents(node: number): StreamReader
  close(): Promise<void>
}

export async function openStreamNodes(): Promise<StreamNodes> {
  const url = await (await sharedPostgres()).copyOf('river', prepareStore)
  const clock = createRealClock()
  const random = createRealRandom()
  const settings = testSettings({
    integrations: [
      testIntegration(HOOK, { platform: 'webhook', options: { secret: 'env:HOOK', two_way: true } }),
      testIntegration(CHAT, { platform: 'web' }),
    ],
  })
  const nodes: {
    store: Store
    gateway: Gateway
    watchers: Watchers
    chatToken: (who: string) => Promise<string>
  }[] = []
  for (const name of NAMES) {
    const store = await openStore(url, {
      clock,
      random,
      node: name,
      ledgerKey: new Uint8Array(32).fill(7),
      log: createRecordingLog(),
    })
    const tokens = createTokens(store, clock, random)
    const watchers = createWatchers()
    watchers.follow({ store, config: { onReload: () => undefined } })
    const gateway = createGateway({
      platform: async (platform) => ({ create: platform === 'web' ? createWebPlatform : createWebhook }),
      connector: async () => createScriptedConnector(),
      store,
      clock,
      random,
      log: createRecordingLog(),
      tokens,
      settings: () => settings,
      secret: () => SECRET,
      filesDir: () => tmpdir(),
      watched: watchers.isWatched,
    })
    await gateway.start()
    const chatToken = async (sender: string) =>
      (await tokens.mint({ kind: SESSION_KIND, scope: { integration: CHAT, sender }, ttlMs: null })).token
    nodes.push({ store, gateway, watchers, chatToken })
  }
  const at = (node: number) => {
    const found = nodes[node % nodes.length]
    if (!found) throw new Error('no such node')
    return found
  }

  const open = async (node: number, integration: string, request: Partial<RawRequest>) => {
    const endpoint = at(node).gateway.links.get(integration)?.adapter.endpoint
    if (!endpoint) throw new Error(`${integration} has no endpoint`)
    const query = request.query ?? new URLSearchParams()
    const asked = {
      method: 'GET',
      path: '',
      body: new Uint8Array(),
      fromLoopback: true,
      headers: {},
      ...request,
      query,
    }
    const verified = await endpoint.verify(asked)
    const reply = 'status' in verified ? verified : await endpoint.handle(verified)
    if (!reply.stream) throw new Error(`no stream: ${reply.status} ${String(reply.body)}`)
    const { reader, sink } = createReader(node)
    reply.stream(sink)
    return reader
  }

  return {
    stores: nodes.map(({ store }) => store),
    async say(node, integration, conversation, text, dueAt) {
      const send: NewSend = {
        to: { integration, conversation },
        platform: integration === HOOK ? 'webhook' : 'web',
        op: { kind: 'text', text },
        cause: 'notice',
        agent: null,
        session: null,
        turn: null,
        ...defined({ dueAt }),
      }
      await at(node).store.enqueue([send])
    },
    readHook(node, conversation, after) {
      const query = new URLSearchParams()
      if (conversation !== null) query.set('conversation', conversation)
      if (after !== undefined) query.set('after', after)
      const headers = { authorization: `Bearer ${SECRET}` }
      return open(node, HOOK, { path: '/events', query, headers })
    },
    async readChat(node, person, after) {
      const query = new URLSearchParams(after === undefined ? {} : { after })
      const headers = { authorization: `Bearer ${await at(node).chatToken(person)}` }
      return open(node, CHAT, { path: '/stream', query, headers })
    },
    readEvents(node) {
      const { watchers } = at(node)
      const { reader, sink } = createReader(node)
      const { watch } = watchers
      eventsReply({ watch, clock, heartbeatMs: 15_000, decides: true }, async () => true).stream?.(sink)
      return reader
    },
    async close() {
      for (const { gateway } of nodes) await gateway.stop()
      for (const { store } of nodes) await store.close()
    },
  }
}

function createReader(node: number): { readonly reader: StreamReader; readonly sink: StreamSink } {
  const events: StreamEvent[] = []
  const ends: (() => void)[] = []
  let rest = ''
  let begun = false
  let closed = false
  const close = () => {
    closed = true
    for (const end of ends.splice(0)) end()
  }
  const sink: StreamSink = {
    write(chunk) {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      if (blocks.some((block) => block.includes(': connected') || block.includes('event: hello')))
        begun = true
      for (const block of blocks) if (block.includes('data: ')) events.push(parseEvent(block))
    },
    drained: () => new Promise((resolve) => setImmediate(resolve)),
    get closed() {
      return closed
    },
    onClose: (run) => void ends.push(run),
    end: close,
  }
  const texts = () =>
    events.flatMap(({ event, data }) => {
      if (event === '') return [data]
      return event === 'entry' ? [(JSON.parse(data) as { text: string }).text] : []
    })
  return { sink, reader: { node, started: () => begun, events: () => events, texts, close } }
}

function parseEvent(block: string): StreamEvent {
  const field = (name: string) =>
    block
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
  return { id: field('id')[0] ?? '', event: field('event')[0] ?? '', data: field('data').join('\n') }
}
