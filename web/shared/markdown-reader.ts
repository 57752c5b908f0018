// The reader of the page, bundled with the parser's package in one file that is loaded after the page.
import MarkdownIt from 'markdown-it'
import { createMarkdownReader } from '../../src/kit/markdown/reader.ts'

export const readMarkdown = createMarkdownReader(() => MarkdownIt)
