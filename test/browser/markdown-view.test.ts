// The page's view of a Markdown tree: what it does grows with the tree and not faster.
import { expect, it } from 'vitest'
import type { MarkdownBlock } from '../../src/contract/index.ts'
import { readMarkdown } from '../../src/kit/markdown/index.ts'
import { growthOf, LINEAR } from '../../src/testing/count-steps.ts'
import { HOSTILE_TREES } from '../../src/testing/hostile-markdown.ts'

// The page has types of its own (web/tsconfig.json): here it is known by what is used of it.
const view: string = '../../web/shared/markdown-view.tsx'
const { elementsOf } = (await import(view)) as {
  elementsOf(blocks: readonly MarkdownBlock[]): readonly unknown[]
}

it.each(Object.entries(HOSTILE_TREES))(
  '[I13.md-renderers] the page shows %s in linear steps',
  async (_, tree) => {
    const growth = await growthOf((size) => {
      const blocks = tree(size)
      return () => void elementsOf(blocks)
    }, 2_000)
    expect(growth).toBeLessThan(LINEAR)
  },
)

it('makes elements of what was read, and text of what is text', () => {
  const [heading, paragraph] = elementsOf(readMarkdown('# a <b>\n\n[c](https://d.example)')) as {
    readonly type: string
    readonly props: { readonly children: unknown }
  }[]
  expect(heading).toMatchObject({ type: 'h3', props: { children: ['a <b>'] } })
  expect(paragraph).toMatchObject({
    type: 'p',
    props: {
      children: [{ type: 'a', props: { href: 'https://d.example/', rel: 'noopener noreferrer nofollow' } }],
    },
  })
})
