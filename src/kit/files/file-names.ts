// Makes foreign names and types of files safe. They are shown to models and people, and become part of paths.

// Characters with a meaning in paths, markup or terminals.
const UNSAFE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029<>[\]{}"'`|?*:;\\/]/gu

/** Returns the last segment without active characters. Never empty or hidden, at most 100 characters. */
export function safeFileName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last.replace(UNSAFE_IN_NAME, '_').replace(/^\.+/, '').trim()
  if (clean === '') return 'file'
  if (clean.length <= 100) return clean
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? ''
  return [...clean].slice(0, 90 - ending.length).join('') + ending
}

/** Returns a type that is safe in headers. An invalid one becomes the type of plain bytes. */
export function safeMime(mime: string): string {
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,80}$/i.test(mime)
    ? mime.toLowerCase()
    : 'application/octet-stream'
}
