// The wire format of the Chorus channel protocol: deliveries and callback events. Parsing is tolerant, and errors name
// the wrong fields. Unknown fields and types are accepted. `mcp` may be absent, one object, or an array of named ones.

export interface ChorusMcpServer {
  readonly name?: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ChorusAttachment {
  readonly id?: string
  readonly name?: string
  readonly mime?: string
  readonly size?: number
  readonly url?: string
}

export interface ChorusDelivery {
  readonly channel: {
    readonly id: string
    readonly name?: string
    readonly service?: string
    readonly context?: string
  }
  readonly message: {
    readonly id: string
    readonly sender: string
    readonly content: string
    /** An extension that others ignore: the delivery may be a repeat. */
    readonly redelivery?: true
    /**
     * An extension: messages around it that were not addressed to the agent. They are information, not instructions.
     */
    readonly context?: readonly { readonly sender: string; readonly content: string; readonly ts: string }[]
    /** An extension that others ignore. */
    readonly attachments?: readonly ChorusAttachment[]
  }
  readonly callback: string
  readonly mcp?: ChorusMcpServer | readonly ChorusMcpServer[]
}

export type ChorusEvent =
  | { readonly type: 'message'; readonly content: string; readonly event_id?: string }
  | {
      readonly type: 'tool_call'
      readonly name: string
      readonly args?: unknown
      readonly id?: string
      readonly event_id?: string
    }
  | {
      readonly type: 'tool_result'
      readonly id?: string
      readonly content?: unknown
      readonly event_id?: string
    }
  | { readonly type: 'status'; readonly status: string; readonly event_id?: string }
  | { readonly type: 'error'; readonly message: string; readonly code?: string; readonly event_id?: string }
  | { readonly type: 'lifecycle'; readonly status: string; readonly event_id?: string }

type Fields = Readonly<Record<string, unknown>>

export type ReadDelivery =
  | { readonly ok: true; readonly delivery: ChorusDelivery }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Returns the delivery, or the names of all missing or wrong fields. `at` is the prefix of the names. */
export function readDelivery(value: unknown, at = ''): ReadDelivery {
  const problems: string[] = []
  if (!isFields(value)) return { ok: false, problems: [`${at || 'the body'} must be a JSON object`] }
  const channel = part(value, 'channel', at, problems)
  const message = part(value, 'message', at, problems)
  if (channel) {
    identifier(channel, 'id', `${at}channel.`, problems)
    for (const name of ['name', 'service', 'context']) optional(channel, name, `${at}channel.`, problems)
  }
  if (message) {
    identifier(message, 'id', `${at}message.`, problems)
    identifier(message, 'sender', `${at}message.`, problems)
    required(message, 'content', `${at}message.`, problems, { filled: false })
  }
  required(value, 'callback', at, problems, { filled: true })
  if (typeof value.callback === 'string' && value.callback !== '' && !isHttpUrl(value.callback)) {
    problems.push(`${at}callback must be an http or https URL`)
  }
  problems.push(...mcpProblems(value.mcp, `${at}mcp`))
  return problems.length === 0
    ? { ok: true, delivery: value as unknown as ChorusDelivery }
    : { ok: false, problems }
}

/** Returns every shape of `mcp` as a list. A single one may have no name. */
export function mcpServers(mcp: ChorusDelivery['mcp']): readonly ChorusMcpServer[] {
  if (mcp === undefined || mcp === null) return []
  return Array.isArray(mcp) ? mcp : [mcp as ChorusMcpServer]
}

export type ReadEvents =
  | { readonly ok: true; readonly events: readonly Fields[] }
  | { readonly ok: false; readonly problem: string }

/** Reads the events of one POST: a JSON object, an array of them, or NDJSON. One bad event refuses all. */
export function readEvents(body: Uint8Array): ReadEvents {
  const values = jsonValues(body)
  if (values === null) return { ok: false, problem: 'the body is not JSON' }
  if (values.length === 0) return { ok: false, problem: 'the body is empty' }
  for (const [index, value] of values.entries()) {
    const at = values.length === 1 ? '' : `event ${index + 1}: `
    const problem = isFields(value) ? eventProblem(value) : 'an event must be a JSON object'
    if (problem !== null) return { ok: false, problem: at + problem }
  }
  return { ok: true, events: values as readonly Fields[] }
}

/** Returns the event if its type is known. Null: a later revision may know the type. */
export function knownEvent(event: Fields): ChorusEvent | null {
  return TEXT_OF.has(String(event.type)) ? (event as unknown as ChorusEvent) : null
}

/** The text field that each known type requires; null: none. */
const TEXT_OF: ReadonlyMap<string, string | null> = new Map([
  ['message', 'content'],
  ['tool_call', 'name'],
  ['tool_result', null],
  ['status', 'status'],
  ['error', 'message'],
  ['lifecycle', 'status'],
])

function eventProblem(event: Fields): string | null {
  if (event.type === undefined) return 'type is required'
  if (typeof event.type !== 'string') return 'type must be a string'
  if (event.event_id !== undefined && typeof event.event_id !== 'string') return 'event_id must be a string'
  const field = TEXT_OF.get(event.type) ?? null
  if (field === null) return null
  if (event[field] === undefined) return `${field} is required in an event of type ${event.type}`
  return typeof event[field] === 'string' ? null : `${field} must be a string`
}

/**
 * Returns the body as JSON values; null if it is not JSON. A batch is an array, and a stream has one value per line.
 */
export function jsonValues(body: Uint8Array): readonly unknown[] | null {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return null
  }
  const whole = parse(text)
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole]
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const values = lines.map(parse)
  return lines.length < 2 || values.includes(undefined) ? null : values
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function part(of: Fields, name: string, at: string, problems: string[]): Fields | null {
  const value = of[name]
  if (isFields(value)) return value
  problems.push(value === undefined ? `${at}${name} is required` : `${at}${name} must be an object`)
  return null
}

function required(of: Fields, name: string, at: string, problems: string[], { filled }: { filled: boolean }) {
  const value = of[name]
  if (value === undefined || value === null) problems.push(`${at}${name} is required`)
  else if (typeof value !== 'string') problems.push(`${at}${name} must be a string`)
  else if (filled && value === '') problems.push(`${at}${name} must not be empty`)
}

/** The longest key that the index of every database accepts. */
const MAX_ID_BYTES = 512

function identifier(of: Fields, name: string, at: string, problems: string[]) {
  required(of, name, at, problems, { filled: true })
  const value = of[name]
  if (typeof value === 'string' && Buffer.byteLength(value) > MAX_ID_BYTES) {
    problems.push(`${at}${name} must not be longer than ${MAX_ID_BYTES} bytes`)
  }
}

function optional(of: Fields, name: string, at: string, problems: string[]) {
  const value = of[name]
  if (value !== undefined && value !== null && typeof value !== 'string') {
    problems.push(`${at}${name} must be a string`)
  }
}

function mcpProblems(mcp: unknown, at: string): readonly string[] {
  if (mcp === undefined || mcp === null) return []
  if (Array.isArray(mcp)) return mcp.flatMap((one, index) => serverProblems(one, `${at}[${index}]`))
  return isFields(mcp) ? serverProblems(mcp, at) : [`${at} must be an object or an array`]
}

function serverProblems(server: unknown, at: string): readonly string[] {
  if (!isFields(server)) return [`${at} must be an object`]
  const problems: string[] = []
  required(server, 'url', `${at}.`, problems, { filled: true })
  if (typeof server.url === 'string' && server.url !== '' && !isHttpUrl(server.url)) {
    problems.push(`${at}.url must be an http or https URL`)
  }
  optional(server, 'name', `${at}.`, problems)
  const { headers } = server
  const plain = isFields(headers) && Object.values(headers).every((value) => typeof value === 'string')
  if (headers !== undefined && headers !== null && !plain)
    problems.push(`${at}.headers must map names to strings`)
  return problems
}

function isHttpUrl(text: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text).protocol)
  } catch {
    return false
  }
}
