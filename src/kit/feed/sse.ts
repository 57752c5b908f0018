// Server-sent events as text: what a stream writes to those who watch the outbox.

export interface SseEvent {
  readonly id?: string
  /** Absent: a plain `message` event, which is what `curl -N` and `onmessage` see. */
  readonly event?: string
  readonly data: string
}

const LINE_END = /\r\n|\r|\n/
const UNSAFE = /[\r\n\0]/g

/** One event; every line of the data becomes a `data:` line of its own, so no text can forge a field. */
export function formatSse(event: SseEvent): string {
  let text = ''
  if (event.event !== undefined) text += `event: ${event.event.replace(UNSAFE, '')}\n`
  if (event.id !== undefined) text += `id: ${event.id.replace(UNSAFE, '')}\n`
  for (const line of event.data.split(LINE_END)) text += `data: ${line}\n`
  return `${text}\n`
}

/** A comment: shows that the stream lives, and reaches no listener. */
export function formatSseComment(text: string): string {
  return `: ${text.replace(UNSAFE, ' ')}\n\n`
}
