// The page's view of a Markdown tree: what it does grows with the tree and not faster.
import { expect, it } from 'vitest'
import type { MarkdownBlock } from '../../src/contract/index.ts'
import { readMarkdown } from '../../src/kit/markdown/index.ts'
import { growthOf, LINEAR, processorMs } from '../../src/testing/suites/count-steps.ts'
import { HOSTILE_RUNS, HOSTILE_TREES, MOST_RUN_MS } from '../../src/testing/suites/hostile-markdown.ts'

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

it.each(Object.entries(HOSTILE_RUNS))(
  '[I13.md-renderers] the page shows a run of %s, in no pattern that starts over at each place',
  (_name, trees) => {
    expect(processorMs(() => trees().map((block) => elementsOf([block])))).toBeLessThan(MOST_RUN_MS)
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

it.each([
  ['[https://bank.example](https://evil.example/x)', ' (leads to evil.example)'],
  ['[bank.example/login](https://evil.example)', ' (leads to evil.example)'],
  ['[https://bank.example@evil.example](https://bank.example)', ' (leads to bank.example)'],
  ['[https://www.bank.example/a](https://bank.example/b)', false],
  ['[our bank](https://bank.example)', false],
  ['https://bank.example', false],
  ['[a@bank.example](mailto:a@bank.example)', false],
])('[I21.con-inject] a link that reads like another address says where it leads: %s', (text, told) => {
  const [paragraph] = elementsOf(readMarkdown(text)) as {
    readonly props: { readonly children: readonly { readonly props: { readonly children: unknown[] } }[] }
  }[]
  expect(paragraph?.props.children[0]?.props.children.at(-1)).toBe(told)
})
