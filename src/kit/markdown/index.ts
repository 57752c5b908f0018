// Markdown, read once for everybody: the reader, the tree as plain text, and the splitter of the outlet.
export { indented, inlineText, isBare, itemMark, plainText } from './plain-text.ts'
export { MOST_READ, readMarkdown } from './read.ts'
export { safeHref } from './safe-href.ts'
export { splitMarkdown } from './split.ts'
export { textTable } from './text-table.ts'
export { writeMarkdown } from './write.ts'
