// The whole river with a WhatsApp adapter against the fake Cloud API. Its posts arrive by HTTP, spread over the nodes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defined, type Endpoint, isReply, type RawRequest } from '../../src/contract/index.ts'
import type { Timings } from '../../src/platforms/whatsapp/config.ts'
import { createWhatsApp } from '../../src/platforms/whatsapp/index.ts'
import { createFakeWhatsApp, type FakeWhatsAppOptions } from '../../src/testing/emulate.ts'
import {
  accessOf,
  clockOf,
  emulatedIntegration,
  openEmulatedRiver,
  type RiverOptions,
} from './emulated-river.ts'

export interface WhatsAppRiverOptions extends FakeWhatsAppOptions, RiverOptions {
  readonly timings?: Partial<Timings>
  readonly unknownPolicy?: 'note' | 'hold'
}

export async function openWhatsAppRiver(options: WhatsAppRiverOptions = {}) {
  const { arrangement, played, timings = {}, unknownPolicy } = options
  const fake = await createFakeWhatsApp({ retryMs: [30, 60, 100], ...options })
  const kate = fake.person()
  const at = (await options.through?.(fake.url)) ?? fake.url
  const integration = emulatedIntegration('wa', {
    platform: 'whatsapp',
    default: true,
    options: {
      phone_number_id: fake.phoneNumberId,
      access_token: 'env:TOKEN',
      app_secret: 'env:SECRET',
      verify_token: 'env:VERIFY',
      api_url: at,
    },
    access: accessOf(kate.chat),
    ...defined({ textChunkLimit: options.textChunkLimit }),
  })
  const secrets = { 'env:TOKEN': fake.token, 'env:SECRET': fake.appSecret, 'env:VERIFY': fake.verifyToken }
  const river = await openEmulatedRiver(
    [
      {
        ...{ integration, secrets },
        create: (deps) => createWhatsApp(deps, { timings }),
        stop: () => fake.stop(),
      },
    ],
    {
      clock: clockOf({}),
      demo: { messagingAllow: ['whatsapp:*'] },
      ...defined({ played }),
      ...(arrangement === undefined ? {} : { arrangement }),
      ...(unknownPolicy === undefined ? {} : { tunables: { unknownPolicy } }),
    },
  )
  let turn = 0
  const door = createServer((request, response) => {
    const node = river.nodes[turn++ % river.nodes.length]
    const endpoint = node?.gateway.links.get('wa')?.adapter.endpoint
    serve(endpoint, request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  await fake.webhook.use(`http://127.0.0.1:${(door.address() as AddressInfo).port}/hooks/wa`)
  return {
    ...river,
    fake,
    kate,
    async close() {
      door.closeAllConnections()
      door.close()
      await river.close()
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
