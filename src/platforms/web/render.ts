// The page's JSON: transcript entries, replies, and the frames of the event stream.

import {
  type Attachment,
  asSwitchboardError,
  type Choice,
  defined,
  ERROR_TABLE,
  type ErrorCode,
  type HttpReply,
  type Received,
  type TranscriptEntry,
} from '../../contract/index.ts'
import { reasonIn, wordsIn } from '../../words/index.ts'
import { isFileId, TAP_PREFIX } from './parse.ts'

/** One message for the page. `id` identifies it, so seeing it twice does no harm. */
export interface WireEntry {
  readonly id: string
  readonly dir: 'in' | 'out'
  readonly at: number
  readonly kind: 'text' | 'prompt' | 'edit' | 'file'
  readonly text: string
  /** Shown as it is written, not as Markdown. */
  readonly plain?: true
  /** For own messages: their state. */
  readonly state?: string
  readonly reason?: string
  /** The reason in words. */
  readonly reasonText?: string
  readonly choices?: readonly Choice[]
  readonly approval?: string
  readonly ask?: { readonly toolName: string; readonly description: string; readonly input: string }
  /** When it is denied without a decision. */
  readonly expiresAt?: number
  /** The message that an edit replaces. */
  readonly on?: string
  readonly urgency?: string
  readonly replyTo?: string
  readonly attachments?: readonly WireFile[]
}

export interface WireFile {
  readonly id: string
  readonly kind: Attachment['kind']
  readonly name: string
  readonly mime: string
  readonly size: number
}

// A queued send may be due much later (a reminder), and a failed one never arrived. Neither is shown.
const SHOWN_SENDS: readonly string[] = ['sending', 'sent', 'unknown']

/** The entry for the page; null if it is not shown (taps, and sends that are not due). */
export function wireEntry(entry: TranscriptEntry): WireEntry | null {
  return entry.direction === 'in' ? wireIn(entry) : SHOWN_SENDS.includes(entry.state) ? wireOut(entry) : null
}

/** Whether a send may still come, so that a resuming window must ask for it again. */
export function isPendingSend(entry: TranscriptEntry): boolean {
  return entry.direction === 'out' && entry.state === 'queued'
}

function wireIn(entry: TranscriptEntry): WireEntry | null {
  const id = entry.platformMessageId ?? entry.id
  if (id.startsWith(TAP_PREFIX)) return null
  return {
    id,
    dir: 'in',
    at: entry.at,
    kind: 'text',
    text: entry.text,
    ...wireState(entry.state, entry.reason),
    ...(entry.attachments === undefined || entry.attachments.length === 0
      ? {}
      : { attachments: entry.attachments.map(wireFile) }),
    ...defined({ replyTo: entry.replyTo }),
  }
}

function wireOut(entry: TranscriptEntry): WireEntry | null {
  const base = { id: entry.id, dir: 'out', at: entry.at, state: entry.state } as const
  const op = entry.op
  if (op === undefined) return { ...base, kind: 'text', text: entry.text }
  switch (op.kind) {
    case 'text':
      return {
        ...base,
        kind: 'text',
        text: op.text,
        ...(op.plain ? { plain: true } : {}),
        ...defined({ choices: op.choices }),
        ...(op.urgency === undefined || op.urgency === 'normal' ? {} : { urgency: op.urgency }),
        ...defined({ replyTo: op.replyTo }),
      }
    case 'prompt':
      return {
        ...base,
        kind: 'prompt',
        text: op.text,
        approval: op.approval,
        choices: op.choices,
        ...defined({ ask: op.ask, expiresAt: op.expiresAt }),
      }
    case 'edit':
      return { ...base, kind: 'edit', on: op.on, text: op.text, ...(op.plain ? { plain: true } : {}) }
    case 'file':
      return {
        ...base,
        kind: 'file',
        text: op.caption ?? '',
        ...(isFileId(op.ref)
          ? { attachments: [{ id: op.ref, kind: fileKind(op.mime), name: op.name, mime: op.mime, size: 0 }] }
          : {}),
      }
    case 'react':
    case 'call':
      return null
  }
}

/** The state with its reason in words. */
export function wireState(
  state: string,
  reason: string | null,
): { readonly state: string; readonly reason?: string; readonly reasonText?: string } {
  if (reason === null) return { state }
  return { state, reason, reasonText: reasonIn(wordsIn(), reason) ?? reason }
}

export function wireFile(file: Attachment): WireFile {
  return {
    id: file.id,
    kind: file.kind,
    name: file.name ?? 'file',
    mime: file.mime ?? 'application/octet-stream',
    size: file.size ?? 0,
  }
}

export function fileKind(mime: string): Attachment['kind'] {
  const type = mime.split('/')[0]
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}

/** The answer to a message or a tap: its state, also in words. */
export function receivedReply(received: Received): HttpReply {
  const busy =
    received.state === 'refused' && (received.reason === 'rate_limited' || received.reason === 'flood')
  const body = {
    id: received.id,
    ...wireState(received.state, received.reason),
    duplicate: received.duplicate,
    ...defined({ answer: received.answer, withdrawn: received.withdrawn }),
  }
  if (!busy) return jsonReply(200, body)
  const seconds = Math.max(1, Math.ceil((received.retryAfterMs ?? 1_000) / 1_000))
  return jsonReply(
    429,
    { ...body, error: { code: 'rate_limited', message: body.reasonText ?? wordsIn().platforms.web.tooMany } },
    { 'retry-after': String(seconds) },
  )
}

export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

export function errorReply(code: ErrorCode, message: string, hint?: string): HttpReply {
  return jsonReply(ERROR_TABLE[code].httpStatus, {
    error: { code, message, ...defined({ hint }) },
  })
}

/** Turns a thrown error into a reply. An internal error reveals nothing. */
export function thrownReply(thrown: unknown): HttpReply {
  const error = asSwitchboardError(thrown)
  if (error.code === 'internal') return errorReply('internal', wordsIn().platforms.web.internal)
  const reply = errorReply(error.code, error.message, error.hint)
  if (error.retryAfterMs === undefined) return reply
  const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1_000))
  return { ...reply, headers: { ...reply.headers, 'retry-after': String(seconds) } }
}

/** One frame of the stream. JSON has no raw line breaks, so nothing in it can forge a frame. */
export function frame(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
