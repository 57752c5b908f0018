// Verifies a DKIM signature against the keys in DNS, for mailboxes whose server writes no Authentication-Results.
import { Resolver } from 'node:dns/promises'
import { Readable } from 'node:stream'
import { domainOf } from './addresses.ts'
import type { Proof } from './verify.ts'

/** TXT records of a name, as `node:dns` gives them. Throws with a `code`. */
export type TxtLookUp = (name: string) => Promise<string[][]>

const TRIES = 3
const MOST_SIGNATURES = 5
/** Larger mails are not verified: the time grows with bytes and lines, and with the square of the header. */
export const MOST_DKIM_BYTES = 33_554_432
const MOST_LINES = 1_000_000
const MOST_BLANK_LINES = 10_000
const MOST_HEADER_BYTES = 131_072
const MOST_HEADER_LINES = 2_000
const MOST_SIGNATURE_BYTES = 8_192

export const systemTxt: TxtLookUp = (name) => new Resolver({ timeout: 3_000, tries: 2 }).resolveTxt(name)

interface Signature {
  readonly signingDomain?: string
  readonly canonBodyLengthLimited?: boolean
  readonly status?: { readonly result?: string; readonly aligned?: string | false; readonly comment?: string }
}

/** Accepts `pass` for a signature of the sender's own domain over the whole body. If DNS is away, it is asked again. */
export async function verifyDkim(raw: Uint8Array, sender: string, lookUp: TxtLookUp): Promise<Proof> {
  const domain = domainOf(sender)
  const signed = withSignaturesOf(domain, raw)
  if ('why' in signed) return { proven: false, why: `DKIM: ${signed.why}` }
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
  let why = 'no signature'
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    // In one piece, because the verifier reads a line anew with each piece.
    const { results } = await dkimVerify(Readable.from([signed.mail]), {
      resolver: (name: string, type: string) =>
        type === 'TXT' && name.toLowerCase().endsWith(`._domainkey.${domain}`)
          ? lookUp(name)
          : Promise.resolve([]),
    })
    const signatures: readonly Signature[] = results ?? []
    if (signatures.some((one) => isProof(one, domain))) return { proven: true, by: 'dkim, verified here' }
    why = signatures.map(inWords).join('; ') || why
    if (!signatures.some(({ status }) => status?.result === 'temperror')) break
  }
  return { proven: false, why: `DKIM: ${why}` }
}

/**
 * Returns the mail with only the signatures that could prove the sender. Each other one would cost a pass over the
 * body, and a DNS query that the sender chose. Lines end as they were transmitted.
 */
function withSignaturesOf(
  domain: string,
  raw: Uint8Array,
): { readonly mail: Buffer } | { readonly why: string } {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const problem = tooMuch(bytes)
  if (problem !== null) return { why: `not verified: ${problem}` }
  const head = bytes.toString('latin1', 0, MOST_HEADER_BYTES)
  const end = head.search(/\n\r?\n/)
  if (end < 0) return { why: `not verified: the header is longer than ${MOST_HEADER_BYTES} bytes` }
  const header = wired(head.slice(0, end + 1))
  if (header.split('\n').length > MOST_HEADER_LINES)
    return { why: `not verified: the header has more than ${MOST_HEADER_LINES} lines` }
  const unfit: string[] = []
  let fit = 0
  const kept = header.split(/(?<=\n)(?![ \t])/).filter((field) => {
    if (/^arc-/i.test(field)) return false
    if (!/^dkim-signature[ \t]*:/i.test(field)) return true
    const why = whyUnfit(field, domain)
    if (why === null) fit += 1
    else unfit.push(why)
    return why === null && fit <= MOST_SIGNATURES
  })
  if (fit === 0) return { why: unfit.slice(0, MOST_SIGNATURES).join('; ') || 'no signature' }
  const body = wired(bytes.toString('latin1', end + 1))
  return { mail: Buffer.from(kept.join('') + body, 'latin1') }
}

const wired = (text: string) => text.replace(/(?<!\r)\n/g, '\r\n')

/** Null: any content of this size is verified quickly. */
function tooMuch(bytes: Buffer): string | null {
  if (bytes.length > MOST_DKIM_BYTES) return `the mail is larger than ${MOST_DKIM_BYTES / 1_048_576} MB`
  let lines = 0
  let blank = 0
  let start = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    lines += 1
    while (start < end && isBlank(bytes[start])) start += 1
    blank = start === end ? blank + 1 : 0
    if (lines > MOST_LINES) return `the mail has more than ${MOST_LINES} lines`
    if (blank > MOST_BLANK_LINES) return `the mail has ${MOST_BLANK_LINES} empty lines together`
    start = end + 1
  }
  return null
}

const isBlank = (byte: number | undefined) => byte === 32 || byte === 9 || byte === 13

/** Null: it may prove a sender of this domain. SHA-1 proves nothing (RFC 8301). */
function whyUnfit(field: string, domain: string): string | null {
  const tag = (name: string) =>
    new RegExp(`[:;]\\s*${name}\\s*=([^;]*)`, 'i').exec(field)?.[1]?.replace(/\s+/g, '')
  const signer = (tag('d') ?? '?').slice(0, 100)
  if (field.length > MOST_SIGNATURE_BYTES)
    return `${signer}: a signature of more than ${MOST_SIGNATURE_BYTES} bytes`
  if (signer.toLowerCase() !== domain) return `${signer} is not the sender’s domain`
  if (tag('l') !== undefined) return `${signer} signs only a part of the body`
  return /-sha1$/i.test(tag('a') ?? '') ? `${signer} signs with SHA-1` : null
}

/** A signature that leaves out the end of the body (`l=`) proves nothing, because anything can be appended. */
function isProof({ signingDomain, status, canonBodyLengthLimited }: Signature, domain: string): boolean {
  return (
    status?.result === 'pass' &&
    canonBodyLengthLimited !== true &&
    (signingDomain?.toLowerCase() === domain || status.aligned === domain)
  )
}

function inWords({ signingDomain = '?', status, canonBodyLengthLimited }: Signature): string {
  const result = status?.result ?? 'none'
  const limited = canonBodyLengthLimited === true ? ', signs only a part of the body' : ''
  const comment = status?.comment === undefined ? '' : ` (${String(status.comment).slice(0, 80)})`
  return `${signingDomain.slice(0, 100)}=${result}${comment}${limited}`
}
