// Hostile mail text: counts the steps of stripping quotes, in a separate process.
import { expect, it } from 'vitest'
import { growthOf, LINEAR } from '../../../testing/suites/count-steps.ts'
import { MOST_STRIPPED, stripQuotes } from './strip-quotes.ts'

it('takes steps in proportion to what came, and no more than its bound', async () => {
  const forms = [
    (n: number) => 'On '.repeat(n),
    (n: number) => 'On Monday\n'.repeat(n),
    (n: number) => '> '.repeat(n),
    (n: number) => '>\nx\n'.repeat(n),
    (n: number) => `${'> quoted\n'.repeat(n)}answer below`,
    (n: number) => `${'>\n'.repeat(n)}x`,
    (n: number) => 'From: a\n'.repeat(n),
    (n: number) => 'Thanks\n'.repeat(n),
    (n: number) => `${' '.repeat(n)}a:`,
  ]
  for (const form of forms) {
    const growth = await growthOf((size) => {
      const text = form(size)
      return () => void stripQuotes(text)
    }, 2_000)
    expect(growth).toBeLessThan(LINEAR)
  }
  expect(stripQuotes('x'.repeat(MOST_STRIPPED * 2)).text).toHaveLength(MOST_STRIPPED)
})
