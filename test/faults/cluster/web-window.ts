// A browser's side of the web chat on one node, without the browser: a session from a one-time link, the stream,
// messages.
import { type EventReader, readEvents } from '../event-reader.ts'
import { post } from '../hook-client.ts'
import { askJson } from '../scene.ts'
import { until } from '../until.ts'
import type { ClusterNode } from './cluster-scene.ts'

export interface WebWindow {
  readonly stream: EventReader
  say(text: string): Promise<void>
  /** Waits until the stream shows this. */
  sees(part: string): Promise<string>
}

/** Counts the messages of all windows. Two windows of one person must not share an id, which would be one message. */
let said = 0

export async function openWebWindow(node: ClusterNode): Promise<WebWindow> {
  const { url } = await askJson<{ url: string }>(node.data, 'link')
  const ticket = /ticket=([^&]+)/.exec(url)?.[1] ?? ''
  const json = { 'content-type': 'application/json', origin: node.url }
  const entered = await post(`${node.url}/chat/session`, JSON.stringify({ ticket }), json)
  const [, token = ''] = /=([^;]+);/.exec(entered.headers.get('set-cookie') ?? '') ?? []
  if (token === '') throw new Error(`no session: ${entered.status} ${entered.text}`)
  const bearer = { authorization: `Bearer ${token}` }
  const stream = readEvents(() => `${node.url}/chat/stream`, bearer)
  return {
    stream,
    async say(text) {
      const body = JSON.stringify({ clientId: `client-${String(++said).padStart(4, '0')}`, text })
      const posted = await post(`${node.url}/chat/messages`, body, { ...json, ...bearer })
      if (posted.status !== 200) throw new Error(`${posted.status}: ${posted.text}`)
    },
    sees: (part) =>
      until(`the window shows "${part}"`, () => stream.events.find(({ data }) => data.includes(part))?.data),
  }
}
