// Which message an answer quotes: the one it answers, as the integration's `reply_to_mode` says. `first` quotes in
// groups, where other messages come in between. `all` quotes everywhere, in every part.
import { integrationById, type Settings, type TurnRow } from '../../contract/index.ts'
import type { Saying } from './compose.ts'

export function quoteOf(
  settings: Settings,
  { integration, messageId, body }: TurnRow,
): Pick<Saying, 'replyTo' | 'replyToMode'> {
  const replyToMode = integrationById(settings, integration)?.replyToMode ?? 'first'
  const isSaid = body?.kind === 'message' || body?.kind === 'edit'
  const quotes = replyToMode === 'all' || (replyToMode === 'first' && body?.chat === 'group')
  return isSaid && quotes ? { replyTo: messageId, replyToMode } : {}
}
