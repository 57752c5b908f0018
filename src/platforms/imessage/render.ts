// Renders an outbound op as plain text for AppleScript, which can set no markup.
import { type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { plainForm, sentForm } from '../../kit/markdown/index.ts'

export const TEXT_LIMIT: TextLimit = { size: 10_000, unit: 'utf-16' }
const URGENT = '❗ '

/** Empty for a file. Throws `platform_rejected` for an op that AppleScript cannot perform. */
export function wordsOf(op: OutboundOp): string {
  switch (op.kind) {
    case 'text':
    case 'prompt': {
      const { text } = sentForm(op, plainForm)
      const marked = URGENT + text
      const isUrgent = op.kind === 'text' && op.urgency === 'high'
      return isUrgent && marked.length <= TEXT_LIMIT.size ? marked : text
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
