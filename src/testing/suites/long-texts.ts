// Texts to cut for a platform. They are full of characters that it could take for markup. Their numbered words let a
// test compare what people read with what was sent.

type Long = (size: number) => string

/** Repeats a piece, with a word numbered from 1 in each. */
const numbered =
  (piece: (word: string) => string, head = '', tail = ''): Long =>
  (size) => {
    let text = head
    for (let at = 1; text.length + tail.length < size; at += 1) text += piece(`w${at}`)
    return text + tail
  }

/** Repeats the pieces in turn. */
const inTurn =
  (...pieces: readonly ((word: string) => string)[]): Long =>
  (size) => {
    let text = ''
    for (let at = 1; text.length < size; at += 1) text += pieces[at % pieces.length]?.(`w${at}`) ?? ''
    return text
  }

/** Texts without Markdown. People must read every character. */
export const LONG_PLAIN: Readonly<Record<string, Long>> = {
  HTML: numbered((word) => `<p class="a" title='&'>${word} &amp; <b>&lt;</b></p>\n`),
  'a shell script': numbered((word) => `${word} && rm -rf *.tmp | grep -v '^#' > \`pwd\`/a_b_c ~/d \\\n`),
  lines: inTurn(
    (word) => `- ${word} *a* _b_ ~c~ ||d|| \`e\`\n`,
    (word) => `# ${word}\n`,
    (word) => `> ${word} [a](https://b.c/_d_) ![e](f)\n`,
    (word) => `1. ${word} @everyone <@1> <!channel> <#2>\n`,
    (word) => `-# ${word}\n\n`,
    (word) => `\`\`\`${word}\n\`\`\`\n`,
  ),
  marks: (size) => '*_~`|<>[]()&#"\\'.repeat(Math.ceil(size / 15)),
  characters: (size) => '👩‍👩‍👧&é<'.repeat(Math.ceil(size / 12)),
}

/** Texts with Markdown. People must read each word, in order. */
export const LONG_MARKDOWN: Readonly<Record<string, Long>> = {
  marks: numbered(
    (word) =>
      `${word} \\* a_b <c> & **d & e** ~~f~~ \`g & <h>\` [i](https://j.k/?l=m&n=(o)_p_) https://q.r/?s&t `,
  ),
  'a fence': numbered((word) => `${word} <a href="b">&&</a> \`\` * _c_\n`, '```html\n', '```'),
  'lists in lists': numbered((word) => `- ${word} <a>\n  1. *b* & c\n`),
  'a table': numbered((word) => `| ${word} & <a> | \`b\` **c** |\n`, '| d & <e> | f |\n|---|---|\n'),
  'quotes in quotes': numbered((word) => `> > > ${word} & <a>\n`),
  // As written, this text is far below the limit.
  'an address that is used often': (size) =>
    numbered((word) => `${word} [d]\n`, `[d]: https://e.com/?${'&('.repeat(size / 80)}\n\n`)(size / 20),
  'a deep quote and lines that only belong to it': (size) =>
    `${'>'.repeat(28)}${numbered((word) => `${word}\n`)(size / 20)}`,
  'nothing but markup': (size) => '```\n```\n\n'.repeat(Math.ceil(size / 9)),
}

/** The text without spaces and zero-width spaces. */
export function lettersOf(text: string): string {
  return text.replace(/[\s\u200b]+/g, '')
}

/** The numbered words in order of first appearance. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.match(/(?<![a-z0-9])w\d+/g))]
}
