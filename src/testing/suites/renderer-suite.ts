// The suite for renderers of Markdown: for every tree, the work grows linearly. It is apart from the platform suite
// because steps can be counted only in a process where nothing of the renderer ran before. Call it in a file of its
// own.
import { describe, expect, it } from 'vitest'
import type { MarkdownRenderer } from '../../contract/index.ts'
import { growthOf, LINEAR, processorMs } from './count-steps.ts'
import { HOSTILE_RUNS, HOSTILE_TREES, MOST_RUN_MS } from './hostile-markdown.ts'

/**
 * `meets` selects the runs to try. Without it the suite tries all, for a renderer whose patterns have no other test.
 */
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

    // A pattern counts as one step whatever it does, so this measures processor time. A pattern that starts over at
    // each place takes half a minute here. Others take moments.
    it.each(Object.entries(HOSTILE_RUNS).filter((_, nth) => meets(nth)))(
      '[I13.md-renderers] a run of %s, in no pattern that starts over at each place',
      (_name, trees) => {
        expect(processorMs(() => trees().map((block) => renderer.render([block])))).toBeLessThan(MOST_RUN_MS)
      },
    )
  })
}
