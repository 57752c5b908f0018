// The buttons that offer a claim. The store performs the claim.
import type { Choice } from '../contract/index.ts'
import type { Words } from '../words/index.ts'

const REPLY_HERE = 'claim:reply'
const KEEP_MY_CHAT = 'claim:keep'

export function claimChoices({ notices: { claim } }: Words): readonly Choice[] {
  return [
    { label: claim.replyHere, value: REPLY_HERE },
    { label: claim.keepMyChat, value: KEEP_MY_CHAT },
  ]
}

/** Returns the decision behind a claim's button; null for any other button. */
export function claimVerdict(value: string): 'reply' | 'keep' | null {
  if (value === REPLY_HERE) return 'reply'
  return value === KEEP_MY_CHAT ? 'keep' : null
}
