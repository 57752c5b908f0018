// The word for whoever pressed a button or gave a command and was refused, where the platform shows it to them alone.
import { REASONS, type Received } from '../contract/index.ts'

// Who may not speak here learns nothing more than that; who may is told what it was.
const TOLD: readonly (string | null)[] = ['flood', 'rate_limited', 'no_binding']

export function refusalWord({ reason }: Pick<Received, 'reason'>): string {
  return reason !== null && TOLD.includes(reason) ? REASONS[reason].text : 'Not authorized.'
}
