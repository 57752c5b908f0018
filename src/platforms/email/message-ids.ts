// Message-IDs: ours carry the outbox id, so that what comes back (an answer, a bounce, a copy in Sent) tells which send it
// is about. A token says the same where headers are lost on the way.
import { createHash } from 'node:crypto'
import { fieldNamed, type HeaderField } from './headers.ts'

const KEY = '[A-Za-z0-9_.-]{1,100}?'
const IDS = /<[^<>\s]{1,900}>/g
const MOST_IDS = 200
const MOST_LOOKED_AT = 65_536
const LONGEST = 200

/** `<swb.KEY@domain>`; a part of a key that could not stand there is no key of ours. */
export function messageIdOf(key: string, domain: string): string {
  return `<swb.${key.replace(/[^A-Za-z0-9_.-]/g, '-')}@${domain}>`
}

/** The outbox id in a Message-ID of ours; null: it is not ours. */
export function keyIn(id: string, domain: string): string | null {
  const prefix = '<swb.'
  const suffix = `@${domain}>`
  if (!id.startsWith(prefix) || !id.toLowerCase().endsWith(suffix)) return null
  const key = id.slice(prefix.length, -suffix.length)
  return new RegExp(`^${KEY}$`).test(key) ? key : null
}

/** All ids in a header, in order; comments, commas and nonsense between them are passed over. */
export function idsIn(value: string | undefined): readonly string[] {
  const found = (value ?? '').slice(0, MOST_LOOKED_AT).match(IDS) ?? []
  return found.slice(-MOST_IDS).map(shortId)
}

/** Ids are keys of rows: one that is too long for that is known by its digest. */
function shortId(id: string): string {
  return id.length <= LONGEST ? id : `<sha256.${createHash('sha256').update(id).digest('hex')}@long>`
}

/** The mail's own id. Without one it is known by what it says: the same mail again has the same. */
export function ownId(fields: readonly HeaderField[], content: () => Uint8Array | string): string {
  const [id] = idsIn(fieldNamed(fields, 'message-id'))
  return id ?? `<sha256.${createHash('sha256').update(content()).digest('hex')}@none>`
}

/** Every mail that this one answers: the nearest first. */
export function answeredIds(fields: readonly HeaderField[]): readonly string[] {
  const replied = idsIn(fieldNamed(fields, 'in-reply-to'))
  const referred = [...idsIn(fieldNamed(fields, 'references'))].reverse()
  return [...new Set([...replied, ...referred])]
}

/** The first mail of a thread, as its newest one tells it. */
export function rootId(fields: readonly HeaderField[]): string | undefined {
  return idsIn(fieldNamed(fields, 'references'))[0] ?? idsIn(fieldNamed(fields, 'in-reply-to'))[0]
}

const SUBJECT_TOKEN = new RegExp(`\\[ref:(${KEY})\\]`)

export function subjectToken(key: string): string {
  return `[ref:${key}]`
}

export function keyInSubject(subject: string): string | null {
  return SUBJECT_TOKEN.exec(subject)?.[1] ?? null
}

const TAG_PREFIX = 'ref.'

/** Behind the plus of our own address; ids of rows are lower-case, as addresses are. */
export function tagToken(key: string): string {
  return TAG_PREFIX + key
}

export function keyInTag(tag: string | null): string | null {
  return tag?.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : null
}
