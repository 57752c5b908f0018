// A message that may have arrived, made to be sent again: with the note that says so.
import { DUPLICATE_NOTE, type OutboundOp } from '../../contract/index.ts'

/** The same with the note, once. Null: it cannot carry one, or must not be sent twice. */
export function labelled(op: OutboundOp): OutboundOp | null {
  switch (op.kind) {
    case 'text':
      // Its words are the platform's: it cannot carry the note.
      if (op.template || op.once || op.partial) return null
      if (op.asFile) return noteBeside(op, op.asFile)
      return { ...op, text: noted(op.text) }
    case 'prompt':
      return { ...op, text: noted(op.text) }
    case 'file':
      return { ...op, caption: noted(op.caption ?? '') }
    // Done twice they show nothing twice.
    case 'edit':
    case 'react':
      return op
    // What a tool did, only its server knows: it is never called again by guess.
    case 'call':
      return null
  }
}

/** A text that is shown as a file: nobody opens it to learn that it may be a second copy. */
function noteBeside(
  op: Extract<OutboundOp, { kind: 'text' }>,
  { name, caption }: { readonly name: string; readonly caption: string },
): OutboundOp {
  return { ...op, asFile: { name, caption: noted(caption) } }
}

function noted(text: string): string {
  return text.startsWith(DUPLICATE_NOTE) ? text : DUPLICATE_NOTE + text
}
