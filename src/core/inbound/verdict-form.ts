// The exact form of a verdict, as text or as the value of a button; and the button that shows the whole question.

export interface VerdictForm {
  readonly behavior: 'allow' | 'deny'
  readonly id: string
}

const TEXT = /^\s*(y|yes|n|no)\s+([a-km-z]{5})\s*$/i
const BUTTON = /^(allow|deny):([a-km-z]{5})$/

/** `yes abcde`, `n ABCDE`; anything else is ordinary chat. */
export function verdictInText(text: string): VerdictForm | null {
  // The shortest is 7 characters, and a long text is never one: keeps the expression off the hot path.
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

/** The values of the two buttons of a prompt. */
export function verdictButton(behavior: 'allow' | 'deny', id: string): string {
  return `${behavior}:${id}`
}

const SHOW = /^show:([a-km-z]{5})$/

/** The approval whose input is asked for; null: it is another button. */
export function shownInTap(value: string): string | null {
  return SHOW.exec(value)?.[1] ?? null
}

export function showButton(id: string): string {
  return `show:${id}`
}
