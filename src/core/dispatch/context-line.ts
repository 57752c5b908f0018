// One line of a turn's context. A long line is cut so that it does not crowd out the turn, and never within a
// character.
const LINE_CHARS = 2_000

export function cutLine(text: string): string {
  if (text.length <= LINE_CHARS) return text
  return `${[...text.slice(0, LINE_CHARS)].slice(0, -1).join('')}…`
}
