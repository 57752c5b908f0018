// Approval ids: five random letters a–z without l. They are easy to type on a phone and contain no rude words. An id
// locates a request; it never authorises anything.
import type { Random } from '../../contract/index.ts'

const ALPHABET = 'abcdefghijkmnopqrstuvwxyz'
const FORM = /^[a-km-z]{5}$/
// Word stems, matched anywhere in the id.
const RUDE = [
  'anus',
  'arse',
  'cock',
  'crap',
  'cum',
  'damn',
  'fag',
  'fuck',
  'fuk',
  'homo',
  'jew',
  'kkk',
  'nazi',
  'nig',
  'penis',
  'piss',
  'poop',
  'porn',
  'rape',
  'sex',
  'shit',
  'tits',
  'twat',
  'wank',
  'whore',
]

export function isApprovalId(text: string): boolean {
  return FORM.test(text)
}

export function freshApprovalId(random: Random): string {
  for (;;) {
    let id = ''
    // 250 is the largest multiple of 25 in a byte. Larger values would favour the first letters.
    while (id.length < 5)
      for (const byte of random.bytes(8)) if (byte < 250 && id.length < 5) id += ALPHABET[byte % 25]
    if (!RUDE.some((stem) => id.includes(stem))) return id
  }
}
