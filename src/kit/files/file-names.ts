// Names and types of files that others chose, made harmless: they are shown to models and people, and become part of paths.

// Reserved for paths, markup and terminals; a name is shown to models and people and becomes part of a path.
const UNSAFE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029<>[\]{}"'`|?*:;\\/]/gu

/** The last segment, without anything that could act. Never empty, never hidden, at most 100 characters. */
export function safeFileName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  const clean = last.replace(UNSAFE_IN_NAME, '_').replace(/^\.+/, '').trim()
  if (clean === '') return 'file'
  if (clean.length <= 100) return clean
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? ''
  return [...clean].slice(0, 90 - ending.length).join('') + ending
}

/** A type as it is written in headers; what is none is bytes. */
export function safeMime(mime: string): string {
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,80}$/i.test(mime)
    ? mime.toLowerCase()
    : 'application/octet-stream'
}
