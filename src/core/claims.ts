// The texts of claims: the buttons that offer one, and the messages when it is decided. The store performs the claim.
import type { ClaimOutcome, ClaimTexts } from '../contract/index.ts'

const REPLY_HERE = 'claim:reply'
const KEEP_MY_CHAT = 'claim:keep'

export const CLAIM_CHOICES = [
  { label: '📎 Reply here', value: REPLY_HERE },
  { label: '💬 Keep my chat', value: KEEP_MY_CHAT },
] as const

export const CLAIM_TEXTS: ClaimTexts = {
  threaded: '✓ Threaded — reply when ready.',
  kept: '✓ FYI noted.',
  unreachable: 'The {label} thread cannot be reached any more. You are in your own chat.',
}

/** Returns the decision behind a claim's button; null for any other button. */
export function claimVerdict(value: string): 'reply' | 'keep' | null {
  if (value === REPLY_HERE) return 'reply'
  return value === KEEP_MY_CHAT ? 'keep' : null
}

/** Returns the text shown to the person who tapped. */
export function claimAnswer(outcome: ClaimOutcome): string {
  switch (outcome) {
    case 'claimed':
      return 'Threaded.'
    case 'kept':
      return 'Noted.'
    case 'unreachable':
      return 'Session unavailable.'
    case 'late':
    case 'none':
      return 'Expired.'
  }
}
