// A text is parsed once per send: the outlet cuts it and the adapter renders it from one tree.
import { createRequire } from 'node:module'
import type MarkdownIt from 'markdown-it'
import { afterEach, expect, it, vi } from 'vitest'
import { cutToFit, mrkdwn, plainForm, sentForm, splitText } from './index.ts'
import { rememberTrees } from './remember-trees.ts'

const parser = createRequire(import.meta.url)('markdown-it') as typeof MarkdownIt
afterEach(() => void vi.restoreAllMocks())

/** Counts the texts that reach the parser's package. */
const countParsed = () => {
  const parse = vi.spyOn(parser.prototype, 'parse')
  return () => parse.mock.calls.map(([text]) => text)
}

const LIMIT = { size: 4_000, unit: 'utf-16' } as const
const RENDERERS = { mrkdwn, 'plain text': plainForm }

it.each(Object.entries(RENDERERS))(
  '[I36.one-parse] a message of one part is parsed once, as %s',
  (name, renderer) => {
    const parsed = countParsed()
    const text = `# The build of ${name}\n\n- **green** on \`main\`\n- [log](https://ci.example/1)`
    const parts = splitText({ text }, LIMIT, renderer)
    expect(parts).toEqual([text])
    for (const part of parts) sentForm({ text: part }, renderer)
    // A third reader, as for a message with buttons.
    cutToFit({ text }, LIMIT, renderer)
    expect(parsed()).toEqual([text])
  },
)

it('of a message of many parts no text is parsed twice', () => {
  const parsed = countParsed()
  const text = Array.from({ length: 200 }, (_, n) => `${n}. **item** ${n} of a _long_ list`).join('\n')
  const parts = splitText({ text }, { ...LIMIT, size: 1_000 }, mrkdwn)
  expect(parts.length).toBeGreaterThan(5)
  const cut = parsed().length
  for (const part of parts) sentForm({ text: part }, mrkdwn)
  expect(parsed()).toHaveLength(cut)
  expect(new Set(parsed()).size).toBe(cut)
})

it('forgets the oldest, and keeps no more than it may', () => {
  const read = vi.fn((text: string) => [{ kind: 'code', language: '', text } as const])
  const remembering = rememberTrees(read, 1_000)
  for (const text of ['a', 'b', 'c', 'a', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'a']) remembering(text)
  // Nine short texts fit. Reading a text again makes it the newest.
  expect(read.mock.calls.map(([text]) => text).join('')).toBe('abcdefghij')
  remembering('b')
  expect(read).toHaveBeenCalledTimes(11)
  // A text that is longer than the limit is not kept, and removes no other.
  const long = 'x'.repeat(2_000)
  remembering(long)
  remembering(long)
  remembering('a')
  expect(read).toHaveBeenCalledTimes(13)
})
