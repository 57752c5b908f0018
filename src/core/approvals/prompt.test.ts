// An approval as a chat shows it: the message and its parts always keep within the platform's limit.
import { expect, it } from 'vitest'
import {
  type ApprovalRow,
  type MarkdownRenderer,
  NO_TEXT_LIMIT,
  opText,
  type TextUnit,
  textSize,
} from '../../contract/index.ts'
import { readMarkdown } from '../../kit/markdown/read.ts'
import { wordsIn } from '../../words/index.ts'
import { outcomeText, promptOp, wholeAsk } from './prompt.ts'

const words = wordsIn()

type Size = readonly [size: number, unit: TextUnit]
const LARGE: readonly Size[] = [
  [4_096, 'code-points'],
  [4_096, 'utf-16'],
  [4_096, 'bytes'],
]
const SIZES: readonly Size[] = [[1_000, 'code-points'], [1_000, 'bytes'], ...LARGE]
const INPUTS: readonly (readonly [what: string, input: string])[] = [
  ['3,500 backticks', '`'.repeat(3_500)],
  ['20,000 backticks', '`'.repeat(20_000)],
  ['backticks at the end of what fits', `${'x'.repeat(3_000)}${'`'.repeat(2_000)}`],
  ['backticks here and there', 'a`'.repeat(8_000)],
  ['characters of two units', '😀'.repeat(15_000)],
  ['a short command', 'ls -la'],
]

it.each(INPUTS)(
  '[S6.ch-preview] [I13.limit-prompts] %s: the prompt fits in every unit, fences and all',
  (_what, input) => {
    const ask = { toolName: 'x'.repeat(200), description: 'y'.repeat(500), input }
    for (const [size, unit] of SIZES) {
      const limit = { size, unit, markdown: 'written' } as const
      for (const rest of ['button', 'command'] as const) {
        const text = opText(promptOp('abcde', 'an-agent-with-a-name', ask, { limit, rest, words }))
        expect(textSize(text, unit)).toBeLessThanOrEqual(size)
        expect(text).toMatch(/Reply "yes abcde" or "no abcde"$/)
      }
    }
  },
)

/** Renders one paragraph and one block of code, and escapes what its platform would interpret. */
const escaping: MarkdownRenderer = {
  render(blocks) {
    const shown = blocks.map((block) => {
      if (block.kind === 'code') return `\`\`\`${block.text}\`\`\``
      return block.kind === 'paragraph'
        ? block.children.map((one) => ('text' in one ? one.text : '')).join('')
        : ''
    })
    const text = shown.join('\n\n').replace(/[<&>]/g, (char) => `&#${char.charCodeAt(0)};`)
    return { text, plain: text }
  },
}

it('[I13.limit-prompts] [S10.show-all] a question and its parts fit as the platform shows them, escapes and all', () => {
  const limit = { size: 4_000, unit: 'utf-16', markdown: escaping } as const
  const shownSize = (text: string) => escaping.render(readMarkdown(text)).text.length
  for (const input of ['<&&>'.repeat(800), `${'<😀&>'.repeat(900)}`, '<'.repeat(30_000)]) {
    const ask = { toolName: 'Bash', description: '<&>'.repeat(200), input }
    const op = promptOp('abcde', 'kate', ask, { limit, rest: 'button', words })
    expect(shownSize(opText(op))).toBeLessThanOrEqual(4_000)
    expect(opText(op)).toMatch(/Reply "yes abcde" or "no abcde"$/)
    expect(op).toMatchObject({ choices: [{ label: 'Allow' }, { label: 'Deny' }, { label: 'Show all' }] })
    // The message uses most of the available space.
    expect(shownSize(opText(op))).toBeGreaterThan(3_000)
    const parts = wholeAsk(words, { id: 'abcde', ask: { ...ask, description: '' } }, limit)
    for (const part of parts) expect(shownSize(part)).toBeLessThanOrEqual(4_000)
    expect(parts.map((part) => part.split('\n').slice(2, -1).join('\n')).join('')).toBe(input)
  }
})

it('[I13.limit-prompts] where a platform has no limit, a megabyte of backticks is asked whole', () => {
  const ask = { toolName: 'Bash', description: '', input: 'a`'.repeat(500_000) }
  const place = { limit: { ...NO_TEXT_LIMIT, markdown: 'written' }, rest: 'button', words } as const
  expect(opText(promptOp('abcde', 'an-agent', ask, place))).toContain(ask.input)
})

it.each(INPUTS)('[S10.show-all] %s: the parts fit, and put together are all of it', (_what, input) => {
  for (const [size, unit] of LARGE) {
    const ask = { toolName: 'Bash', description: '', input }
    const parts = wholeAsk(words, { id: 'abcde', ask }, { size, unit, markdown: 'written' })
    for (const part of parts) expect(textSize(part, unit)).toBeLessThanOrEqual(size)
    const whole = parts.map((part) => part.split('\n').slice(2, -1).join('\n')).join('')
    expect(whole).toBe(input)
  }
})

it('[S10.show-all] a long name of a tool and a description of several lines are among the parts', () => {
  const ask = { toolName: `mcp__${'x'.repeat(200)}__wipe`, description: 'first\n  second', input: 'ls' }
  const limit = { size: 4_000, unit: 'utf-16', markdown: 'written' } as const
  const op = promptOp('abcde', 'kate', ask, { limit, rest: 'button', words })
  expect(op).toMatchObject({ choices: [{ label: 'Allow' }, { label: 'Deny' }, { label: 'Show all' }] })
  const whole = wholeAsk(words, { id: 'abcde', ask }, limit).join('\n')
  expect(whole).toContain(ask.toolName)
  expect(whole).toContain('first\n  second')
})

it.each<[Partial<ApprovalRow>, boolean, string]>([
  [{ state: 'withdrawn' }, false, 'no longer asked'],
  [{ state: 'expired', cause: 'expired' }, true, 'expired here; the agent still asks where it runs'],
  [{ state: 'expired', cause: 'expired' }, false, 'expired, denied'],
  [{ state: 'relayed', cause: 'unreachable' }, false, 'denied, no approver could be reached'],
  [{ state: 'undeliverable' }, false, 'decided (allowed by tg/7), but the agent is gone'],
  [{ state: 'decided' }, false, 'decided (allowed by tg/7), waits for the agent to come back'],
  [
    { state: 'decided', behavior: 'deny' },
    false,
    'decided (denied by tg/7), waits for the agent to come back',
  ],
  [{ state: 'relayed' }, true, 'passed on (allowed by tg/7)'],
  [{ state: 'relayed' }, false, 'allowed by tg/7'],
  [{ state: 'relayed', behavior: 'deny' }, false, 'denied by tg/7'],
])('how it ended is told as it is: %o, passed on: %s', (row, passedOn, how) => {
  const ask = { toolName: 'Bash', description: '', input: 'ls' }
  const decided = {
    id: 'abcde',
    ask,
    behavior: 'allow',
    decidedBy: 'tg/7',
    cause: 'verdict',
    ...row,
  } as ApprovalRow
  expect(outcomeText(words, decided, { passedOn, name: null })).toBe(`Bash (abcde): ${how}`)
})
