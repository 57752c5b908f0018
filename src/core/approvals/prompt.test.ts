// A question as a chat shows it: whatever is asked, the message and its parts keep within the platform's limit.
import { expect, it } from 'vitest'
import { opText } from '../../contract/index.ts'
import { promptOp, wholeAsk } from './prompt.ts'

const LIMIT = 4_096
const INPUTS: readonly (readonly [what: string, input: string])[] = [
  ['3,500 backticks', '`'.repeat(3_500)],
  ['20,000 backticks', '`'.repeat(20_000)],
  ['backticks at the end of what fits', `${'x'.repeat(3_000)}${'`'.repeat(2_000)}`],
  ['backticks here and there', 'a`'.repeat(8_000)],
  ['characters of two units', '😀'.repeat(15_000)],
  ['a short command', 'ls -la'],
]

it.each(INPUTS)('[S6.ch-preview] %s: the prompt fits, fences and all', (_what, input) => {
  const ask = { toolName: 'x'.repeat(200), description: 'y'.repeat(500), input }
  for (const limit of [1_000, LIMIT]) {
    for (const rest of ['button', 'command'] as const) {
      const text = opText(promptOp('abcde', 'an-agent-with-a-name', ask, { limit, rest }))
      expect([...text].length).toBeLessThanOrEqual(limit)
      expect(text).toMatch(/Reply "yes abcde" or "no abcde"$/)
    }
  }
})

it.each(INPUTS)('[S10.show-all] %s: the parts fit, and put together are all of it', (_what, input) => {
  const parts = wholeAsk({ id: 'abcde', ask: { toolName: 'Bash', description: '', input } }, LIMIT)
  for (const part of parts) expect([...part].length).toBeLessThanOrEqual(LIMIT)
  const whole = parts.map((part) => part.split('\n').slice(2, -1).join('\n')).join('')
  expect(whole).toBe(input)
})
