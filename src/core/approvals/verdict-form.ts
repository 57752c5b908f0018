// The exact form of a verdict, as text or as a button value, and the button that shows the whole question.

export interface VerdictForm {
  readonly behavior: 'allow' | 'deny'
  readonly id: string
}

const TEXT = /^\s*(y|yes|n|no)\s+([a-km-z]{5})\s*$/i
const BUTTON = /^(allow|deny):([a-km-z]{5})$/

/** Returns the verdict in a text such as `yes abcde` or `n ABCDE`; null: ordinary chat. */
export function verdictInText(text: string): VerdictForm | null {
  // A verdict has 7 to 64 characters. This check keeps the expression off the hot path.
  if (text.length < 7 || text.length > 64) return null
  const match = TEXT.exec(text)
  if (!match?.[1] || !match[2]) return null
  return { behavior: match[1].toLowerCase().startsWith('y') ? 'allow' : 'deny', id: match[2].toLowerCase() }
}

export function verdictInTap(value: string): VerdictForm | null {
  const match = BUTTON.exec(value)
  if (!match?.[1] || !match[2]) return null
  return { behavior: match[1] === 'allow' ? 'allow' : 'deny', id: match[2] }
}

/** Returns the value of one of a prompt's two buttons. */
export function verdictButton(behavior: 'allow' | 'deny', id: string): string {
  return `${behavior}:${id}`
}

const SHOW = /^show:([a-km-z]{5})$/

/** Returns the approval whose input is requested; null: another button. */
export function shownInTap(value: string): string | null {
  return SHOW.exec(value)?.[1] ?? null
}

export function showButton(id: string): string {
  return `show:${id}`
}
