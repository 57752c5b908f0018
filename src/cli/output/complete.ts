// How far an integration is known to have missed nothing, in words: "complete until T", "behind", "cannot be checked".
import type { StatusReport } from '../../contract/index.ts'

export function completeText({
  state,
  until,
  detail,
}: StatusReport['integrations'][number]['complete']): string {
  if (state === 'unchecked') return 'cannot be checked'
  if (state === 'complete') return `complete until ${until ?? 'now'}`
  const since = until === null ? 'behind' : `behind since ${until}`
  return detail === undefined ? since : `${since}: ${detail}`
}
