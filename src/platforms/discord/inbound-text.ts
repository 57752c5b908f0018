// Discord's own writing as plain text: mentions by name, custom emoji by theirs. Linear in the text.
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

/** The text as a person reads it. The bot's own name in front is left out: who is spoken to need not be told. */
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

// Names are shown to models and people, and could be written to look like markup or a mention.
const UNSAFE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029<>&|*`~@#[\]()\\]/gu

const NAME_LENGTH = 80

/** At most so long as Discord counts it, and no half of a character at its end. */
export function cutShort(text: string, most: number): string {
  return text.slice(0, textEnd(text, most, 'utf-16'))
}

/** A name that can act on nothing; undefined: there is none. */
export function safeName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const safe = name.slice(0, 400).replace(UNSAFE_IN_NAME, '').replace(/\s+/g, ' ').trim()
  return safe === '' ? undefined : cutShort(safe, NAME_LENGTH)
}

/** U+0000 cannot be stored everywhere; the mark in its place shows that something was there. */
export function clean(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
