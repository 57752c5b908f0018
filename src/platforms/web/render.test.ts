// Transcript entries in the form that the page receives.
import { expect, it } from 'vitest'
import type { OutboundOp, TranscriptEntry } from '../../contract/index.ts'
import { wireEntry } from './render.ts'

function sent(op: OutboundOp): TranscriptEntry {
  return {
    seq: 1,
    id: 'o1',
    direction: 'out',
    state: 'sent',
    reason: null,
    conversation: 'c',
    text: 'text' in op ? op.text : '',
    op,
    at: 0,
  }
}

it('[S11.format] a plain text, new or edited, says so to the page; Markdown says nothing', () => {
  const text = '**as it is**'
  expect(wireEntry(sent({ kind: 'text', text, plain: true }))).toMatchObject({ text, plain: true })
  expect(wireEntry(sent({ kind: 'edit', on: 'o0', text, plain: true }))).toMatchObject({ text, plain: true })
  expect(wireEntry(sent({ kind: 'text', text }))).not.toHaveProperty('plain')
})
