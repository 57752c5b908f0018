// One line of a turn's context: cut where it would crowd out the turn itself, never through the middle of a character.
const LINE_CHARS = 2_000

export function cutLine(text: string): string {
  if (text.length <= LINE_CHARS) return text
  return `${[...text.slice(0, LINE_CHARS)].slice(0, -1).join('')}…`
}
