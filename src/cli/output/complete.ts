// How far an integration is known to have missed nothing, in words: "complete until T", "behind", "cannot be checked".
import type { StatusReport } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'

export function completeText({
  state,
  until,
  detail,
}: StatusReport['integrations'][number]['complete']): string {
  const words = wordsIn().reports.complete
  if (state === 'unchecked') return words.unchecked
  return state === 'complete' ? words.until({ until }) : words.behind({ since: until, detail })
}
