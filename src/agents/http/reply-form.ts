// Reads a post to `reply_url` in any form that programs send: JSON, NDJSON, plain text, or a form. Throws
// `input_invalid` naming the field, and `unsupported_media` for other types.
import { TextDecoder } from 'node:util'
import { defined, type NewFile, type RawRequest, SwitchboardError } from '../../contract/index.ts'
import { inputText } from '../../kit/index.ts'
import { type Fields, isFields, isFileName, isMime, readMessages, textOf } from './message-form.ts'
import { MAX_ANSWER_CHARS, readAnswer } from './read-answer.ts'

export interface ReplyAsk {
  readonly toolName: string
  readonly description: string
  readonly input: string
  readonly requestId?: string
}

export interface Reply {
  readonly status: string | null
  readonly ask: ReplyAsk | null
  /** Null: there is no message. */
  readonly say: {
    readonly texts: readonly string[]
    readonly files: readonly NewFile[]
    readonly final: boolean
  } | null
  readonly failure: { readonly detail: string; readonly code?: string } | null
}

const NOTHING: Reply = { status: null, ask: null, say: null, failure: null }
const MOST_NAME = 200
const MOST_DESCRIPTION = 2_000
const MOST_STATUS = 2_000
const MOST_INPUT = 100_000

export async function readReply(request: RawRequest): Promise<Reply> {
  const type = typeOf(request)
  if (type === 'multipart/form-data') return ofFields(await multipart(request))
  const text = utf8(request.body)
  if (type === 'application/x-www-form-urlencoded' && !/^\s*[[{]/.test(text))
    return ofFields(Object.fromEntries(new URLSearchParams(text)))
  // Some programs send no content type, and curl labels JSON as a form.
  const guessed = type === '' || type === 'application/x-www-form-urlencoded'
  if (type === 'application/json' || (guessed && /^\s*[[{"]/.test(text))) return ofValue(parse(text))
  return ofAnswer(request, guessed ? 'text/plain' : type)
}

/** Lines, events and plain text are read as in a response. */
async function ofAnswer(request: RawRequest, contentType: string): Promise<Reply> {
  const chunks = (async function* () {
    yield request.body
  })()
  const quiet = { partial: () => undefined, status: () => undefined }
  const answer = await readAnswer({ contentType, contentEncoding: null, chunks }, quiet)
  if (answer.kind === 'answer') return { ...NOTHING, say: said({ ...answer, final: true }) }
  if (/; JSON, NDJSON/.test(answer.detail))
    throw new SwitchboardError(
      'unsupported_media',
      'JSON, NDJSON, text/event-stream, plain text or a form is taken',
    )
  throw invalid(answer.detail)
}

function ofValue(value: unknown): Reply {
  return isFields(value) ? ofFields(value) : { ...NOTHING, say: messages(value, true) }
}

function ofFields(fields: Fields): Reply {
  const { status = null, ask = null, error, final = true } = fields
  if (status !== null && typeof status !== 'string') throw invalid('status must be a string')
  if (status !== null && status.length > MOST_STATUS)
    throw new SwitchboardError('too_large', `status is over ${MOST_STATUS} characters: it is one line`)
  if (final !== true && final !== false && final !== 'true' && final !== 'false')
    throw invalid('final must be true or false')
  const speaks = textOf(fields) !== undefined || fields.messages !== undefined || hasFiles(fields)
  if (ask !== null && speaks) throw invalid('ask and text exclude each other: ask first, then answer')
  const failure = error === undefined || error === null ? null : readFailure(fields)
  if (failure !== null && speaks) throw invalid('error and text exclude each other')
  if (status === null && ask === null && !speaks && failure === null)
    throw invalid('text, messages, files, status, ask or error is needed')
  return {
    status,
    ask: ask === null ? null : readAsk(ask),
    say: speaks ? messages(fields, String(final) === 'true') : null,
    failure,
  }
}

function hasFiles({ files }: Fields): boolean {
  return Array.isArray(files) && files.length > 0
}

function messages(value: unknown, final: boolean): Reply['say'] {
  const read = readMessages(value)
  if ('problem' in read) throw invalid(read.problem)
  if ('error' in read) throw invalid('error stands alone')
  return said({ ...read, final })
}

function said(say: NonNullable<Reply['say']>): Reply['say'] {
  if (say.texts.some((text) => text.length > MAX_ANSWER_CHARS))
    throw new SwitchboardError('too_large', `a message is over ${MAX_ANSWER_CHARS} characters`)
  // Only an end may come without text.
  if (say.texts.length === 0 && say.files.length === 0 && !say.final) throw invalid('text must not be empty')
  return say
}

function readFailure(fields: Fields): NonNullable<Reply['failure']> {
  const read = readMessages({ error: fields.error, code: fields.code })
  if (!('error' in read)) throw invalid('error must be a text')
  return { detail: read.error, ...defined({ code: read.code }) }
}

/** `{tool, description?, input?, id?}`. The input is a text, or JSON that is shown as JSON. */
function readAsk(value: unknown): ReplyAsk {
  const ask = typeof value === 'string' ? parsed(value) : value
  if (!isFields(ask)) throw invalid('ask must be an object with "tool"')
  const { tool, description = '', input = '', id } = ask
  if (typeof tool !== 'string' || tool.trim() === '') throw invalid('ask.tool is required')
  if (typeof description !== 'string') throw invalid('ask.description must be a string')
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > MOST_NAME))
    throw invalid('ask.id must be a string')
  const shown = typeof input === 'string' ? input : inputText(input, MOST_INPUT)
  // An approver can only allow what is shown whole.
  if (shown === null || shown.length > MOST_INPUT)
    throw new SwitchboardError('too_large', `ask.input is over ${MOST_INPUT} characters, or nested too deep`)
  if (tool.length > MOST_NAME) throw invalid(`ask.tool is over ${MOST_NAME} characters`)
  if (description.length > MOST_DESCRIPTION)
    throw invalid(`ask.description is over ${MOST_DESCRIPTION} characters`)
  return { toolName: tool, description, input: shown, ...defined({ requestId: id }) }
}

/** Files of a form, and its fields by name. */
async function multipart({ body, headers }: RawRequest): Promise<Fields> {
  const contentType = String(headers['content-type'])
  let form: FormData
  try {
    form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw invalid('the form cannot be read')
  }
  const fields: Record<string, unknown> = {}
  const files: unknown[] = []
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value
    else {
      const fileName = value.name.split(/[/\\]/).at(-1) ?? ''
      const mime = value.type.split(';', 1)[0] ?? ''
      if (!isFileName(fileName)) throw invalid('a file of the form has no name')
      const data = Buffer.from(await value.arrayBuffer()).toString('base64')
      files.push({ name: fileName, ...(isMime(mime) ? { mime } : {}), data })
    }
  }
  return files.length > 0 ? { ...fields, files } : fields
}

function typeOf({ headers }: RawRequest): string {
  const written = headers['content-type']
  return typeof written === 'string' ? (written.split(';', 1)[0]?.trim().toLowerCase() ?? '') : ''
}

function utf8(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw invalid('the body is not UTF-8')
  }
}

function parse(text: string): unknown {
  const value = parsed(text)
  if (value === undefined) throw invalid('the body is not JSON')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function invalid(problem: string): SwitchboardError {
  return new SwitchboardError('input_invalid', problem)
}
