// The tools `react` and `edit_message`: changes to messages that are already shown.
import {
  everyRow,
  type NewSend,
  type SendRow,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
  withoutNulls,
} from '../../contract/index.ts'
import type { Links } from '../links.ts'
import type { Outlet } from '../outbound/outlet.ts'
import { sentText } from '../outbound/send-result.ts'
import type { OwnChats } from './own-chats.ts'
import { sendOutcome, toolOutcome } from './tool-outcome.ts'

/**
 * How many of the agent's messages in a chat are searched for an edit. The error says when this limit was reached.
 */
const LOOKED_BACK = 50_000

export function createShownMessageTools(
  deps: { readonly store: StoreBesideOutlet; readonly links: Links; readonly outlet: Outlet },
  chats: OwnChats,
): Pick<ToolActions, 'react' | 'editMessage'> {
  const { store, outlet } = deps

  const one = async (send: NewSend, done: string): Promise<ToolOutcome> => {
    const { result } = await outlet.post([send])
    return sendOutcome(result, sentText(result, done))
  }

  const shown = (caller: ToolCaller, to: NewSend['to'], op: NewSend['op']): NewSend => ({
    to,
    platform: outlet.running(to.integration).platform,
    op,
    cause: 'reply',
    agent: caller.agent,
    session: caller.session,
    turn: caller.turn,
    ...withoutNulls({ idempotencyKey: caller.idempotencyKey }),
  })

  /** A message of this agent in that conversation. */
  const ownMessage = async (caller: ToolCaller, to: NewSend['to'], id: string): Promise<SendRow> => {
    const { integration, conversation } = to
    const mine = { agent: caller.agent, integration, conversation }
    let looked = 0
    for await (const row of everyRow((page) => store.sends({ ...mine, ...page }))) {
      if (row.platformIds.includes(id)) return row
      if (++looked < LOOKED_BACK) continue
      throw new SwitchboardError(
        'not_found',
        `message_id "${id}" is not among your latest ${LOOKED_BACK} messages there`,
      )
    }
    throw new SwitchboardError('not_found', `message_id "${id}" is not a message of yours`)
  }

  return {
    react: (caller, input) =>
      toolOutcome(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'reactions')
        const on = await chats.messageId(caller, to, input.messageId)
        return one(shown(caller, to, { kind: 'react', on, emoji: input.emoji }), 'reacted')
      }),

    editMessage: (caller, input) =>
      toolOutcome(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'edits')
        await ownMessage(caller, to, input.messageId)
        const plain = input.plain ? ({ plain: true } as const) : {}
        const op = { kind: 'edit', on: input.messageId, text: input.text, ...plain } as const
        return one(shown(caller, to, op), `edited (id: ${input.messageId})`)
      }),
  }
}

function able(links: Links, integration: string, what: 'reactions' | 'edits'): void {
  if (links.get(integration)?.adapter.abilities[what]) return
  throw new SwitchboardError('execution_failed', `integration "${integration}" has no ${what}`)
}
