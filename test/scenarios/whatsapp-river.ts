// The whole river with a WhatsApp adapter against the fake Cloud API, whose posts come by HTTP and are dealt over the nodes.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDemoAgent } from '../../src/agents/demo/index.ts'
import { createGateway } from '../../src/app/gateway.ts'
import { createRealClock, createRealRandom } from '../../src/app/real-clock.ts'
import { createTokens } from '../../src/app/tokens.ts'
import { type Endpoint, isReply, type RawRequest } from '../../src/contract/index.ts'
import { createToolDesk } from '../../src/core/tool-desk/create-tool-desk.ts'
import type { Timings } from '../../src/platforms/whatsapp/config.ts'
import { createWhatsApp } from '../../src/platforms/whatsapp/index.ts'
import { openStore } from '../../src/store/open.ts'
import { createFakeWhatsApp, type FakeWhatsAppOptions } from '../../src/testing/emulate.ts'
import { sharedPostgres } from '../../src/testing/postgres-server.ts'
import { createRecordingLog } from '../../src/testing/recording-log.ts'
import { testAgent, testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { prepareStore } from './node.ts'

export const WHATSAPP_ARRANGEMENTS = ['sqlite', 'postgres', 'three nodes'] as const

export interface WhatsAppRiverOptions extends FakeWhatsAppOptions {
  readonly arrangement?: (typeof WHATSAPP_ARRANGEMENTS)[number]
  readonly timings?: Partial<Timings>
  readonly unknownPolicy?: 'note' | 'hold'
}

export async function openWhatsAppRiver(options: WhatsAppRiverOptions = {}) {
  const clock = createRealClock()
  const fake = await createFakeWhatsApp({ retryMs: [30, 60, 100], ...options })
  const folder = mkdtempSync(join(tmpdir(), 'sb-whatsapp-'))
  const random = createRealRandom()
  const log = createRecordingLog()
  const kate = fake.person()
  const arrangement = options.arrangement ?? 'sqlite'
  const lent = arrangement === 'sqlite' ? null : await (await sharedPostgres()).lend('river', prepareStore)
  const url = lent?.url ?? `sqlite:${join(folder, 'river.db')}`
  const secrets: Readonly<Record<string, string>> = {
    'env:TOKEN': fake.token,
    'env:SECRET': fake.appSecret,
    'env:VERIFY': fake.verifyToken,
  }
  const own = [kate.chat]
  const settings = testSettings({
    integrations: [
      testIntegration('wa', {
        platform: 'whatsapp',
        scope: 'all',
        default: true,
        options: {
          phone_number_id: fake.phoneNumberId,
          access_token: 'env:TOKEN',
          app_secret: 'env:SECRET',
          verify_token: 'env:VERIFY',
          api_url: fake.url,
        },
        access: {
          readable: true,
          dm: 'allowlist',
          allowFrom: own,
          approvers: own,
          groups: {},
          mentionPatterns: [],
        },
      }),
    ],
    agents: [
      testAgent('demo', ['wa'], {
        connector: { type: 'demo', options: {} },
        messagingAllow: ['whatsapp:*'],
      }),
    ],
    tunables: {
      sendRetryBaseMs: 20,
      sendRetryMaxMs: 100,
      ...(options.unknownPolicy === undefined ? {} : { unknownPolicy: options.unknownPolicy }),
    },
  })
  const bringUp = async (node: string) => {
    const store = await openStore(url, { clock, random, node, ledgerKey: new Uint8Array(32).fill(7), log })
    const gateway = createGateway({
      platform: async () => ({ create: (deps) => createWhatsApp(deps, { timings: options.timings ?? {} }) }),
      connector: async () => ({ create: createDemoAgent }),
      store,
      clock,
      random,
      log,
      tokens: createTokens(store, clock, random),
      settings: () => settings,
      secret: (reference) => secrets[reference] ?? '',
      filesDir: () => folder,
      watched: () => false,
    })
    await gateway.start()
    return { store, gateway }
  }
  const here = await bringUp('here')
  const others = arrangement === 'three nodes' ? [await bringUp('there'), await bringUp('elsewhere')] : []
  const nodes = [here, ...others]
  let turn = 0
  const door = createServer((request, response) => {
    const node = nodes[turn++ % nodes.length]
    const endpoint = node?.gateway.links.get('wa')?.adapter.endpoint
    serve(endpoint, request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  await fake.webhook.use(`http://127.0.0.1:${(door.address() as AddressInfo).port}/hooks/wa`)
  const { store, gateway } = here
  const { links, outlet, notifier, dispatcher } = gateway
  return {
    fake,
    kate,
    store,
    log,
    tools: createToolDesk({ store, settings: () => settings, links, outlet, notifier, dispatcher }),
    async close() {
      door.closeAllConnections()
      door.close()
      for (const node of nodes) await node.gateway.stop()
      for (const node of nodes) await node.store.close()
      await fake.stop()
      await lent?.giveBack()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function serve(
  endpoint: Endpoint | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (!endpoint) return void response.writeHead(503).end()
  const raw: RawRequest = {
    method: request.method ?? 'GET',
    path: '',
    query: new URL(request.url ?? '/', 'http://door').searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
    fromLoopback: true,
  }
  const verified = await endpoint.verify(raw)
  const reply = isReply(verified) ? verified : await endpoint.handle(verified)
  response.writeHead(reply.status, reply.headers ?? {}).end(reply.body)
}
