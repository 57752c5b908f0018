// What was typed and not sent: kept in this browser for who typed it, over a reload but not over signing out.
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
    // A browser that keeps nothing still lets one type.
  }
}
