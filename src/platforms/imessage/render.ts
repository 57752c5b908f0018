// From an outbound op to the words that AppleScript gets: plain text, for Messages has no markup that a script could give.
import { type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { plainText, readMarkdown } from '../../kit/markdown/index.ts'

export const TEXT_LIMIT: TextLimit = { size: 10_000, unit: 'utf-16' }

/** Empty for a file. Throws `platform_rejected` for what AppleScript cannot do. */
export function wordsOf(op: OutboundOp): string {
  switch (op.kind) {
    case 'text':
    case 'prompt': {
      const text = op.kind === 'text' && op.plain ? op.text : plainText(readMarkdown(op.text))
      const urgent = op.kind === 'text' && op.urgency === 'high' ? '❗ ' : ''
      return urgent + (text.trim() === '' ? op.text : text)
    }
    case 'file':
      return ''
    case 'edit':
    case 'react':
      throw new SwitchboardError('platform_rejected', 'Messages cannot do that by AppleScript')
    case 'call':
      throw new SwitchboardError('platform_rejected', 'Messages has no tools to call')
  }
}
