// Mail addresses: what one is, who a mail says it is from, and what stands behind the plus of our own.
import { domainToASCII } from 'node:url'
import { addressParser, decodeWords } from 'postal-mime'
import { fieldNamed, fieldsNamed, type HeaderField } from './headers.ts'

const MOST_ADDRESS = 254
const MOST_LOCAL = 64
/** Spaces, controls and what cannot be seen (zero-width characters, marks of direction). */
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Z}|\p{M}|\u115f|\u1160|\u3164|\uffa0/u
const LOCAL = /^[^"(),:;<>@[\\\]]+$/
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/

/** The address as gates compare it: lower-case, its domain in ASCII. Null: it is none that could be written to safely. */
export function normalAddress(written: string): string | null {
  const text = written.trim()
  if (text.length > MOST_ADDRESS || INVISIBLE.test(text)) return null
  const cut = text.lastIndexOf('@')
  const local = text.slice(0, cut).toLowerCase()
  if (cut < 1 || local.length > MOST_LOCAL || !LOCAL.test(local)) return null
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..') || local.startsWith('-'))
    return null
  const domain = domainToASCII(text.slice(cut + 1).toLowerCase())
  return DOMAIN.test(domain) ? `${local}@${domain}` : null
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

export type SaidSender =
  | { readonly address: string; readonly name?: string }
  /** Why nobody can be named. */
  | { readonly problem: string }

const MOST_FROM = 2_000

/** One From with one address, or nobody: with two, each reader would believe another one. */
export function saidSender(fields: readonly HeaderField[]): SaidSender {
  const from = fieldsNamed(fields, 'from')
  if (from.length !== 1) return { problem: `From stands there ${from.length} times, and once is right` }
  const [value = ''] = from
  if (value.length > MOST_FROM) return { problem: 'From is too long' }
  // Where two readers could find two addresses, one of them would be the one that was proven.
  const bare = value.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/\([^()]*\)/g, '')
  if (bare.split('@').length !== 2 || bare.split('<').length > 2)
    return { problem: 'From names not exactly one address' }
  const mailboxes = addressParser(value, { flatten: true })
  const [only] = mailboxes
  if (mailboxes.length !== 1 || !only?.address)
    return { problem: `From names ${mailboxes.length} senders, and one is right` }
  const address = normalAddress(only.address)
  if (address === null) return { problem: 'From is no address that could be answered' }
  const name = shownName(decodeWords(only.name ?? ''))
  return name === '' ? { address } : { address, name }
}

/** A name as it can be shown: one line, and nothing that cannot be seen. */
function shownName(name: string): string {
  return name
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, 100)
}

export function subjectOf(fields: readonly HeaderField[]): string {
  const raw = (fieldNamed(fields, 'subject') ?? '').slice(0, 4_000)
  return decodeWords(raw)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, 300)
}

/** Where a mail was delivered to, the surest header first. */
const DELIVERED = ['delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to', 'to', 'cc']
const MOST_LOOKED_AT = 65_536
const MOST_TAG = 100
const TAG = /^[a-z0-9][a-z0-9._=-]{0,99}$/

/** What stands between plus and at of our own address; null: nothing does. */
export function plusTag(fields: readonly HeaderField[], own: string): string | null {
  const cut = own.lastIndexOf('@')
  const [before, after] = [`${own.slice(0, cut)}+`, own.slice(cut)]
  for (const name of DELIVERED) {
    for (const value of fieldsNamed(fields, name).slice(0, 10)) {
      const text = value.slice(0, MOST_LOOKED_AT).toLowerCase()
      let at = text.indexOf(before)
      while (at >= 0) {
        // A tag is short: to look for its end in all that follows would be quadratic.
        const rest = text.slice(at + before.length, at + before.length + MOST_TAG + after.length)
        const tag = rest.slice(0, Math.max(0, rest.indexOf(after)))
        if (TAG.test(tag)) return tag
        at = text.indexOf(before, at + before.length)
      }
    }
  }
  return null
}
