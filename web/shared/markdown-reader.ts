// The reader as the page has it: with the parser's package in one file, which is loaded after the page.
import MarkdownIt from 'markdown-it'
import { createMarkdownReader } from '../../src/kit/markdown/reader.ts'

export const readMarkdown = createMarkdownReader(() => MarkdownIt)
