// /events: live hints as server-sent events. They may be lost, so a page reads the API for its content.
import { type Clock, type HttpReply, type Principal, SwitchboardError } from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import type { ServerDeps } from './deps.ts'

/** The streams of one principal, so that a reconnecting page cannot take the connections of others. */
const MAX_OF_PRINCIPAL = 32

export interface EventStreams {
  /**
   * `mayStay` is checked with every heartbeat, so that a stream does not outlive its credential. Throws `rate_limited`
   * if this principal has too many streams. `only`: the kinds of events that are sent.
   */
  open(principal: Principal, mayStay: () => Promise<boolean>, only?: readonly string[]): HttpReply
}

export function createEventStreams(
  deps: Pick<ServerDeps, 'watch' | 'clock'>,
  heartbeatMs: number,
): EventStreams {
  /** The number of streams by principal. */
  const places = new Map<string, number>()
  const isFull = (who: string) => (places.get(who) ?? 0) >= MAX_OF_PRINCIPAL
  return {
    open(principal, mayStay, only) {
      const who = `${principal.kind}:${principal.id}`
      if (isFull(who))
        throw new SwitchboardError(
          'rate_limited',
          `${MAX_OF_PRINCIPAL} of your readers are connected already`,
          {
            retryAfterMs: 30_000,
          },
        )
      const decides = authorize(principal, 'approval.decide', { kind: 'gateway' }).allowed
      const reply = eventsReply({ ...deps, heartbeatMs, decides }, mayStay, only)
      return {
        ...reply,
        stream(sink) {
          // Several requests at once may have passed the first check.
          if (isFull(who)) return sink.end()
          places.set(who, (places.get(who) ?? 0) + 1)
          sink.onClose(() => {
            const left = (places.get(who) ?? 1) - 1
            if (left > 0) places.set(who, left)
            else places.delete(who)
          })
          reply.stream(sink)
        },
      }
    },
  }
}

export function eventsReply(
  {
    watch,
    clock,
    heartbeatMs,
    decides,
  }: {
    readonly watch: ServerDeps['watch']
    readonly clock: Clock
    readonly heartbeatMs: number
    readonly decides: boolean
  },
  mayStay: () => Promise<boolean>,
  only?: readonly string[],
): HttpReply & { stream: NonNullable<HttpReply['stream']> } {
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
    },
    stream(sink) {
      sink.write(': connected\n\n')
      const unwatch = watch(
        (event) => {
          if (only !== undefined && !only.includes(event.kind)) return
          sink.write(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)
        },
        { decides },
      )
      let cancel = clock.after(heartbeatMs, beat)
      function beat(): void {
        sink.write(': alive\n\n')
        cancel = clock.after(heartbeatMs, beat)
        void mayStay().then((may) => may || sink.end())
      }
      sink.onClose(() => {
        unwatch()
        cancel()
      })
    },
  }
}
