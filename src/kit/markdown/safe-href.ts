// Where a link may lead.

/** The address if a link may lead there, else null. Schemes are compared after the URL was really parsed. */
export function safeHref(raw: string): string | null {
  const trimmed = raw.trim()
  if (!URL.canParse(trimmed)) return null
  const url = new URL(trimmed)
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'mailto:' ? url.href : null
}
