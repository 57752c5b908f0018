// A DKIM signature, verified here against the keys in DNS: for mailboxes whose server writes no Authentication-Results.
import { Resolver } from 'node:dns/promises'
import { domainOf } from './addresses.ts'
import type { Proof } from './verify.ts'

/** TXT records of a name, as `node:dns` gives them. Throws with a `code`. */
export type TxtLookUp = (name: string) => Promise<string[][]>

const TRIES = 3
const MOST_SIGNATURES = 5

export const systemTxt: TxtLookUp = (name) => new Resolver({ timeout: 3_000, tries: 2 }).resolveTxt(name)

interface Signature {
  readonly signingDomain?: string
  readonly canonBodyLengthLimited?: boolean
  readonly status?: { readonly result?: string; readonly aligned?: string | false; readonly comment?: string }
}

/** `pass` of a signature whose domain is the sender's own, over the whole body. A name server that is away is asked again. */
export async function verifyDkim(raw: Uint8Array, sender: string, lookUp: TxtLookUp): Promise<Proof> {
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js')
  const domain = domainOf(sender)
  let why = 'no signature'
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const { results } = await dkimVerify(Buffer.from(raw), {
      resolver: (name: string, type: string) => (type === 'TXT' ? lookUp(name) : Promise.resolve([])),
      maxSigs: MOST_SIGNATURES,
    })
    const signatures: readonly Signature[] = results ?? []
    if (signatures.some((one) => isProof(one, domain))) return { proven: true, by: 'dkim, verified here' }
    why = signatures.map(inWords).slice(0, MOST_SIGNATURES).join('; ') || why
    if (!signatures.some(({ status }) => status?.result === 'temperror')) break
  }
  return { proven: false, why: `DKIM: ${why}` }
}

/** A signature that leaves out the end of the body (`l=`) lets anybody write there. */
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
