// The reader's side of a two-way webhook: an event stream that reconnects with Last-Event-ID whenever it breaks.
import { type ClientRequest, request } from 'node:http'
import { pause } from './until.ts'

export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export interface EventReader {
  readonly events: readonly StreamEvent[]
  /** How often it connected, so that a test can see that it reads. */
  connections(): number
  stop(): void
}

/** Reads until stopped. `url` returns the address of the stream now, or null while there is none. */
export function readEvents(url: () => string | null, headers: Record<string, string>): EventReader {
  const events: StreamEvent[] = []
  let lastId: string | null = null
  let connected = 0
  let stopped = false
  let current: ClientRequest | null = null

  const take = (block: string) => {
    const fields = new Map<string, string>()
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^([a-z]*): ?(.*)$/.exec(line) ?? []
      if (name !== '') fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value)
    }
    const data = fields.get('data')
    if (data === undefined) {
      if (block === ': connected') connected += 1
      return
    }
    lastId = fields.get('id') ?? lastId
    events.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data })
  }

  const once = (at: string) =>
    new Promise<void>((resolve) => {
      const resume = lastId === null ? {} : { 'last-event-id': lastId }
      current = request(at, { headers: { ...headers, ...resume }, agent: false })
      current.once('error', () => resolve())
      current.once('close', () => resolve())
      current.once('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
            take(text.slice(0, end))
            text = text.slice(end + 2)
          }
        })
        response.once('error', () => resolve())
      })
      current.end()
    })

  const keepReading = async () => {
    while (!stopped) {
      const at = url()
      if (at !== null) await once(at)
      await pause(10)
    }
  }
  void keepReading()

  return {
    events,
    connections: () => connected,
    stop() {
      stopped = true
      current?.destroy()
    },
  }
}
