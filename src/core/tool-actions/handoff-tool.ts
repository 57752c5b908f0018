// The tool by which an agent asks for a person in its own conversation.
import {
  formatAddress,
  heldByText,
  integrationById,
  type Settings,
  SwitchboardError,
  type ToolActions,
} from '../../contract/index.ts'
import { isOneWay, type Links } from '../links.ts'
import type { AskForPerson } from '../takeover/ask-for-person.ts'
import type { OwnChats } from './own-chats.ts'
import { toolOutcome } from './tool-outcome.ts'

export function createHandoffTool(
  deps: {
    readonly settings: () => Settings
    readonly links: Links
    readonly askForPerson?: AskForPerson
  },
  chats: OwnChats,
): Pick<ToolActions, 'handoff'> {
  return {
    handoff: (caller, { chatId, reason, summary }) =>
      toolOutcome(async () => {
        const at = await chats.mine(caller, chatId)
        const integration = integrationById(deps.settings(), at.integration)
        if (!integration || isOneWay(deps.links, at.integration))
          throw new SwitchboardError('execution_failed', `nobody can write at ${formatAddress(at)}`)
        if (!deps.askForPerson)
          throw new SwitchboardError('execution_failed', 'nobody can be asked to take over here')
        const { asked, takeover } = await deps.askForPerson({
          ...{ at, platform: integration.platform, agent: caller.agent, by: `agent:${caller.agent}` },
          ...{ reason, summary: summary ?? null },
        })
        if (takeover.state === 'held')
          throw new SwitchboardError('held', `this conversation is ${heldByText(takeover)} already`)
        const text = asked
          ? 'A person was asked to take over. Until somebody does, you go on.'
          : 'A person was asked to take over before. Until somebody does, you go on.'
        return { text, isError: false, structured: { ok: true, asked, state: takeover.state } }
      }),
  }
}
