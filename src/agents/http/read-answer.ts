// Reads an agent's response to its end or to the limit. The result is the answer, or why there is none. It never
// throws, because after a 2xx nothing is posted again: any failure here ends the turn.
import { TextDecoder } from 'node:util'
import { defined, MOST_ANSWER_CHARS, type NewFile } from '../../contract/index.ts'
import { type AnswerEvent, createNdjsonReader, createSseReader, type EventReader } from './answer-events.ts'
import { readMessages } from './message-form.ts'

export type Answer =
  | { readonly kind: 'answer'; readonly texts: readonly string[]; readonly files: readonly NewFile[] }
  /** It cannot be an answer, or it reports an error. `text`: what came before. */
  | {
      readonly kind: 'failed'
      readonly detail: string
      readonly code?: string
      readonly text: string
      /** Its form is unknown: the content type and the beginning. */
      readonly unread?: string
    }
  /** It broke off. */
  | { readonly kind: 'cut'; readonly detail: string; readonly text: string }

export interface AnswerProgress {
  /** The whole text so far. */
  partial(text: string): void
  status(text: string): void
}

export interface AnswerBody {
  readonly contentType: string | null
  readonly contentEncoding: string | null
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The limit of the whole body, and of its text. */
export const MAX_ANSWER_BYTES = 1_048_576
export const MAX_ANSWER_CHARS = MOST_ANSWER_CHARS

type Form = 'json' | 'ndjson' | 'sse' | 'text' | 'page' | 'unsaid'

/** The shown part of a body that was not understood. */
const SHOWN_BYTES = 800
const SHOWN_CHARS = 200

export async function readAnswer(body: AnswerBody, progress: AnswerProgress): Promise<Answer> {
  const beginning: Uint8Array[] = []
  const answer = await readForm({ ...body, chunks: recorded(body.chunks, beginning) }, progress)
  if (answer.kind !== 'failed' || answer.unread === undefined) return answer
  // For an unreadable content type the body was not read yet. Its beginning is shown.
  if (beginning.length === 0) await eachChunk(recorded(body.chunks, beginning), () => true)
  return { ...answer, unread: beginningOf(body.contentType, beginning) }
}

async function* recorded(chunks: AsyncIterable<Uint8Array>, into: Uint8Array[]): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const bytes of chunks) {
    if (size < SHOWN_BYTES) into.push(bytes.subarray(0, SHOWN_BYTES - size))
    size += bytes.byteLength
    yield bytes
  }
}

function beginningOf(contentType: string | null, beginning: readonly Uint8Array[]): string {
  const text = new TextDecoder().decode(Buffer.concat(beginning)).replace(/[\p{Cc}\s]+/gu, ' ')
  const begins = [...text.trim()].slice(0, SHOWN_CHARS).join('')
  return `content type ${contentType === null ? 'missing' : shown(contentType)}; it begins: ${begins}`
}

async function readForm(body: AnswerBody, progress: AnswerProgress): Promise<Answer> {
  const encoding = body.contentEncoding?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== '')
    return unread(`its answer is compressed (${shown(encoding)}), though identity was asked for`)
  const form = formOf(body.contentType)
  if (form === null)
    return unread(
      `its answer is ${shown(body.contentType ?? '')}; JSON, NDJSON, text/event-stream or plain text is taken`,
    )
  const decoder = decoderOf(body.contentType)
  if (decoder === null) return unread('the charset of its answer is not known')
  if (form === 'ndjson' || form === 'sse')
    return readStream(
      body.chunks,
      decoder,
      form === 'sse' ? createSseReader() : createNdjsonReader(),
      progress,
    )
  return readWhole(body.chunks, decoder, form, progress)
}

/** Null: no answer has such a type. */
function formOf(contentType: string | null): Form | null {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === '') return 'unsaid'
  if (/^application\/(x-ndjson|ndjson|jsonl|x-jsonlines|jsonlines|json-seq)$/.test(type)) return 'ndjson'
  if (type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return 'json'
  if (type === 'text/event-stream') return 'sse'
  if (type === 'text/html') return 'page'
  return type === 'text/plain' || type === 'text/markdown' ? 'text' : null
}

function decoderOf(contentType: string | null): TextDecoder | null {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w.:-]{1,40})"?/i.exec(contentType ?? '') ?? []
  try {
    return new TextDecoder(charset)
  } catch {
    return null
  }
}

async function readStream(
  chunks: AsyncIterable<Uint8Array>,
  decoder: TextDecoder,
  reader: EventReader,
  progress: AnswerProgress,
): Promise<Answer> {
  let text = ''
  let end: Answer | null = null
  // A text, even an empty one, proves that the form is understood. An end alone proves nothing.
  let hasText = false
  let unknown = false
  const whole = () =>
    unknown && !hasText ? unread('its stream holds no text in a form that is known here') : answerOf(text)
  const take = (events: readonly AnswerEvent[]) => {
    const before = text.length
    let status: string | null = null
    for (const event of events) {
      if (end) break
      if (event.kind === 'unknown') unknown = true
      else if (event.kind === 'chunk') {
        hasText = true
        text += event.text
      } else if (event.kind === 'status') status = event.text
      else if (event.kind === 'done') end = whole()
      else if (event.kind === 'problem') end = unread(event.problem, text)
      else end = { ...failed(event.message, text), ...defined({ code: event.code }) }
    }
    if (text.length > MAX_ANSWER_CHARS) end = tooLong(text.slice(0, MAX_ANSWER_CHARS))
    if (end) return
    // Lines that arrive together are reported together, as one sign of life.
    if (status !== null) progress.status(status)
    if (text.length > before) progress.partial(text)
  }
  const broken = await eachChunk(chunks, (bytes) => {
    take(reader.feed(decoder.decode(bytes, { stream: true })))
    return end !== null
  })
  if (broken === 'too long') return end ?? tooLong(text)
  if (broken === 'cut') return end ?? { kind: 'cut', detail: 'its answer broke off', text }
  if (!end) take([...reader.feed(decoder.decode()), ...reader.end()])
  return end ?? whole()
}

async function readWhole(
  chunks: AsyncIterable<Uint8Array>,
  decoder: TextDecoder,
  form: Form,
  progress: AnswerProgress,
): Promise<Answer> {
  let body = ''
  const broken = await eachChunk(chunks, (bytes) => {
    body += decoder.decode(bytes, { stream: true })
    if (form === 'text' && body.length <= MAX_ANSWER_CHARS) progress.partial(body)
    return form === 'text' && body.length > MAX_ANSWER_CHARS
  })
  body += decoder.decode()
  // Half of a JSON document or of a page is of no use to a person.
  const said = form === 'text' ? body : ''
  if (broken === 'too long' || said.length > MAX_ANSWER_CHARS) return tooLong(said.slice(0, MAX_ANSWER_CHARS))
  if (broken === 'cut') return { kind: 'cut', detail: 'its answer broke off', text: said }
  switch (form) {
    case 'json':
      return jsonAnswer(body)
    case 'unsaid':
      return /^\s*[[{"]/.test(body) ? jsonAnswer(body) : answerOf(body)
    case 'page':
      // Frameworks label every string as HTML. A real page is a sign-in or an error of a proxy.
      return /<[a-z!/]/i.test(body)
        ? unread('its answer is an HTML page; JSON or plain text is taken')
        : answerOf(body)
    default:
      return answerOf(body)
  }
}

/** Resolves with how the body ended, unless it ended by itself or `take` had enough. */
async function eachChunk(
  chunks: AsyncIterable<Uint8Array>,
  take: (bytes: Uint8Array) => boolean,
): Promise<'too long' | 'cut' | null> {
  let size = 0
  try {
    for await (const bytes of chunks) {
      size += bytes.byteLength
      if (size > MAX_ANSWER_BYTES) return 'too long'
      if (take(bytes)) return null
    }
    return null
  } catch {
    return 'cut'
  }
}

function jsonAnswer(body: string): Answer {
  if (body.trim() === '') return answerOf('')
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return linesAnswer(body) ?? unread('its answer says that it is JSON, and is not')
  }
  const read = readMessages(value)
  if ('problem' in read) return unread(`its answer cannot be read: ${read.problem}${atOnce(value)}`)
  if ('error' in read) return { ...failed(read.error), ...defined({ code: read.code }) }
  if (read.texts.some((text) => text.length > MAX_ANSWER_CHARS)) return tooLong('')
  return { kind: 'answer', ...read }
}

/** A stream with a JSON content type, as n8n sends it. */
function linesAnswer(body: string): Answer | null {
  const lines = createNdjsonReader()
  const events = [...lines.feed(body), ...lines.end()]
  const isKnown = events.some(({ kind }) => kind === 'chunk' || kind === 'error')
  if (!isKnown && events.some(({ kind }) => kind === 'unknown')) return null
  if (events.some(({ kind }) => kind === 'problem') || !body.trimEnd().includes('\n')) return null
  const error = events.find((event) => event.kind === 'error')
  const text = events.flatMap((event) => (event.kind === 'chunk' ? [event.text] : [])).join('')
  if (error) return { ...failed(error.message, text), ...defined({ code: error.code }) }
  return text.length > MAX_ANSWER_CHARS ? tooLong(text.slice(0, MAX_ANSWER_CHARS)) : answerOf(text)
}

/** What automation services answer while the work continues. */
function atOnce(value: unknown): string {
  const receipt = typeof value === 'object' && value !== null && ('message' in value || 'status' in value)
  return receipt ? ' (a receipt? an agent that answers later needs mode: later)' : ''
}

function answerOf(text: string): Answer {
  return { kind: 'answer', texts: text.trim() === '' ? [] : [text], files: [] }
}

function failed(detail: string, text = ''): Extract<Answer, { kind: 'failed' }> {
  return { kind: 'failed', detail, text }
}

/** Not understood. The reader adds how it begins. */
function unread(detail: string, text = ''): Extract<Answer, { kind: 'failed' }> {
  return { ...failed(detail, text), unread: '' }
}

function tooLong(text: string): Answer {
  return failed(
    `its answer is over the limit (${MAX_ANSWER_BYTES} bytes, ${MAX_ANSWER_CHARS} characters of text)`,
    text,
  )
}

function shown(header: string): string {
  return header.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
}
