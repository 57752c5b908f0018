// Whether a mail is from its claimed sender. The proof is the receiving server's Authentication-Results (of the
// configured id only), or a DKIM signature that is verified here. Names and Reply-To prove nothing. Deny is the
// default.
import { domainOf, normalAddress } from './addresses.ts'
import { fieldNamed, fieldsNamed, type HeaderField } from './headers.ts'

export type Proof =
  | { readonly proven: true; readonly by: string }
  /** `misplaced`: the named server's results stand where a sender could have written them. */
  | { readonly proven: false; readonly why: string; readonly misplaced?: true }

export interface AuthResult {
  readonly method: string
  readonly result: string
  readonly props: ReadonlyMap<string, string>
}

export interface AuthResults {
  /** Null: it names no server. */
  readonly id: string | null
  readonly results: readonly AuthResult[]
  /** A comment contains a quotation mark, so the sender may have chosen where it ends and what follows. */
  readonly unclear: boolean
}

const MOST_VALUE = 16_384
const MOST_RESULTS = 100
const MOST_FIELDS = 50

/** Comments are removed, and quoted text can neither end nor begin a result. */
export function parseAuthResults(value: string): AuthResults {
  const { text, unclear } = bare(value.slice(0, MOST_VALUE))
  const [first = '', ...rest] = text.split(';')
  const [id = ''] = first.trim().split(/\s+/)
  const isResult = first.includes('=')
  const parts = isResult ? [first, ...rest] : rest
  const results = parts.slice(0, MOST_RESULTS).flatMap((part) => resultOf(part) ?? [])
  return { id: isResult || id === '' ? null : id.toLowerCase(), results, unclear }
}

function bare(value: string): { readonly text: string; readonly unclear: boolean } {
  let depth = 0
  let quoted = false
  let unclear = false
  let out = ''
  for (let at = 0; at < value.length; at++) {
    const char = value[at] ?? ''
    if (char === '\\' && (quoted || depth > 0)) {
      at += 1
      continue
    }
    if (char === '"' && depth > 0) unclear = true
    else if (char === '"') quoted = !quoted
    else if (quoted) out += /[;=\s()]/.test(char) ? '_' : char
    else if (char === '(') depth += 1
    else if (char === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) out += char
  }
  return { text: out, unclear }
}

function resultOf(part: string): AuthResult | null {
  const [head = '', ...rest] = part
    .split('=')
    .map((side) => side.trim())
    .join('=')
    .split(/\s+/)
  const cut = head.indexOf('=')
  if (cut < 1) return null
  const props = new Map<string, string>()
  let last = ''
  for (const word of rest) {
    const at = word.indexOf('=')
    // Text without a name belongs to the previous value, which then is no single address or domain.
    if (at < 1) {
      if (last !== '') props.set(last, `${props.get(last)} ${word.toLowerCase()}`)
      continue
    }
    const key = word.slice(0, at).toLowerCase()
    last = key
    const value = word.slice(at + 1).toLowerCase()
    // Servers write no property twice. A second one makes the value invalid.
    props.set(key, props.has(key) ? `${props.get(key)} ${value}` : value)
  }
  return {
    method: (head.slice(0, cut).split('/')[0] ?? '').toLowerCase(),
    result: head.slice(cut + 1).toLowerCase(),
    props,
  }
}

/** `mx.example.org`, or `*.example.org` for providers with many servers. */
function isNamed(id: string | null, wanted: readonly string[]): boolean {
  if (id === null) return false
  return wanted.some((one) => {
    const name = one.toLowerCase()
    return name.startsWith('*.') ? id.endsWith(name.slice(1)) && id.length > name.length - 1 : id === name
  })
}

/** Whose results count, and where they may stand. */
export interface ResultsTrust {
  readonly authservIds: readonly string[]
  /** The server removes headers of its own name from incoming mail, and writes its own below a `Received`. */
  readonly belowReceived: boolean
}

/**
 * Null: the named server wrote nothing. Only results above the topmost `Received` count, because a sender can write
 * everything below it. With `belowReceived` the topmost block counts, up to the next `Received`. The first header with
 * a method counts for it.
 */
export function judgeResults(
  fields: readonly HeaderField[],
  { authservIds, belowReceived }: ResultsTrust,
  sender: string,
): Proof | null {
  const told = new Map<string, readonly AuthResult[]>()
  let found = 0
  let misplaced = 0
  let isBelow = false
  for (const { name, value } of fields) {
    if (name === 'received') {
      if (found > 0) break
      isBelow = true
    }
    if (name !== 'authentication-results' || found + misplaced >= MOST_FIELDS) continue
    const { id, results, unclear } = parseAuthResults(value)
    if (!isNamed(id, authservIds)) continue
    if (isBelow && !belowReceived) {
      misplaced += 1
      continue
    }
    if (unclear) return { proven: false, why: 'a comment in the server’s results holds a quotation mark' }
    found += 1
    for (const method of new Set(results.map((one) => one.method)))
      if (!told.has(method))
        told.set(
          method,
          results.filter((one) => one.method === method),
        )
  }
  if (found > 0) return judged(told, domainOf(sender))
  if (misplaced === 0) return null
  return {
    proven: false,
    why: `the results of ${authservIds.join(', ')} stand below the topmost Received, where a sender could have written them (results_below_received)`,
    misplaced: true,
  }
}

function judged(told: ReadonlyMap<string, readonly AuthResult[]>, domain: string): Proof {
  const dmarc = told.get('dmarc') ?? []
  if (dmarc.some(({ result }) => result === 'fail' || result === 'reject' || result === 'quarantine'))
    return { proven: false, why: 'the server says dmarc=fail' }
  if (dmarc.some(({ result, props }) => result === 'pass' && props.get('header.from') === domain))
    return { proven: true, by: 'dmarc' }
  const spf = told.get('spf') ?? []
  if (
    spf.some(({ result, props }) => result === 'pass' && addressDomain(props.get('smtp.mailfrom')) === domain)
  )
    return { proven: true, by: 'spf' }
  const dkim = told.get('dkim') ?? []
  // `i` must name an address below `d` (RFC 6376). Otherwise the signer speaks for another domain.
  const signed = ({ props }: AuthResult) => {
    const [d, i] = [props.get('header.d'), signerDomain(props.get('header.i'))]
    return d === domain || (i === domain && (d === undefined || i === d || i.endsWith(`.${d}`)))
  }
  if (dkim.some((one) => one.result === 'pass' && signed(one))) return { proven: true, by: 'dkim' }
  const shown = [...told].flatMap(([method, [first]]) => (first ? [`${method}=${first.result}`] : []))
  return {
    proven: false,
    why: `the server’s results prove nothing for ${domain} (${shown.slice(0, 5).join(', ') || 'none'})`,
  }
}

/** Returns the domain of exactly one address. With two, different readers would believe different ones. */
function addressDomain(value = ''): string | null {
  const address = normalAddress(value.replace(/^<([^<>]*)>$/, '$1'))
  return address === null ? null : domainOf(address)
}

/** `@home.test`, or an address of it. */
function signerDomain(value = ''): string | null {
  const [, domain, more] = value.split('@')
  return domain === undefined || more !== undefined ? null : domain
}

export interface Proving extends ResultsTrust {
  readonly required: boolean
  /** Verifies the signature of the whole mail. Null: signatures are not verified here. */
  readonly dkim: (() => Promise<Proof>) | null
}

/**
 * Fields that are read besides From, each allowed once. A signature covers the lowest field of a name, and the highest
 * is read. So with a second field, somebody could put other words above a signed mail and send it again.
 */
const ONCE = [
  'subject',
  'message-id',
  'in-reply-to',
  'references',
  'content-type',
  'content-transfer-encoding',
]

/** A header of the named server proves a sender, or a signature that is verified here. */
export async function proveSender(
  fields: readonly HeaderField[],
  sender: string,
  { required, dkim, ...trust }: Proving,
): Promise<Proof> {
  if (!required) return { proven: true, by: 'nothing: require_auth_results is off' }
  const twice = ONCE.find((name) => fieldsNamed(fields, name).length > 1)
  if (twice !== undefined) return { proven: false, why: `the mail has two ${twice} fields` }
  const { authservIds } = trust
  const judged = judgeResults(fields, trust, sender)
  if (judged?.proven) return judged
  const why =
    judged?.why ??
    (authservIds.length === 0
      ? 'no authserv_id is configured'
      : `no Authentication-Results of ${authservIds.join(', ')}`)
  const unproven = (more: string): Proof => ({ ...judged, proven: false, why: why + more })
  if (dkim === null) return unproven(', and DKIM is not verified here')
  if (fieldNamed(fields, 'dkim-signature') === undefined)
    return unproven(', and the mail has no DKIM signature')
  const proof = await dkim()
  return proof.proven ? proof : unproven(`; ${proof.why}`)
}
