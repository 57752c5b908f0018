// The suite for renderers of Markdown: whatever tree comes, the work grows with it and not faster. Apart from the
// platform suite, for steps are counted only in a process where nothing of the renderer ran before: call it in a file
// of its own.
import { describe, expect, it } from 'vitest'
import type { MarkdownRenderer } from '../../contract/index.ts'
import { growthOf, LINEAR, processorMs } from './count-steps.ts'
import { HOSTILE_RUNS, HOSTILE_TREES, MOST_RUN_MS } from './hostile-markdown.ts'

/** `meets`: of the runs, those that are tried; all of them where nothing else tries the patterns. */
export function describeRenderer(
  name: string,
  renderer: MarkdownRenderer,
  meets: (nth: number) => boolean = () => true,
): void {
  describe(`renderer: ${name}`, () => {
    it.each(Object.entries(HOSTILE_TREES))('[I13.md-renderers] %s in linear steps', async (_name, tree) => {
      const growth = await growthOf((size) => {
        const blocks = tree(size)
        return () => void renderer.render(blocks)
      }, 2_000)
      expect(growth).toBeLessThan(LINEAR)
    })

    // A pattern is one step whatever it does: one that tries every place takes half a minute for this, and others
    // moments.
    it.each(Object.entries(HOSTILE_RUNS).filter((_, nth) => meets(nth)))(
      '[I13.md-renderers] a run of %s, in no pattern that starts over at each place',
      (_name, trees) => {
        expect(processorMs(() => trees().map((block) => renderer.render([block])))).toBeLessThan(MOST_RUN_MS)
      },
    )
  })
}
