// Reads Discord's notation as plain text: mentions and custom emoji by name. Linear in the text.
import { textEnd } from '../../contract/index.ts'

export interface TextReader {
  readonly selfId: string
  readonly selfName: string
  readonly userName: (id: string) => string | undefined
  readonly channelName: (id: string) => string | undefined
  readonly roleName: (id: string) => string | undefined
}

const TOKEN =
  /<(?:@(!?)(\d{1,20})|@&(\d{1,20})|#(\d{1,20})|a?:(\w{2,32}):\d{1,20}|\/([\w\p{L} -]{1,100}):\d{1,20})>/gu

/** Returns the readable text. The bot's own name at its beginning is left out. */
export function readText(raw: string, reader: TextReader): string {
  const spoken = withoutOwnName(raw, reader.selfId)
  let at = 0
  let out = ''
  for (const match of spoken.matchAll(TOKEN)) {
    out += spoken.slice(at, match.index) + tokenText(match, reader)
    at = match.index + match[0].length
  }
  return out + spoken.slice(at)
}

function tokenText(match: RegExpMatchArray, reader: TextReader): string {
  const [, , user, role, channel, emoji, command] = match
  if (user !== undefined)
    return `@${user === reader.selfId ? reader.selfName : (reader.userName(user) ?? user)}`
  if (role !== undefined) return `@${reader.roleName(role) ?? role}`
  if (channel !== undefined) return `#${reader.channelName(channel) ?? channel}`
  return emoji === undefined ? `/${command ?? ''}` : `:${emoji}:`
}

function withoutOwnName(raw: string, selfId: string): string {
  const trimmed = raw.trimStart()
  const mark = [`<@${selfId}>`, `<@!${selfId}>`].find((one) => trimmed.startsWith(one))
  return mark === undefined ? raw : trimmed.slice(mark.length).replace(/^[\s,:]+/, '')
}

// Models and people read names, and a name could imitate markup or a mention.
const UNSAFE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029<>&|*`~@#[\]()\\]/gu

const NAME_LENGTH = 80

/** Cuts to this length as Discord counts, without splitting a character. */
export function cutShort(text: string, most: number): string {
  return text.slice(0, textEnd(text, most, 'utf-16'))
}

/** Returns a name without active characters; undefined: there is none. */
export function safeName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const safe = name.slice(0, 400).replace(UNSAFE_IN_NAME, '').replace(/\s+/g, ' ').trim()
  return safe === '' ? undefined : cutShort(safe, NAME_LENGTH)
}

/** U+0000 cannot be stored everywhere, so a visible mark replaces it. */
export function clean(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
