// Is a mail really from whom it says? By what the receiving server wrote (Authentication-Results of the named id alone), or by
// a DKIM signature that is checked here. Names and Reply-To prove nothing. Deny is the default.
import { domainOf } from './addresses.ts'
import { fieldNamed, type HeaderField } from './headers.ts'

export type Proof =
  | { readonly proven: true; readonly by: string }
  | { readonly proven: false; readonly why: string }

export interface AuthResult {
  readonly method: string
  readonly result: string
  readonly props: ReadonlyMap<string, string>
}

export interface AuthResults {
  /** Null: it names no server. */
  readonly id: string | null
  readonly results: readonly AuthResult[]
}

const MOST_VALUE = 16_384
const MOST_RESULTS = 100
const MOST_FIELDS = 50

/** Comments are gone, and what is quoted can neither end a result nor begin one. */
export function parseAuthResults(value: string): AuthResults {
  const [first = '', ...rest] = bare(value.slice(0, MOST_VALUE)).split(';')
  const [id = ''] = first.trim().split(/\s+/)
  const isResult = first.includes('=')
  const parts = isResult ? [first, ...rest] : rest
  const results = parts.slice(0, MOST_RESULTS).flatMap((part) => resultOf(part) ?? [])
  return { id: isResult || id === '' ? null : id.toLowerCase(), results }
}

function bare(value: string): string {
  let depth = 0
  let quoted = false
  let out = ''
  for (let at = 0; at < value.length; at++) {
    const char = value[at] ?? ''
    if (char === '\\' && (quoted || depth > 0)) {
      at += 1
      continue
    }
    if (char === '"' && depth === 0) quoted = !quoted
    else if (quoted) out += /[;=\s()]/.test(char) ? '_' : char
    else if (char === '(') depth += 1
    else if (char === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) out += char
  }
  return out
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
  for (const word of rest) {
    const at = word.indexOf('=')
    const key = word.slice(0, at).toLowerCase()
    // The first one counts: a second of that name was not written by a server.
    if (at > 0 && !props.has(key)) props.set(key, word.slice(at + 1).toLowerCase())
  }
  return {
    method: (head.slice(0, cut).split('/')[0] ?? '').toLowerCase(),
    result: head.slice(cut + 1).toLowerCase(),
    props,
  }
}

/** `mx.example.org`, or `*.example.org` where a provider has many. */
function isNamed(id: string | null, wanted: readonly string[]): boolean {
  if (id === null) return false
  return wanted.some((one) => {
    const name = one.toLowerCase()
    return name.startsWith('*.') ? id.endsWith(name.slice(1)) && id.length > name.length - 1 : id === name
  })
}

/**
 * Null: the named server wrote nothing. Only the block that stands highest counts, up to the next hop (Received): whoever
 * sent the mail can write below it what they like. Of a method the first header that tells it counts.
 */
export function judgeResults(
  fields: readonly HeaderField[],
  wanted: readonly string[],
  sender: string,
): Proof | null {
  const told = new Map<string, readonly AuthResult[]>()
  let found = 0
  for (const { name, value } of fields) {
    if (name === 'received' && found > 0) break
    if (name !== 'authentication-results' || found >= MOST_FIELDS) continue
    const { id, results } = parseAuthResults(value)
    if (!isNamed(id, wanted)) continue
    found += 1
    for (const method of new Set(results.map((one) => one.method)))
      if (!told.has(method))
        told.set(
          method,
          results.filter((one) => one.method === method),
        )
  }
  return found === 0 ? null : judged(told, domainOf(sender))
}

function judged(told: ReadonlyMap<string, readonly AuthResult[]>, domain: string): Proof {
  const dmarc = told.get('dmarc') ?? []
  if (dmarc.some(({ result }) => result === 'fail' || result === 'reject' || result === 'quarantine'))
    return { proven: false, why: 'the server says dmarc=fail' }
  if (dmarc.some(({ result, props }) => result === 'pass' && props.get('header.from') === domain))
    return { proven: true, by: 'dmarc' }
  const spf = told.get('spf') ?? []
  if (spf.some(({ result, props }) => result === 'pass' && domainIn(props.get('smtp.mailfrom')) === domain))
    return { proven: true, by: 'spf' }
  const dkim = told.get('dkim') ?? []
  const signed = ({ props }: AuthResult) =>
    props.get('header.d') === domain || domainIn(props.get('header.i')) === domain
  if (dkim.some((one) => one.result === 'pass' && signed(one))) return { proven: true, by: 'dkim' }
  const shown = [...told].flatMap(([method, [first]]) => (first ? [`${method}=${first.result}`] : []))
  return {
    proven: false,
    why: `the server’s results prove nothing for ${domain} (${shown.slice(0, 5).join(', ') || 'none'})`,
  }
}

function domainIn(value: string | undefined): string | undefined {
  return value === undefined ? undefined : domainOf(value)
}

export interface Proving {
  readonly required: boolean
  readonly authservIds: readonly string[]
  /** Checks the signature of the whole mail. Null: it is not checked here. */
  readonly dkim: (() => Promise<Proof>) | null
}

/** A header of the named server decides; where there is none, the signature does. */
export async function proveSender(
  fields: readonly HeaderField[],
  sender: string,
  { required, authservIds, dkim }: Proving,
): Promise<Proof> {
  if (!required) return { proven: true, by: 'nothing: require_auth_results is off' }
  const judged = judgeResults(fields, authservIds, sender)
  if (judged !== null) return judged
  const missing =
    authservIds.length === 0
      ? 'no authserv_id is configured'
      : `no Authentication-Results of ${authservIds.join(', ')}`
  if (dkim === null) return { proven: false, why: `${missing}, and DKIM is not verified here` }
  if (fieldNamed(fields, 'dkim-signature') === undefined)
    return { proven: false, why: `${missing}, and the mail has no DKIM signature` }
  const proof = await dkim()
  return proof.proven ? proof : { proven: false, why: `${missing}; ${proof.why}` }
}
