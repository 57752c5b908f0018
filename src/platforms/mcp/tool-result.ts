// Reads the answer of a server's tool, and classifies a call without one: rejected, not sent, or unknown.
import { asSwitchboardError, type ServerToolResult, SwitchboardError } from '../../contract/index.ts'
import { truncate } from '../../kit/index.ts'

/** HTTP statuses by which a server says that it did nothing. */
const NOTHING_DONE = new Set([400, 401, 403, 404, 405, 406, 408, 413, 415, 425, 429, 503])
const REFUSED_FOR_GOOD = new Set([400, 401, 403, 405, 406, 413, 415])

/** `redact` is needed because a tool's error text appears in our outbox and log. */
export function readToolResult(
  answer: { readonly content?: unknown; readonly isError?: unknown; readonly structuredContent?: unknown },
  redact: (text: string) => string,
): ServerToolResult {
  const content = Array.isArray(answer.content) ? answer.content : []
  const texts = content.flatMap((block: { type?: unknown; text?: unknown }) =>
    block?.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  )
  const { structuredContent: structured } = answer
  const isError = answer.isError === true
  const text = texts.join('\n')
  return {
    isError,
    content,
    structured:
      typeof structured === 'object' && structured !== null ? (structured as Record<string, unknown>) : null,
    text: isError ? redact(text.slice(0, MAX_KEPT_CHARS)) : text,
  }
}

const MAX_KEPT_CHARS = 65_536
const MAX_KEPT_TEXT_CHARS = 16_000

/** Limits an answer for storage and the model. A larger one becomes the beginning of its text. */
export function boundedResult(result: ServerToolResult): ServerToolResult {
  if (JSON.stringify([result.content, result.structured, result.text]).length <= MAX_KEPT_CHARS) return result
  const text = truncate(result.text, MAX_KEPT_TEXT_CHARS)
  return { isError: result.isError, content: [{ type: 'text', text }], structured: null, text }
}

/**
 * Turns a fault of a call into our error. It is recognised by shape, because the SDK is loaded only where it is used.
 */
export function callFault(thrown: unknown, what: string, redact: (text: string) => string): SwitchboardError {
  if (thrown instanceof SwitchboardError) return thrown
  const message = `${what}: ${redact(asSwitchboardError(thrown).message)}`
  const { status, code } = thrown as { readonly status?: unknown; readonly code?: unknown }
  if (typeof status === 'number') {
    if (REFUSED_FOR_GOOD.has(status))
      return new SwitchboardError('platform_rejected', `${what}: HTTP ${status}`)
    const known = NOTHING_DONE.has(status) ? 'platform_unavailable' : 'outcome_unknown'
    return new SwitchboardError(known, `${what}: HTTP ${status}`)
  }
  // A number is an error that the server answered: it received the call and declined it.
  if (typeof code === 'number') return new SwitchboardError('platform_rejected', message)
  if (code === 'NOT_CONNECTED' || code === 'CAPABILITY_NOT_SUPPORTED')
    return new SwitchboardError('platform_unavailable', message)
  return new SwitchboardError('outcome_unknown', message)
}
