// Small texts for a page: sizes, times, and text with visible hidden characters, where a person decides by it.
import { words } from './words.ts'

/** Shows invisible and reordering characters as marks: `⟨U+202E⟩`. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (char) => {
    const point = char.codePointAt(0) ?? 0
    return `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}

// Control, format and private characters except line break and tab, and separators, fillers and variation selectors
// that draw nothing. (U+FE0E and U+FE0F stay, because they belong to ordinary emoji.)
const HIDDEN =
  /[^\P{C}\n\t]|\u2028|\u2029|\u034F|\u115F|\u1160|\u3164|\uFFA0|[\uFE00-\uFE0D]|[\u{E0100}-\u{E01EF}]/gu

/** Returns a name as one line without controls, at most `max` code points. */
export function oneLine(text: string, max = 80): string {
  const points = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()]
  return points.length <= max ? points.join('') : `${points.slice(0, max - 1).join('')}…`
}

export function formatSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} kB`
  return `${(bytes / 1_048_576).toFixed(1)} MB`
}

export function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
}

/** Returns the remaining time in the roughest useful unit. */
export function timeLeft(ms: number): string {
  if (ms <= 0) return words.time.over
  if (ms < 60_000) return words.time.lastMinute
  const minutes = Math.round(ms / 60_000)
  if (minutes < 90) return words.time.minutesLeft({ minutes })
  return words.time.hoursLeft({ hours: Math.round(minutes / 60) })
}

export function formatDay(at: number, now: number): string {
  const day = new Date(at)
  const today = new Date(now)
  if (day.toDateString() === today.toDateString()) return words.time.today
  if (day.toDateString() === new Date(now - 86_400_000).toDateString()) return words.time.yesterday
  const year: { year?: 'numeric' } = day.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' }
  return day.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long', ...year })
}
