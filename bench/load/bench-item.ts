// A message as the webhook of the bench receives it.
import { createHash } from 'node:crypto'
import type { ReceiveItem } from '../../src/contract/index.ts'

export function benchItem(message: {
  readonly conversation: string
  readonly messageId: string
  readonly text: string
}): ReceiveItem {
  const { conversation, messageId, text } = message
  const body = { kind: 'message', text, meta: { path: '/hooks/bench', method: 'POST' } } as const
  return {
    turn: {
      at: { integration: 'bench', conversation },
      platform: 'webhook',
      messageId,
      editVersion: 0,
      source: 'webhook:bench',
      agent: 'bench',
      sender: 'webhook',
      body,
      bodyDigest: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
    },
    state: 'queued',
    reason: null,
    keepRow: true,
    effects: [],
  }
}
