// The JSON forms of an agent's message: a text, `{text}`, a list of them, `{error}`. Reading is linear and bounded by
// the body's size.
import type { NewFile } from '../../contract/index.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A problem in the form, for the author of the agent. */
export interface FormProblem {
  readonly problem: string
}

export interface AnswerError {
  readonly error: string
  readonly code?: string
}

export interface AnswerMessages {
  readonly texts: readonly string[]
  readonly files: readonly NewFile[]
}

/** The most messages in one answer. */
const MOST_MESSAGES = 50
const MOST_FILES = 10
const ERROR_CHARS = 500
const CODE_CHARS = 100

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the text of `{text}` or of an equivalent form: n8n's AI agent (`output`), a completion of OpenAI's API, or an
 * answer of Ollama. Undefined: there is none.
 */
export function textOf(value: Fields): unknown {
  return value.text ?? value.output ?? ofCompletion(value) ?? ofOllama(value)
}

/**
 * `{choices: [{message: {content}}]}`, or a streamed piece: `{choices: [{delta: {content}}]}`. The first choice counts.
 */
function ofCompletion({ choices, object }: Fields): string | undefined {
  if (!Array.isArray(choices)) return undefined
  const pieces = (choices as readonly unknown[]).filter(isFields)
  // The last piece may contain only the usage.
  if (pieces.length === 0) return isString(object) ? '' : undefined
  const first = pieces.find(({ index = 0 }) => index === 0)
  if (!first) return ''
  const said = [first.delta, first.message].find(isFields)
  if (said === undefined) return isString(first.text) ? first.text : undefined
  return ofContent(said.content ?? said.refusal)
}

/** A text, or a list of parts, of which texts and refusals count. Undefined: the form is unknown. */
function ofContent(content: unknown): string | undefined {
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content)) return isString(content) ? content : undefined
  const texts = (content as readonly unknown[]).filter(isFields).map((part) => part.text ?? part.refusal)
  return content.length > 0 && !texts.some(isString) ? undefined : texts.filter(isString).join('')
}

/** `{message: {content}}` of `/api/chat`, `{response, done}` of `/api/generate`. */
function ofOllama({ message, response, done }: Fields): string | undefined {
  if (isFields(message) && isString(message.content)) return message.content
  return isString(response) && typeof done === 'boolean' ? response : undefined
}

const isString = (value: unknown): value is string => typeof value === 'string'

export function readMessages(value: unknown): AnswerMessages | AnswerError | FormProblem {
  if (isFields(value) && value.messages === undefined && value.error !== undefined) return readError(value)
  const written = isFields(value) && value.messages !== undefined ? value.messages : value
  const list = Array.isArray(written) ? (written as readonly unknown[]) : [written]
  if (list.length > MOST_MESSAGES) return { problem: `more than ${MOST_MESSAGES} messages` }
  const texts: string[] = []
  const files: NewFile[] = []
  for (const [at, one] of list.entries()) {
    const where = list.length > 1 ? `message ${at + 1}: ` : ''
    const read = readMessage(one)
    if ('problem' in read) return { problem: where + read.problem }
    if ('error' in read) return read
    if (read.text.trim() !== '') texts.push(read.text)
    files.push(...read.files)
  }
  if (files.length > MOST_FILES) return { problem: `more than ${MOST_FILES} files` }
  return { texts, files }
}

type Message = { readonly text: string; readonly files: readonly NewFile[] }

function readMessage(value: unknown): Message | AnswerError | FormProblem {
  if (typeof value === 'string') return { text: value, files: [] }
  if (!isFields(value)) return { problem: 'a message is a text or an object with "text"' }
  if (value.error !== undefined) return readError(value)
  const text = textOf(value)
  const files = readFiles(value.files)
  if ('problem' in files) return files
  if (text === undefined) return files.length > 0 ? { text: '', files } : { problem: NO_TEXT }
  return typeof text === 'string' ? { text, files } : { problem: '"text" must be a string' }
}

const NO_TEXT = 'there is no "text" in it'

export function readError({ error, code }: Fields): AnswerError | FormProblem {
  const said = isFields(error) ? error.message : error
  if (typeof said !== 'string' || said.trim() === '') return { problem: '"error" must be a text' }
  const named = isFields(error) ? (error.code ?? code) : code
  const known = typeof named === 'string' && named !== '' ? { code: named.slice(0, CODE_CHARS) } : {}
  return { error: said.slice(0, ERROR_CHARS), ...known }
}

/** `[{name, mime?, data}]`, the data in base64. */
function readFiles(value: unknown): readonly NewFile[] | FormProblem {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return { problem: '"files" must be a list' }
  const files: NewFile[] = []
  for (const [at, file] of (value as readonly unknown[]).entries()) {
    const where = `files[${at}]`
    if (!isFields(file)) return { problem: `${where} must be an object` }
    const { name, mime = 'application/octet-stream', data } = file
    if (typeof name !== 'string' || !isFileName(name))
      return { problem: `${where}.name must be a file's name` }
    if (typeof mime !== 'string' || !isMime(mime))
      return { problem: `${where}.mime must be a type such as image/png` }
    if (typeof data !== 'string' || !isBase64(data)) return { problem: `${where}.data must be base64` }
    files.push({ name, mime, bytes: Buffer.from(data, 'base64') })
  }
  return files
}

export function isFileName(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !/[\p{Cc}/\\]/u.test(name) && name !== '.' && name !== '..'
}

export function isMime(mime: string): boolean {
  return mime.length <= 100 && /^[\w.+-]+\/[\w.+-]+$/.test(mime)
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}
