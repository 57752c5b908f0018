// Message-IDs. Ours contain the outbox id, so that an answer, a bounce or a copy in Sent names its send. They also
// contain a signature, so that only a recipient can name the mail: outbox ids are consecutive. A token carries the same
// where headers are lost.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { fieldNamed, type HeaderField } from './headers.ts'

/** An outbox id and its signature. */
const TOKEN = /^([A-Za-z0-9_.-]{1,100})\.([0-9a-f]{16})$/
const SIGNATURE_CHARS = 16
const PREFIX = '<swb.'
const IDS = /<[^<>\s]{1,900}>/g
const MOST_IDS = 200
const MOST_LOOKED_AT = 65_536
const LONGEST = 200

export interface MessageIds {
  /** `<swb.KEY.SIGNATURE@domain>`; characters that are not allowed there become dashes. */
  of(key: string): string
  /** Returns the outbox id in a Message-ID of ours. Null: it is not ours, or its signature is wrong. */
  keyIn(id: string): string | null
  /** The same as a short word, for a subject or a plus-address. */
  tokenOf(key: string): string
  /** Returns the outbox id in such a word. */
  keyInToken(token: string): string | null
  /** Returns our Message-IDs anywhere in these bytes, with their outbox ids; at most 50. */
  within(raw: Uint8Array): ReadonlyMap<string, string>
}

const MOST_WITHIN = 50
const MOST_TRIED_WITHIN = 2_000

export function createMessageIds(domain: string, sign?: (text: string) => string): MessageIds {
  const signed = sign ?? ((text: string) => createHmac('sha256', domain).update(text).digest('hex'))
  const suffix = `@${domain}>`
  const signatureOf = (key: string) => signed(`message-id:${key}`).slice(0, SIGNATURE_CHARS)

  const tokenOf = (key: string) => {
    const safe = key.replace(/[^A-Za-z0-9_.-]/g, '-')
    return `${safe}.${signatureOf(safe)}`
  }

  const keyInToken = (token: string): string | null => {
    const [, key, signature] = TOKEN.exec(token) ?? []
    if (key === undefined || signature === undefined) return null
    return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(key))) ? key : null
  }

  const keyIn = (id: string): string | null =>
    id.startsWith(PREFIX) && id.toLowerCase().endsWith(suffix)
      ? keyInToken(id.slice(PREFIX.length, -suffix.length))
      : null

  return {
    of: (key) => `${PREFIX}${tokenOf(key)}${suffix}`,
    keyIn,
    tokenOf,
    keyInToken,
    within(raw) {
      const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
      const found = new Map<string, string>()
      let at = bytes.indexOf(PREFIX)
      for (let tried = 0; at >= 0 && tried < MOST_TRIED_WITHIN && found.size < MOST_WITHIN; tried++) {
        const [id] = /^<[^<>\s]{1,400}>/.exec(bytes.toString('latin1', at, at + 402)) ?? []
        const key = id === undefined ? null : keyIn(id)
        if (id !== undefined && key !== null) found.set(id, key)
        at = bytes.indexOf(PREFIX, at + PREFIX.length)
      }
      return found
    },
  }
}

/** Returns all ids in a header, in order. Other text between them is ignored. */
export function idsIn(value: string | undefined): readonly string[] {
  const found = (value ?? '').slice(0, MOST_LOOKED_AT).match(IDS) ?? []
  return found.slice(-MOST_IDS).map(shortId)
}

/** Ids are keys of rows, so a very long one is replaced by its digest. */
function shortId(id: string): string {
  return id.length <= LONGEST ? id : `<sha256.${createHash('sha256').update(id).digest('hex')}@long>`
}

/** Returns the mail's own id, or a digest of its content, which is the same for the same mail. */
export function ownId(fields: readonly HeaderField[], content: () => Uint8Array | string): string {
  return saidId(fields) ?? `<sha256.${createHash('sha256').update(content()).digest('hex')}@none>`
}

/** Returns the id that the mail gives itself. */
export function saidId(fields: readonly HeaderField[]): string | undefined {
  return idsIn(fieldNamed(fields, 'message-id'))[0]
}

/**
 * Returns the key of a mail whose sender is not proven: its place in the mailbox and its claimed id. So a forged mail
 * takes no other mail's key.
 */
export function unprovenKey(id: string, place: string): string {
  return `${id} ${place}`
}

/** Returns the Message-ID in a mail's key. */
export function idInKey(key: string): string {
  return key.split(' ', 1)[0] ?? key
}

/** Returns every mail that this one answers, the nearest first. */
export function answeredIds(fields: readonly HeaderField[]): readonly string[] {
  const replied = idsIn(fieldNamed(fields, 'in-reply-to'))
  const referred = [...idsIn(fieldNamed(fields, 'references'))].reverse()
  return [...new Set([...replied, ...referred])]
}

/** Returns the first mail of the thread, as its newest one names it. */
export function rootId(fields: readonly HeaderField[]): string | undefined {
  return idsIn(fieldNamed(fields, 'references'))[0] ?? idsIn(fieldNamed(fields, 'in-reply-to'))[0]
}

const SUBJECT_TOKEN = /\[ref:([A-Za-z0-9_.-]{1,120}?)\]/

export function subjectToken(token: string): string {
  return `[ref:${token}]`
}

export function tokenInSubject(subject: string): string | null {
  return SUBJECT_TOKEN.exec(subject)?.[1] ?? null
}

const TAG_PREFIX = 'ref.'

/** For the part after the plus of our own address. Ids of rows are lower-case, as addresses are. */
export function tagToken(token: string): string {
  return TAG_PREFIX + token
}

export function tokenInTag(tag: string | null): string | null {
  return tag?.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : null
}
