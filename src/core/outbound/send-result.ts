// What a caller is told of a send: sent means that the platform confirmed it, everything else says what it is.
import { REASONS, type SendResult, type SendRow, type SwitchboardError } from '../../contract/index.ts'

/** The result of a message in one or several parts. */
export function resultOf(rows: readonly (SendRow | null)[]): SendResult {
  const known = rows.filter((row) => row !== null)
  const base = { platform_ids: known.flatMap((row) => row.platformIds), outbox_id: known[0]?.id ?? null }
  const broken = known.find((row) => row.state === 'failed' || row.state === 'unknown')
  if (broken) {
    const code = broken.state === 'unknown' ? 'outcome_unknown' : 'execution_failed'
    const error = `Adapter send failed: ${broken.detail ?? whyOf(broken)}`
    return { ok: false, status: 'failed', ...base, outbox_id: broken.id, code, error }
  }
  const waiting = known.find((row) => row.state === 'queued' || row.state === 'sending')
  if (waiting) return { ok: true, status: 'queued', ...base, outbox_id: waiting.id, code: null, error: null }
  const repeated = known.length > 0 && known.every((row) => row.state === 'deduplicated')
  return { ok: true, status: repeated ? 'deduplicated' : 'sent', ...base, code: null, error: null }
}

export function whyOf(row: Pick<SendRow, 'reason' | 'state'>): string {
  return row.reason === null ? row.state : REASONS[row.reason].text
}

export function refusedResult(error: SwitchboardError): SendResult {
  return {
    ok: false,
    status: 'failed',
    platform_ids: [],
    outbox_id: null,
    code: error.code,
    error: error.message,
  }
}

/** The seed's words where it has some. */
export function sendMessageText(result: SendResult, target: string): string {
  switch (result.status) {
    case 'sent':
      return `Message sent to ${target}`
    case 'deduplicated':
      return `Message to ${target} was not sent again: the same text went there less than 30 seconds ago (deduplicated)`
    case 'queued':
      return `Message to ${target} is queued: not confirmed yet, still trying (${result.outbox_id})`
    case 'failed':
      return result.error ?? 'Adapter send failed'
  }
}
