// A message that may have arrived, made to be sent again: with the note that says so, where it can carry one.
import { DUPLICATE_NOTE, type OutboundOp } from '../../contract/index.ts'

/** Null: it has the note already, or cannot carry one. A prompt too: a question that never arrived is never answered. */
export function onceMore(op: OutboundOp, attempts: number): OutboundOp | null {
  switch (op.kind) {
    case 'text':
      // Its words are the platform's: it cannot carry the note.
      if (op.template) return null
      if (op.asFile) return noteBeside(op, op.asFile)
      return op.text.startsWith(DUPLICATE_NOTE) ? null : { ...op, text: DUPLICATE_NOTE + op.text }
    case 'prompt':
      return op.text.startsWith(DUPLICATE_NOTE) ? null : { ...op, text: DUPLICATE_NOTE + op.text }
    case 'file':
      return op.caption?.startsWith(DUPLICATE_NOTE)
        ? null
        : { ...op, caption: DUPLICATE_NOTE + (op.caption ?? '') }
    // Done twice they show nothing twice.
    case 'edit':
    case 'react':
      return attempts > 1 ? null : op
    // What a tool did, only its server knows: it is never called again by guess.
    case 'call':
      return null
  }
}

/** A text that is shown as a file: nobody opens it to learn that it may be a second copy. */
function noteBeside(
  op: Extract<OutboundOp, { kind: 'text' }>,
  { name, caption }: { readonly name: string; readonly caption: string },
): OutboundOp | null {
  if (caption.startsWith(DUPLICATE_NOTE)) return null
  return { ...op, asFile: { name, caption: DUPLICATE_NOTE + caption } }
}
