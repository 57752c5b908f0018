// Messages that the connector itself sends for a turn.
import type { AgentOutlet, Delivery } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'

export interface Notices {
  lost(delivery: Delivery): Promise<void>
  /** The message is a button of a question that is no longer open. It does not go to the model. */
  pickedTooLate(delivery: Delivery): Promise<void>
  /** The message answered a question. It gets no other answer. */
  taken(delivery: Delivery): Promise<void>
}

export function createNotices(session: string, outlet: () => AgentOutlet): Notices {
  const seen = (turn: string) => outlet().accept({ kind: 'evidence', turn, of: 'seen' })
  return {
    async lost({ turn }) {
      const key = { idempotencyKey: `claude-code:lost:${turn}` }
      await outlet()
        .accept({ kind: 'say', session, turn, text: wordsIn().work.conversationLost, ...key })
        .catch(() => undefined)
    },
    async pickedTooLate({ turn }) {
      const key = { idempotencyKey: `claude-code:picked:${turn}` }
      await seen(turn)
      await outlet().accept({
        ...{ kind: 'say', session, turn, text: wordsIn().work.questionOver, final: true, sole: true },
        ...key,
      })
    },
    async taken({ turn }) {
      await seen(turn)
      await outlet().accept({ kind: 'evidence', turn, of: 'answered', covered: true })
    },
  }
}
