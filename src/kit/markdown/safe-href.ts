// Decides which targets a link may have.

/** Returns the address if a link may lead there, else null. The URL is parsed before its scheme is compared. */
export function safeHref(raw: string): string | null {
  const trimmed = raw.trim()
  if (!URL.canParse(trimmed)) return null
  const url = new URL(trimmed)
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'mailto:' ? url.href : null
}
