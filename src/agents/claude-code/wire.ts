// The stream-json protocol of Claude Code, as far as we read it: one JSON object per line, in both directions. Unknown
// messages are ignored, and every field is checked.
import { readMessage } from '../../contract/index.ts'

export type Fields = Readonly<Record<string, unknown>>

export type ClaudeEvent =
  | {
      readonly kind: 'init'
      readonly session: string | null
      readonly version: string | null
      readonly servers: readonly Fields[]
    }
  | { readonly kind: 'receipt'; readonly uuid: string; readonly state: string }
  /** Claude Code begins to work on this message and echoes it. */
  | { readonly kind: 'replay'; readonly uuid: string }
  /** `status`: the API's HTTP status; 0: unknown. */
  | {
      readonly kind: 'retry'
      readonly waitMs: number
      readonly why: string
      readonly status: number
      readonly attempt: number
    }
  /** A new message of the model begins. */
  | { readonly kind: 'began' }
  | { readonly kind: 'delta'; readonly text: string }
  | {
      readonly kind: 'said'
      readonly blocks: readonly Fields[]
      readonly trouble: string | null
      readonly sub: boolean
    }
  | { readonly kind: 'results'; readonly blocks: readonly Fields[]; readonly sub: boolean }
  | { readonly kind: 'request'; readonly id: string; readonly request: Fields }
  | { readonly kind: 'withdrawn'; readonly id: string }
  | { readonly kind: 'response'; readonly id: string; readonly ok: boolean; readonly body: Fields }
  | { readonly kind: 'result'; readonly result: Fields }
  | { readonly kind: 'other' }

/** Returns null if the line is not a message. */
export function readEvent(line: string): ClaudeEvent | null {
  let event: Fields
  try {
    const parsed = readMessage(line)
    if (!isFields(parsed)) return null
    event = parsed
  } catch {
    return null
  }
  const session = textOf(event.session_id)
  switch (event.type) {
    case 'system':
      return systemEvent(event, session)
    case 'command_lifecycle':
      return { kind: 'receipt', uuid: textOf(event.command_uuid) ?? '', state: textOf(event.state) ?? '' }
    case 'stream_event':
      return streamEvent(event)
    case 'assistant':
      return {
        kind: 'said',
        blocks: blocksOf(event),
        trouble: textOf(event.error),
        sub: textOf(event.parent_tool_use_id) !== null,
      }
    case 'user':
      if (event.isReplay === true) return { kind: 'replay', uuid: textOf(event.uuid) ?? '' }
      return { kind: 'results', blocks: blocksOf(event), sub: textOf(event.parent_tool_use_id) !== null }
    case 'control_request':
      return {
        kind: 'request',
        id: textOf(event.request_id) ?? '',
        request: isFields(event.request) ? event.request : {},
      }
    case 'control_cancel_request':
      return { kind: 'withdrawn', id: textOf(event.request_id) ?? '' }
    case 'control_response': {
      const response = isFields(event.response) ? event.response : {}
      const body = isFields(response.response) ? response.response : {}
      return {
        kind: 'response',
        id: textOf(response.request_id) ?? '',
        ok: response.subtype === 'success',
        body,
      }
    }
    case 'result':
      return { kind: 'result', result: event }
    default:
      return { kind: 'other' }
  }
}

function systemEvent(event: Fields, session: string | null): ClaudeEvent {
  if (event.subtype === 'init')
    return {
      kind: 'init',
      session,
      version: textOf(event.claude_code_version),
      servers: Array.isArray(event.mcp_servers) ? event.mcp_servers.filter(isFields) : [],
    }
  if (event.subtype === 'api_retry')
    return {
      kind: 'retry',
      waitMs: numberOf(event.retry_delay_ms),
      why: textOf(event.error) ?? String(event.error_status ?? ''),
      status: numberOf(event.error_status),
      attempt: numberOf(event.attempt),
    }
  return { kind: 'other' }
}

function streamEvent({ event, parent_tool_use_id: parent }: Fields): ClaudeEvent {
  if (!isFields(event) || textOf(parent) !== null) return { kind: 'other' }
  if (event.type === 'message_start') return { kind: 'began' }
  const delta = event.type === 'content_block_delta' && isFields(event.delta) ? event.delta : null
  const text = delta?.type === 'text_delta' ? textOf(delta.text) : null
  return text === null ? { kind: 'other' } : { kind: 'delta', text }
}

function blocksOf({ message }: Fields): readonly Fields[] {
  if (!isFields(message)) return []
  const { content } = message
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isFields) : []
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** Returns the joined texts of the blocks. */
export function textIn(blocks: readonly Fields[]): string {
  return blocks
    .filter(({ type }) => type === 'text')
    .map(({ text }) => textOf(text) ?? '')
    .join('')
}

// ---- Lines that we write ------------------------------------------------------------------------------------

export interface Picture {
  readonly mime: string
  readonly base64: string
}

/** The uuid is the idempotency key. Claude Code does not run a repeated one again. */
export function userLine(uuid: string, text: string, pictures: readonly Picture[] = []): string {
  const images = pictures.map(({ mime, base64 }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mime, data: base64 },
  }))
  const content = images.length === 0 ? text : [{ type: 'text', text }, ...images]
  return line({ type: 'user', uuid, message: { role: 'user', content } })
}

export function requestLine(id: string, request: Fields): string {
  return line({ type: 'control_request', request_id: id, request })
}

export function answerLine(id: string, response: Fields): string {
  return line({ type: 'control_response', response: { subtype: 'success', request_id: id, response } })
}

export function refusalLine(id: string, error: string): string {
  return line({ type: 'control_response', response: { subtype: 'error', request_id: id, error } })
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
