// The suite for renderers of Markdown: whatever tree comes, the work grows with it and not faster. Apart from the platform
// suite, for steps are counted only in a process where nothing of the renderer ran before: call it in a file of its own.
import { describe, expect, it } from 'vitest'
import type { MarkdownBlock, MarkdownInline, MarkdownRenderer } from '../contract/index.ts'
import { growthOf, LINEAR } from './count-steps.ts'
import { HOSTILE_TREES } from './hostile-markdown.ts'

export function describeRenderer(name: string, renderer: MarkdownRenderer): void {
  describe(`renderer: ${name}`, () => {
    it.each(Object.entries(HOSTILE_TREES))('[I13.md-renderers] %s in linear steps', async (_name, tree) => {
      const growth = await growthOf((size) => {
        const blocks = tree(size)
        return () => void renderer.render(blocks)
      }, 2_000)
      expect(growth).toBeLessThan(LINEAR)
    })

    // A pattern is one step whatever it does: one that tries every place takes half a minute for this, and others moments.
    it.each(RUNS)('[I13.md-renderers] a run of %j, in no pattern that starts over at each place', (piece) => {
      const text = `a${piece.repeat(80_000 / piece.length)}b`
      const began = performance.now()
      for (const block of everywhere(text)) renderer.render([block])
      expect(performance.now() - began).toBeLessThan(10_000)
    })
  })
}

const RUNS = [
  ' ',
  '\n',
  '\t ',
  '*',
  '_',
  '~',
  '`',
  '\\',
  '<',
  '>',
  '(',
  '[',
  ']',
  '|',
  '.',
  '-',
  '#',
  '&',
  '@',
  '1',
  'a',
]

/** The same text in all that can hold one. */
function everywhere(text: string): readonly MarkdownBlock[] {
  const words: MarkdownInline = { kind: 'text', text }
  const inlines: readonly MarkdownInline[] = [
    words,
    { kind: 'code', text },
    ...(['strong', 'emphasis', 'strike'] as const).map((kind) => ({ kind, children: [words] })),
    { kind: 'link', href: 'https://e.com/', children: [words] },
    { kind: 'link', href: `https://e.com/${text}`, children: [{ kind: 'text', text: 'here' }] },
    { kind: 'image', href: 'https://e.com/', alt: text },
  ]
  return [
    ...inlines.map((node) => ({ kind: 'paragraph', children: [node] }) as const),
    { kind: 'heading', level: 1, children: [words] },
    { kind: 'code', language: text, text },
  ]
}
