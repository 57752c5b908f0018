// What the connector itself says of a turn, in the agent's place.
import type { AgentOutlet, Delivery } from '../../contract/index.ts'

const PICKED_LATE = 'That question is over, or it was asked of somebody else.'
const LOST_WORDS =
  'The earlier conversation with the agent could not be found on its machine: a new one was begun, which knows nothing of it.'

export interface Notices {
  lost(delivery: Delivery): Promise<void>
  /** A button of a question that nobody waits for: it is no message to the model. */
  pickedTooLate(delivery: Delivery): Promise<void>
  /** It was the answer to a question: nothing else will be said to it. */
  taken(delivery: Delivery): Promise<void>
}

export function createNotices(session: string, outlet: () => AgentOutlet): Notices {
  const seen = (turn: string) => outlet().accept({ kind: 'evidence', turn, of: 'seen' })
  return {
    async lost({ turn }) {
      const key = { idempotencyKey: `claude-code:lost:${turn}` }
      await outlet()
        .accept({ kind: 'say', session, turn, text: LOST_WORDS, ...key })
        .catch(() => undefined)
    },
    async pickedTooLate({ turn }) {
      const key = { idempotencyKey: `claude-code:picked:${turn}` }
      await seen(turn)
      await outlet().accept({
        ...{ kind: 'say', session, turn, text: PICKED_LATE, final: true, sole: true },
        ...key,
      })
    },
    async taken({ turn }) {
      await seen(turn)
      await outlet().accept({ kind: 'evidence', turn, of: 'answered', covered: true })
    },
  }
}
