// A streamed answer, line by line. NDJSON or server-sent events become chunks, signs of life, errors and an end. Each
// character is read once, and a line may be as long as the body.
import { defined } from '../../contract/index.ts'
import { isFields, readError, textOf } from './message-form.ts'

export type AnswerEvent =
  | { readonly kind: 'chunk'; readonly text: string }
  | { readonly kind: 'status'; readonly text: string }
  | { readonly kind: 'error'; readonly message: string; readonly code?: string }
  | { readonly kind: 'done' }
  /** It contains more than is known here, so it may be the answer. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'problem'; readonly problem: string }

export interface EventReader {
  /** Returns the events of the lines that are complete. */
  feed(text: string): readonly AnswerEvent[]
  /** Returns the events of the last line, when the stream ended properly. */
  end(): readonly AnswerEvent[]
}

/** Lines end with LF, CR LF or CR. A CR at the end of a piece may be the first half of CR LF. */
function createLines(take: (line: string) => void) {
  let rest: string[] = []
  let halfEnd = false
  return {
    feed(text: string) {
      let from = 0
      for (let at = 0; at < text.length; at++) {
        const char = text[at]
        if (char !== '\n' && char !== '\r') {
          halfEnd = false
          continue
        }
        if (char === '\n' && halfEnd) from = at + 1
        else {
          rest.push(text.slice(from, at))
          take(rest.join(''))
          rest = []
          from = at + 1
        }
        halfEnd = char === '\r'
      }
      rest.push(text.slice(from))
    },
    end() {
      const last = rest.join('')
      rest = []
      if (last !== '') take(last)
    },
  }
}

export function createNdjsonReader(): EventReader {
  let found: AnswerEvent[] = []
  let count = 0
  const lines = createLines((line) => {
    count += 1
    if (line.trim() === '') return
    const value = parsed(line)
    if (value === undefined)
      found.push({ kind: 'problem', problem: `line ${count} of the stream is not JSON` })
    else found.push(...eventsOf(value))
  })
  return reader(lines, () => {
    const now = found
    found = []
    return now
  })
}

export function createSseReader(): EventReader {
  let found: AnswerEvent[] = []
  let data: string[] = []
  let name = ''
  const dispatch = () => {
    const [text, event] = [data.join('\n'), name]
    const any = data.length > 0
    data = []
    name = ''
    if (any || event === 'done' || event === 'end') found.push(...sseEvents(event, text))
  }
  const lines = createLines((line) => {
    if (line === '') return dispatch()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
  })
  // The stream ended properly, so an event without its blank line counts.
  const end = () => {
    lines.end()
    dispatch()
  }
  return reader({ ...lines, end }, () => {
    const now = found
    found = []
    return now
  })
}

function reader(lines: ReturnType<typeof createLines>, taken: () => readonly AnswerEvent[]): EventReader {
  return {
    feed(text) {
      lines.feed(text)
      return taken()
    },
    end() {
      lines.end()
      return taken()
    },
  }
}

/** Data of an end event that carries no text. Browsers drop events without data, so servers send some. */
const SAYS_NOTHING = /^(\[?(done|end)\]?|\{\}|""|null|true)?$/i

function sseEvents(name: string, data: string): readonly AnswerEvent[] {
  if (data === '[DONE]') return [{ kind: 'done' }]
  if (name === 'done' || name === 'end')
    return SAYS_NOTHING.test(data) ? [{ kind: 'done' }] : [{ kind: 'unknown' }, { kind: 'done' }]
  const value = parsed(data)
  if (name === 'status')
    return [{ kind: 'status', text: isFields(value) ? String(value.status ?? '') : data }]
  if (name === 'error') return [errorEvent(isFields(value) ? value : { error: data })]
  // A bare number or word is text that happens to be JSON.
  return isFields(value) || typeof value === 'string' ? eventsOf(value) : [{ kind: 'chunk', text: data }]
}

/** `{text}` or `{delta}` is a piece of the answer. n8n writes `{type: item, content}`. */
function eventsOf(value: unknown): readonly AnswerEvent[] {
  if (typeof value === 'string') return [{ kind: 'chunk', text: value }]
  if (!isFields(value)) return [{ kind: 'problem', problem: 'a line of the stream is no object with "text"' }]
  const events: AnswerEvent[] = []
  if (value.type === 'error' && typeof value.content === 'string')
    return [errorEvent({ error: value.content })]
  if (value.error !== undefined && value.error !== null) return [errorEvent(value)]
  if (typeof value.status === 'string') events.push({ kind: 'status', text: value.status })
  const piece =
    (isFields(value.delta) ? undefined : value.delta) ??
    textOf(value) ??
    (value.type === 'item' ? value.content : undefined)
  if (typeof piece === 'string') events.push({ kind: 'chunk', text: piece })
  else if (piece !== undefined) events.push({ kind: 'problem', problem: '"text" must be a string' })
  const known = Object.keys(value).filter((key) => key === 'status' || key === 'done')
  if (piece === undefined && known.length < Object.keys(value).length) events.push({ kind: 'unknown' })
  if (value.done === true) events.push({ kind: 'done' })
  return events.length > 0 ? events : [{ kind: 'unknown' }]
}

function errorEvent(value: Readonly<Record<string, unknown>>): AnswerEvent {
  const read = readError(value)
  if ('problem' in read) return { kind: 'error', message: 'it told of an error without words' }
  return { kind: 'error', message: read.error, ...defined({ code: read.code }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
