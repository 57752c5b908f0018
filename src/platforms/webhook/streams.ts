// The readers of GET /hooks/ID/events: who may watch which conversation, and how many at once.
import type { HttpReply, PlatformDeps, VerifiedRequest } from '../../contract/index.ts'
import { createOutboxFeed, type FeedReader, type LiveRow, parsePosition } from '../../kit/index.ts'
import type { WebhookConfig } from './config.ts'
import { eventOf, forbidden, jsonError, type Shown } from './render.ts'
import { header } from './verify.ts'

const MAX_READERS = 100
/** Readers of one sender, so that a reconnecting browser cannot take the places of others. */
const MAX_OF_SENDER = 20

export interface Streams {
  open(verified: VerifiedRequest): Promise<HttpReply>
  show(row: LiveRow): void
  heard(conversation: string): void
  status(conversation: string, text: string): void
  count(): number
  end(): void
}

interface Reader extends FeedReader {
  readonly format: 'text' | 'json'
}

export function createStreams(config: WebhookConfig, deps: PlatformDeps): Streams {
  const feed = createOutboxFeed<Reader>(deps)
  const places = new Map<string, number>()
  const takePlace = (sender: string, by: 1 | -1) => {
    const now = (places.get(sender) ?? 0) + by
    if (now > 0) places.set(sender, now)
    else places.delete(sender)
  }

  const shared = config.auth.kind !== 'sender'
  const isFull = (sender: string) =>
    feed.count() >= MAX_READERS || (!shared && (places.get(sender) ?? 0) >= MAX_OF_SENDER)

  /** The secret allows watching everything. A sender may watch its own conversation, and those where it spoke. */
  async function mayWatch(sender: string, conversation: string): Promise<boolean> {
    if (config.auth.kind !== 'sender' || conversation === sender) return true
    // Refused messages are not in the transcript.
    const [said] = await deps.transcript({ conversation, direction: 'in', sender, limit: 1 })
    return said !== undefined && said.sender === sender && said.state !== 'refused'
  }

  return {
    async open({ request, sender }) {
      // Listening needs the right to talk, so that a refused sender takes no place of others.
      if (deps.mayTalk?.(sender) === false) return forbidden()
      const wanted = request.query.get('conversation') ?? header(request, 'x-conversation') ?? null
      const conversation = wanted ?? (config.auth.kind === 'sender' ? sender : null)
      if (conversation !== null && !(await mayWatch(sender, conversation))) return forbidden()
      const format = request.query.get('format') ?? 'text'
      if (format !== 'text' && format !== 'json')
        return jsonError(400, 'input_invalid', 'format: text or json')
      const last = header(request, 'last-event-id') ?? request.query.get('after')
      const resume = last === null || last === '' ? null : parsePosition(last)
      if (last !== null && last !== '' && resume === null) {
        return jsonError(400, 'input_invalid', 'Last-Event-ID: is not an id of this stream')
      }
      if (isFull(sender)) {
        const most = shared ? MAX_READERS : MAX_OF_SENDER
        const reply = jsonError(429, 'rate_limited', `${most} readers are connected already`)
        return { ...reply, headers: { ...reply.headers, 'retry-after': '30' } }
      }
      return {
        status: 200,
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-cache, no-transform',
        },
        stream(sink) {
          // Several requests at once may have passed the first check.
          if (isFull(sender)) return sink.end()
          let isOpen = true
          takePlace(sender, 1)
          sink.onClose(() => {
            if (isOpen) takePlace(sender, -1)
            isOpen = false
          })
          const mayStay = () => deps.mayTalk?.(sender) !== false
          const event = (row: Shown) => eventOf(row, format)
          feed.open({ conversation, format, resume, mayStay, event }, sink)
        },
      }
    },
    show: feed.show,
    heard: feed.heard,
    status: (conversation, text) =>
      feed.pass(conversation, ({ format }) => ({
        event: 'status',
        data: format === 'json' ? JSON.stringify({ conversation, status: text }) : text,
      })),
    count: feed.count,
    end: feed.end,
  }
}
