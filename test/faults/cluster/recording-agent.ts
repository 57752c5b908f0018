// A Chorus agent that outlives every node. It records its turns in order, takes a while for each message, and posts its
// answer to the callback until it is accepted.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pause } from '../until.ts'

export interface Handed {
  readonly id: string
  readonly session: string
  readonly text: string
}

export interface RecordingAgent {
  readonly url: string
  /** Every hand-over, repeats included. */
  readonly handed: readonly Handed[]
  /** Answers that were never accepted, with the status of the last try. */
  readonly untaken: readonly { readonly text: string; readonly status: number }[]
  /** How often an answer had to be posted again. */
  retries(): number
  stop(): Promise<void>
}

interface Delivery {
  readonly channel: { readonly id: string }
  readonly message: { readonly id: string; readonly content: string }
  readonly callback: string
}

const TRY_MS = 2_500
const RETRY_MS = 150

/** `workMs` is the time for each message. The agent works on messages of one channel one after the other. */
export async function createRecordingAgent(workMs: number): Promise<RecordingAgent> {
  const handed: Handed[] = []
  const untaken: { text: string; status: number }[] = []
  const queues = new Map<string, Promise<void>>()
  const known = new Set<string>()
  let retries = 0
  let stopped = false

  const answer = async ({ message, callback }: Delivery) => {
    await pause(workMs)
    const body = JSON.stringify({ type: 'message', content: `re: ${message.content}` })
    const headers = { 'content-type': 'application/json', 'idempotency-key': `answer-${message.id}` }
    while (!stopped) {
      const signal = AbortSignal.timeout(TRY_MS)
      const status = await fetch(callback, { method: 'POST', body, headers, signal }).then(
        async (response) => {
          await response.text()
          return response.status
        },
        () => 0,
      )
      if (status >= 200 && status < 300) return
      if (status !== 0 && status !== 503 && status !== 429) {
        untaken.push({ text: message.content, status })
        return
      }
      retries += 1
      await pause(RETRY_MS)
    }
  }

  const take = (delivery: Delivery) => {
    const { channel, message } = delivery
    handed.push({ id: message.id, session: channel.id, text: message.content })
    // A repeated message is accepted, but the agent does not work on it twice.
    if (known.has(message.id)) return
    known.add(message.id)
    const before = queues.get(channel.id) ?? Promise.resolve()
    queues.set(
      channel.id,
      before.then(() => answer(delivery)),
    )
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    take(JSON.parse(text) as Delivery)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/inbox/sk_recording_agent_0123456789`,
    handed,
    untaken,
    retries: () => retries,
    async stop() {
      stopped = true
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
