// Part of the platform suite: texts beyond the limit of an adapter. The outlet cuts them and sends the parts. The suite
// compares what people read with what was sent.
import { expect } from 'vitest'
import {
  type Abilities,
  DUPLICATE_NOTE,
  type OutboundOp,
  roomyTextLimit,
  textSize,
} from '../../contract/index.ts'
import { splitText } from '../../kit/markdown/index.ts'
import { LONG_MARKDOWN, LONG_PLAIN, lettersOf, wordsOf } from './long-texts.ts'

export interface LongTexts {
  readonly abilities: Abilities
  readonly send: (op: OutboundOp) => Promise<unknown>
  readonly reads: () => Promise<string>
}

export async function checkPlain(texts: LongTexts): Promise<void> {
  for (const [name, make] of Object.entries(LONG_PLAIN)) {
    const text = make(longerThan(texts.abilities))
    const read = await readOf(texts, name, { text, plain: true })
    expect([name, lettersOf(read)]).toEqual([name, lettersOf(text)])
  }
}

export async function checkMarkdown(texts: LongTexts): Promise<void> {
  for (const [name, make] of Object.entries(LONG_MARKDOWN)) {
    const text = make(longerThan(texts.abilities))
    const read = await readOf(texts, name, { text })
    expect([name, wordsOf(read)]).toEqual([name, wordsOf(text)])
    // A text that is only markup appears as it was written, not as nothing.
    expect([name, lettersOf(read)]).not.toEqual([name, ''])
  }
}

/** Sends parts of the maximum length with the duplicate note in front. */
export async function checkNote({ abilities, send, reads }: LongTexts): Promise<void> {
  const limit = roomyTextLimit(abilities)
  for (const plain of [{ plain: true } as const, {}]) {
    const text = 'a'.repeat(limit.size)
    expect(splitText({ text, ...plain }, limit, abilities.markdown ?? 'written')).toEqual([text])
    await send({ kind: 'text', text: DUPLICATE_NOTE + text, ...plain })
    expect(lettersOf(await reads())).toBe(lettersOf(DUPLICATE_NOTE + text))
  }
}

/** Returns the parts as people read them, joined. */
async function readOf(
  { abilities, send, reads }: LongTexts,
  name: string,
  said: { readonly text: string; readonly plain?: true },
): Promise<string> {
  const { textLimit, markdown = 'written' } = abilities
  const read: string[] = []
  for (const text of splitText(said, textLimit, markdown)) {
    await send({ kind: 'text', ...said, text })
    const shown = await reads()
    expect([name, textSize(shown, textLimit.unit) <= textLimit.size]).toEqual([name, true])
    read.push(shown)
  }
  return read.join('\n')
}

/** A length beyond the limit. For an adapter without a limit the text stays one message. */
function longerThan({ textLimit }: Abilities): number {
  return Math.ceil(1.5 * Math.min(textLimit.size, 100_000))
}
