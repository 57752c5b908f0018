// Keeps the unsent text in this browser for its writer. It survives a reload, but not signing out.
import type { Me } from './session.ts'

const keyOf = ({ integration, sender }: Me): string => `switchboard:draft:${integration}:${sender}`

export function readDraft(me: Me): string {
  try {
    return localStorage.getItem(keyOf(me)) ?? ''
  } catch {
    return ''
  }
}

export function keepDraft(me: Me, text: string): void {
  try {
    if (text === '') localStorage.removeItem(keyOf(me))
    else if (text.length < 100_000) localStorage.setItem(keyOf(me), text)
  } catch {
    // Typing works also in a browser that stores nothing.
  }
}
