// A resumable feed of the outbox: shows an adapter's sends to any number of readers as server-sent events. A reader at
// one node also sees the sends of other nodes.
import type { Clock, PlatformDeps, StreamSink } from '../../contract/index.ts'
import { createOutboxLooks } from './outbox-looks.ts'
import {
  type FeedEvent,
  type FeedReader,
  type LiveRow,
  type OpenReader,
  openReader,
} from './outbox-reader.ts'

export interface OutboxFeed<Reader extends FeedReader> {
  /**
   * Replays what the reader missed, and stays open. The stream ends when the store is unavailable; the reader resumes.
   */
  open(reader: Reader, sink: StreamSink): void
  /** Called by `send`, once for each row that this node sends. */
  show(row: LiveRow): void
  /** Called when another node sent to this conversation. */
  heard(conversation: string): void
  /** Shows an event that may be lost, such as a status. It has no id and is not replayed. */
  pass(conversation: string, event: (reader: Reader) => FeedEvent): void
  count(): number
  end(): void
}

export function createOutboxFeed<Reader extends FeedReader = FeedReader>(
  deps: Pick<PlatformDeps, 'transcript' | 'onItsWay'> & {
    readonly clock: Clock
    readonly integration: { readonly id: string }
  },
): OutboxFeed<Reader> {
  const open = new Map<OpenReader, Reader>()
  const looks = createOutboxLooks(deps)
  return {
    open(reader, sink) {
      const { transcript, clock } = deps
      const opened = openReader(reader, { transcript, clock, integration: deps.integration.id, sink, looks })
      open.set(opened, reader)
      sink.onClose(() => open.delete(opened))
    },
    show(row) {
      for (const reader of open.keys()) reader.show(row)
    },
    heard(conversation) {
      for (const reader of open.keys()) reader.heard(conversation)
    },
    pass(conversation, event) {
      for (const [opened, reader] of open) opened.pass(conversation, event(reader))
    },
    count: () => open.size,
    end() {
      for (const reader of open.keys()) reader.end()
      open.clear()
    },
  }
}
