// What issue 16 demands of the connector llm, and of the context that every connector gets from groups.
import { requirements } from './row.ts'

export const GROUP_CONTEXT = requirements(
  'Issue 16 What a group said meanwhile',
  `
built   16 I16.context-lines    A turn of a group brings what was said there without mention since the last turn, oldest first, each line with its speaker
built   16 I16.context-place    Lines of another chat or thread, and what was said after the turn, do not belong to it
built   16 I16.context-bounds   At most 50 lines of the last 24 hours; older words are forgotten
built   16 I16.context-access   Strangers and bots are not heard, and access is asked again for every line at hand-over
built   16 I16.context-edited   An edited line comes once in its newest words, and the turn's own message is no line
built   16 I16.context-again    A turn that is offered again brings the same lines, and one that was never handed over leaves them to the next
built   16 I16.context-new      What was said before /new is not brought into the new session
built   16 I16.context-erased   Lines go with retention and when their speaker is erased, and the audit holds
built   16 I16.context-shown    Every connector shows the lines as what others said and not as instructions, in a form that no speaker can forge
`,
)
