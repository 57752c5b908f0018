// The icons of the pages, drawn in the text's colour.
import type { JSX } from 'preact'

function icon(path: string, width = 1.8): () => JSX.Element {
  return () => (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        stroke-width={width}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

export const SendIcon = icon('M12 19V5M5.5 11.5 12 5l6.5 6.5')
export const ClipIcon = icon(
  'm20 11.5-8.2 8.2a5.3 5.3 0 0 1-7.5-7.5l8.5-8.5a3.5 3.5 0 0 1 5 5l-8.5 8.4a1.8 1.8 0 0 1-2.5-2.5l7.8-7.7',
)
export const MoreIcon = icon('M12 5.5h.01M12 12h.01M12 18.5h.01', 2.8)
export const DownIcon = icon('M12 5v14M5.5 12.5 12 19l6.5-6.5')
export const CloseIcon = icon('M6 6l12 12M18 6 6 18')
export const FileIcon = icon('M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zM14 3v5h5')
export const ShieldIcon = icon('M12 3 5 6v5c0 4.6 2.9 8.3 7 10 4.1-1.7 7-5.4 7-10V6zM9 12l2.2 2.2L15.2 10')
export const ReplyIcon = icon('M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6')

/** The state of a message: waiting, with the agent, answered, failed. */
export const MARKS = {
  clock: icon('M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7.5V12l3 2'),
  one: icon('m5 12.5 4.5 4.5L19 7', 2.2),
  two: icon('m1.5 12.5 4.5 4.5L15.5 7M11.5 16.5l.5.5L22 7', 2.2),
  bad: icon('M12 4v10M12 19.5h.01', 2.6),
} as const

export function Logo(): JSX.Element {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" class="logo-plate" />
      <path d="M9 11.5c0 9 14 0 14 9" class="logo-cord" />
      <circle cx="9" cy="10.5" r="2.6" class="logo-jack" />
      <circle cx="23" cy="21.5" r="2.6" class="logo-jack" />
    </svg>
  )
}
