// Markdown: the reader, the tree as plain text and as mrkdwn, and the splitter of the outlet.
export { chatBlocks } from './chat-blocks.ts'
export { cutToFit } from './cut-to-fit.ts'
export { mrkdwn } from './mrkdwn.ts'
export {
  indented,
  inlineText,
  inMarks,
  isBare,
  listText,
  plainForm,
  plainText,
  stackBlocks,
} from './plain-text.ts'
export { readMarkdown } from './read.ts'
export { MOST_READ } from './reader.ts'
export { safeHref } from './safe-href.ts'
export { type Said, sentForm, wholeForm } from './sent-form.ts'
export { splitText } from './split.ts'
export { textTable } from './text-table.ts'
export { writeMarkdown } from './write.ts'
