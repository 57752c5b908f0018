// What issue 13 demands of Markdown: one linear reader, a tree, texts cut on it.
import { requirements } from './row.ts'

export const MARKDOWN = requirements(
  'Issue 13 One reader of Markdown',
  `
built   13 I13.md-tree               The kit reads CommonMark and GFM into a tree of plain data: tables, task lists, strikethrough, code with its language, links, images, breaks
built   13 I13.md-one                There is one reader: no platform and no page takes Markdown apart by itself
built   13 I13.md-linear             Hostile Markdown (nested emphasis, open fences, runs of any character, deep nesting) takes steps in proportion to its length
built   13 I13.md-large              A text past the reader's size, up to 1 MB and more, is shown as it was written, at once
built   13 I13.md-renderers          Every platform's renderer does work in proportion to the tree, whatever is in it; one without a renderer says that it shows what is written
built   13 I13.md-safe-links         A link of the tree leads to http, https or mailto; anything else is text
built   13 I13.md-page               The page renders the same tree as elements: tables and task lists too, and never HTML
built   13 I13.limit-unit            A platform's text limit names its unit, and a text is cut in that unit
built   13 I13.limit-prompts         A question and the parts of its whole fit the limit in the platform's unit
built   13 I13.split-tree            A long text is cut on its tree: fences closed and opened with their language, lists continued, tables with their header again, emphasis closed
built   13 I13.split-rendered        What counts is what the platform counts: the form that is sent, and the plain one in its place
built   13 I13.split-whole           Put together, the parts say all of the text: no word is lost, none is said twice
built   13 I13.cut-plain             Plain text that the outlet cut at a platform's limit is taken there as it is sent, and read as it was written
built   13 I13.cut-markdown          Markdown that the outlet cut at a platform's limit is taken there as it is sent, and all of it is read
built   13 I13.note-fits             A part that fills a platform's limit still fits with the note that it may be a duplicate
built   13 I13.steps-true            Steps that cannot be counted in a process, because the code ran before, are an error and never a number
built   13 I13.split-linear          Cutting takes steps in proportion to the text
built   13 I13.split-once            A text is cut once, in the outlet: an adapter sends a part as one message
`,
)
