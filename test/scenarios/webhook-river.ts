// The whole river with a webhook that posts answers to a URL, against a server that records them.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defined, isReply } from '../../src/contract/index.ts'
import { createWebhook } from '../../src/platforms/webhook/index.ts'
import {
  accessOf,
  clockOf,
  emulatedIntegration,
  openEmulatedRiver,
  type RiverOptions,
} from './emulated-river.ts'

const PERSON = 'kate'

export async function openWebhookRiver(options: RiverOptions & { readonly postMs?: number } = {}) {
  const shown: string[] = []
  const taker = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    shown.push((JSON.parse(body) as { message: string }).message)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  })
  await new Promise<void>((resolve) => taker.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(taker.address() as AddressInfo).port}/taken`
  const out = { url: (await options.through?.(url)) ?? url, allow_private: true }
  const river = await openEmulatedRiver(
    [
      {
        integration: emulatedIntegration('hook', {
          platform: 'webhook',
          options: { sender_header: 'X-Sender', out },
          access: accessOf(PERSON),
          ...defined({ textChunkLimit: options.textChunkLimit }),
        }),
        create: (deps) => createWebhook(deps, undefined, defined({ postMs: options.postMs })),
        secrets: {},
        stop: async () => {
          taker.closeAllConnections()
          taker.close()
        },
      },
    ],
    { clock: clockOf({}), ...defined({ played: options.played }) },
  )
  const says = async (text: string) => {
    const endpoint = river.gateway.links.get('hook')?.adapter.endpoint
    const verified = await endpoint?.verify({
      ...{ method: 'POST', path: '', query: new URLSearchParams(), fromLoopback: true },
      headers: { 'x-sender': PERSON },
      body: Buffer.from(text),
    })
    if (endpoint && verified && !isReply(verified)) await endpoint.handle(verified)
  }
  return { ...river, kate: { says, sees: () => shown } }
}
