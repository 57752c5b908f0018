// /events: the desk's live hints as server-sent events. Lossy by nature; a page asks the API for what it shows.
import type { Clock, Desk, HttpReply } from '../contract/index.ts'

/** `mayStay` is asked with every heartbeat: a stream does not outlive the credential that opened it. */
export function eventsReply(
  desk: Pick<Desk, 'watch'>,
  clock: Clock,
  heartbeatMs: number,
  mayStay: () => Promise<boolean>,
): HttpReply {
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
    },
    stream(sink) {
      sink.write(': connected\n\n')
      const unwatch = desk.watch((event) =>
        sink.write(`event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`),
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
