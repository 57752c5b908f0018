// Text for a terminal: measured and cut.
export { oneLine, safeLines } from '../../runtime/safe-text.ts'

// Wide in every common terminal: CJK, Hangul, full-width forms, emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NO_WIDTH = /\p{Mark}|\u200b|\u200c|\u200d|\ufeff/u

export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** At most `width` columns; a cut ends in `…`. Never splits a surrogate pair. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width <= 1) return width === 1 ? '…' : ''
  let kept = ''
  let used = 0
  for (const character of text) {
    const next = characterWidth(character)
    if (used + next > width - 1) break
    kept += character
    used += next
  }
  return `${kept.trimEnd()}…`
}

function characterWidth(character: string): number {
  if (character >= ' ' && character <= '~') return 1
  if (NO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
