// Hostile messages of programs: counts the steps of checking them, in a separate process.
import { expect, it } from 'vitest'
import { growthOf, LINEAR } from '../../testing/suites/count-steps.ts'
import { checkMessage, TooComplex } from './message-size.ts'

it('[I35.a3-message] takes steps in proportion to what came', async () => {
  const forms = [
    (n: number) => `"${'a'.repeat(n)}"`,
    (n: number) => `"${'\\"'.repeat(n)}"`,
    (n: number) => `"${'\\\\'.repeat(n)}"`,
    (n: number) => '""'.repeat(n),
    (n: number) => '[]'.repeat(n),
    (n: number) => ']'.repeat(n),
    (n: number) => '['.repeat(n),
  ]
  for (const form of forms) {
    const growth = await growthOf((size) => {
      const text = form(size)
      return () => {
        try {
          checkMessage(text)
        } catch (thrown) {
          if (!(thrown instanceof TooComplex)) throw thrown
        }
      }
    }, 20_000)
    expect(growth).toBeLessThan(LINEAR)
  }
})
