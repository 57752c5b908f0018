// The answer to a refused button or command. The platform shows it only to that person.
import type { Received } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'

// Other reasons would reveal to a stranger how this gateway is configured.
const TOLD: readonly (string | null)[] = ['flood', 'rate_limited', 'no_binding']

export function refusalWord({ reason }: Pick<Received, 'reason'>): string {
  const { notices, reasons } = wordsIn()
  return reason !== null && TOLD.includes(reason) ? reasons[reason] : notices.notAuthorized
}
