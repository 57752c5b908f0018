// The receiver of answers: a URL that every node posts to. Like most of the world it knows no idempotency, so every
// repeat is visible. It can keep one caller waiting for the confirmation.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Arrival {
  /** The outbox row. */
  readonly key: string
  readonly conversation: string
  readonly text: string
  /** Whether the gateway labelled it as a possible repeat. */
  readonly labelled: boolean
}

export interface RecordingPlace {
  readonly url: string
  readonly arrivals: readonly Arrival[]
  /** From now on, messages of this conversation arrive but are not confirmed before `confirm`. */
  hold(conversation: string): void
  /** The number of callers that wait for a confirmation. */
  waiting(): number
  /** Confirms everything that was held. Returns how many confirmations were written. */
  confirm(): number
  stop(): Promise<void>
}

export const DUPLICATE_NOTE = '(may be a duplicate'

export async function createRecordingPlace(): Promise<RecordingPlace> {
  const arrivals: Arrival[] = []
  const held = new Set<string>()
  let waiting: ServerResponse[] = []

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { chat_id, message: text } = JSON.parse(body) as { chat_id: string; message: string }
    const conversation = chat_id.slice(chat_id.indexOf(':') + 1)
    const labelled = text.startsWith(DUPLICATE_NOTE)
    arrivals.push({ key: String(request.headers['idempotency-key']), conversation, text, labelled })
    if (held.has(conversation)) waiting.push(response)
    else confirm(response)
  }
  const confirm = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/answers`,
    arrivals,
    hold: (conversation) => void held.add(conversation),
    waiting: () => waiting.length,
    confirm() {
      const now = waiting
      waiting = []
      held.clear()
      for (const response of now) confirm(response)
      return now.length
    },
    async stop() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
