// Server-sent events as text.

export interface SseEvent {
  readonly id?: string
  /** Absent: a plain `message` event, which `curl -N` and `onmessage` show. */
  readonly event?: string
  readonly data: string
}

const LINE_END = /\r\n|\r|\n/
const UNSAFE = /[\r\n\0]/g

/** Formats one event. Every line of the data becomes its own `data:` line, so no text can forge a field. */
export function formatSse(event: SseEvent): string {
  let text = ''
  if (event.event !== undefined) text += `event: ${event.event.replace(UNSAFE, '')}\n`
  if (event.id !== undefined) text += `id: ${event.id.replace(UNSAFE, '')}\n`
  for (const line of event.data.split(LINE_END)) text += `data: ${line}\n`
  return `${text}\n`
}

/** Formats a comment. It shows that the stream is alive, and reaches no listener. */
export function formatSseComment(text: string): string {
  return `: ${text.replace(UNSAFE, ' ')}\n\n`
}
