// Mail addresses: their form, the sender that a mail claims, and the part after the plus of our own address.
import { domainToASCII } from 'node:url'
import { addressParser, decodeWords } from 'postal-mime'
import { fieldNamed, fieldsNamed, type HeaderField } from './headers.ts'

const MOST_ADDRESS = 254
const MOST_LOCAL = 64
/** Spaces, controls and invisible characters (zero-width characters, marks of direction). */
const INVISIBLE = /\p{Cc}|\p{Cf}|\p{Z}|\p{M}|\u115f|\u1160|\u3164|\uffa0/u
const LOCAL = /^[^"(),:;<>@[\\\]]+$/
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/

/** Returns the address as gates compare it: lower-case, its domain in ASCII. Null: it is not a safe address. */
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
  /** Why no sender can be named. */
  | { readonly problem: string }

const MOST_FROM = 2_000

/** Accepts one From field with one address. With two, different readers would believe different ones. */
export function saidSender(fields: readonly HeaderField[]): SaidSender {
  const from = fieldsNamed(fields, 'from')
  if (from.length !== 1) return { problem: `From stands there ${from.length} times, and once is right` }
  const [value = ''] = from
  if (value.length > MOST_FROM) return { problem: 'From is too long' }
  // If two readers could find two addresses, only one of them would be proven.
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

/** Returns a name for display: one line, without invisible characters. */
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

/** Headers that name the address of delivery, the most reliable first. */
const DELIVERED = ['delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to', 'to', 'cc']
const MOST_LOOKED_AT = 65_536
const MOST_TAG = 100
const TAG = /^[a-z0-9][a-z0-9._=-]{0,99}$/

/** Returns the text between plus and at in our own address; null: there is none. */
export function plusTag(fields: readonly HeaderField[], own: string): string | null {
  const cut = own.lastIndexOf('@')
  const [before, after] = [`${own.slice(0, cut)}+`, own.slice(cut)]
  for (const name of DELIVERED) {
    for (const value of fieldsNamed(fields, name).slice(0, 10)) {
      const text = value.slice(0, MOST_LOOKED_AT).toLowerCase()
      let at = text.indexOf(before)
      while (at >= 0) {
        // A tag is short. Searching all of the rest for its end would be quadratic.
        const rest = text.slice(at + before.length, at + before.length + MOST_TAG + after.length)
        const tag = rest.slice(0, Math.max(0, rest.indexOf(after)))
        if (TAG.test(tag)) return tag
        at = text.indexOf(before, at + before.length)
      }
    }
  }
  return null
}
