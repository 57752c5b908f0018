// Hostile Markdown the whole way that an answer takes: read, cut, read again and rendered for every platform. The work grows
// with its length and not faster, and what comes out is text: no tag, attribute or address that the text did not have by right.
import { describe, expect, it } from 'vitest'
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer, TextLimit } from '../../src/contract/index.ts'
import { plainText, readMarkdown, splitMarkdown, writeMarkdown } from '../../src/kit/markdown/index.ts'
import { telegramMarkdown } from '../../src/platforms/telegram/markdown.ts'
import { TEXT_LIMIT } from '../../src/platforms/telegram/render.ts'
import { growthOf } from '../../src/testing/count-steps.ts'
import { readTelegramHtml } from '../../src/testing/emulate.ts'
import { HOSTILE_TEXTS } from '../../src/testing/hostile-markdown.ts'
import { filesOf, textOf } from '../house/source.ts'
