// The size of a program's message: messages with too many values or levels are refused before they are parsed.
import { expect, it } from 'vitest'
import { checkMessage, readMessage, TooComplex } from './message-size.ts'

const PADDING = ' '.repeat(2_000)

it('[I35.a3-message] a message that is too deep or too full is refused, whatever stands in its texts', () => {
  const deep = (levels: number) => `${PADDING}${'['.repeat(levels)}${']'.repeat(levels)}`
  const full = (values: number) => `[${'{},'.repeat(values / 2 - 1)}{}]`
  const words = JSON.stringify({ text: `${'[{,}]"\\'.repeat(100_000)}`, more: '\\"', last: 1 })
  for (const text of [deep(200), full(74_000), words, PADDING + words])
    expect(readMessage(text)).toEqual(JSON.parse(text))
  for (const text of [deep(201), `${PADDING}${'['.repeat(1_000)}`, full(75_002), `[${'1,'.repeat(75_001)}1]`])
    expect(() => checkMessage(text)).toThrow(TooComplex)
  for (const text of ['', '{', '"', `"${'x'.repeat(2_000)}`, `${PADDING}\\`, ']'.repeat(2_000)])
    expect(() => readMessage(text)).toThrow(SyntaxError)
})
