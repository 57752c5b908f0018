// A mail as IMAP shows it: the items of FETCH and the matching of SEARCH.

import { inSet, type Word } from './imap-words.ts'
import type { FakeMail } from './mail-world.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Returns the items as bytes, in the requested order. Throws with the name of an item that is not emulated. */
export function fetched(mail: FakeMail, items: readonly Word[]): Buffer {
  const parts: Buffer[] = []
  const flat = items.flatMap((item) => (typeof item === 'string' ? [item] : []))
  for (const item of flat) {
    if (parts.length > 0) parts.push(Buffer.from(' '))
    parts.push(itemOf(mail, item))
  }
  return Buffer.concat(parts)
}

function itemOf(mail: FakeMail, item: string): Buffer {
  const upper = item.toUpperCase()
  switch (upper) {
    case 'UID':
      return Buffer.from(`UID ${mail.uid}`)
    case 'FLAGS':
      return Buffer.from(`FLAGS (${[...mail.flags].join(' ')})`)
    case 'RFC822.SIZE':
      return Buffer.from(`RFC822.SIZE ${mail.raw.length}`)
    case 'INTERNALDATE':
      return Buffer.from(`INTERNALDATE "${imapDate(mail.at)}"`)
    default:
      return bodyOf(mail, item)
  }
}

function bodyOf(mail: FakeMail, item: string): Buffer {
  const [, section = '', start, length] = /^BODY(?:\.PEEK)?\[([^\]]*)\](?:<(\d+)\.(\d+)>)?$/i.exec(item) ?? []
  if (!/^BODY(\.PEEK)?\[/i.test(item)) throw new Error(`FETCH of ${item.slice(0, 40)} is not emulated`)
  const whole = sectionOf(mail.raw, section)
  const from = Number(start ?? 0)
  const bytes = start === undefined ? whole : whole.subarray(from, from + Number(length))
  const name = `BODY[${section}]${start === undefined ? '' : `<${from}>`}`
  return Buffer.concat([Buffer.from(`${name} {${bytes.length}}\r\n`), bytes])
}

function sectionOf(raw: Buffer, section: string): Buffer {
  const end = raw.indexOf('\r\n\r\n')
  const header = end < 0 ? raw : raw.subarray(0, end + 4)
  if (section === '') return raw
  if (section.toUpperCase() === 'HEADER') return header
  if (section.toUpperCase() === 'TEXT') return end < 0 ? Buffer.alloc(0) : raw.subarray(end + 4)
  const [, names] = /^HEADER\.FIELDS \(([^)]*)\)$/i.exec(section) ?? []
  if (names === undefined) throw new Error(`BODY[${section.slice(0, 40)}] is not emulated`)
  const wanted = new Set(names.toLowerCase().replaceAll('"', '').split(' '))
  const lines = fieldsOf(header).filter(({ name }) => wanted.has(name))
  return Buffer.from(`${lines.map(({ line }) => `${line}\r\n`).join('')}\r\n`, 'latin1')
}

function fieldsOf(header: Buffer): readonly { readonly name: string; readonly line: string }[] {
  return header
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '')
    .map((line) => ({ name: line.slice(0, Math.max(0, line.indexOf(':'))).toLowerCase(), line }))
}

/** Returns a test that requires all of the words. Throws with the name of a word that is not emulated. */
export function searches(
  words: readonly Word[],
  most: { readonly uid: number; readonly seq: number },
): (mail: FakeMail, seq: number) => boolean {
  const tests: ((mail: FakeMail, seq: number) => boolean)[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    const next = () => String(words[++at] ?? '')
    if (typeof word !== 'string') {
      tests.push(searches(word ?? [], most))
      continue
    }
    const upper = word.toUpperCase()
    if (upper === 'CHARSET') next()
    else if (upper === 'UID') {
      const within = inSet(next(), most.uid)
      tests.push(({ uid }) => within(uid))
    } else if (upper === 'SINCE') {
      const since = Date.parse(`${next()} 00:00 UTC`)
      tests.push(({ at: arrived }) => arrived >= since)
    } else if (upper === 'HEADER') {
      const [name, value] = [next().toLowerCase(), next().toLowerCase()]
      tests.push((mail) => headerHas(mail, name, value))
    } else if (upper === 'SEEN' || upper === 'UNSEEN')
      tests.push(({ flags }) => flags.has('\\Seen') === (upper === 'SEEN'))
    else if (/^[\d:,*]+$/.test(word)) {
      const within = inSet(word, most.seq)
      tests.push((_mail, seq) => within(seq))
    } else if (upper !== 'ALL') throw new Error(`SEARCH ${word.slice(0, 40)} is not emulated`)
  }
  return (mail, seq) => tests.every((test) => test(mail, seq))
}

/** Matches a part of the value in any case, as servers do. */
function headerHas({ raw }: FakeMail, name: string, value: string): boolean {
  const end = raw.indexOf('\r\n\r\n')
  return fieldsOf(end < 0 ? raw : raw.subarray(0, end)).some(
    (field) => field.name === name && field.line.toLowerCase().includes(value),
  )
}

function imapDate(at: number): string {
  const date = new Date(at)
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${String(date.getUTCDate()).padStart(2, ' ')}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()}`
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`
}
