// What an agent's tools do, for every carrier of the call. All messages go through the outlet.
import {
  type ServiceToolSource,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
} from '../../contract/index.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { Links } from '../links.ts'
import type { Notifier } from '../outbound/notify.ts'
import type { Outlet } from '../outbound/outlet.ts'
import { sendMessage } from '../outbound/send-message.ts'
import { sendMessageText } from '../outbound/send-result.ts'
import { allowedTargets, denial, isAllowedTarget } from '../people/targets.ts'
import { distrusted, distrustOf } from '../people/trust.ts'
import type { Roster } from '../roster.ts'
import type { AskForPerson } from '../takeover/ask-for-person.ts'
import { createChannelTools } from './channel-tools.ts'
import { createHandoffTool } from './handoff-tool.ts'
import type { SendableFiles } from './kept-files.ts'
import { createOpenTurns } from './open-turns.ts'
import { createOwnChats } from './own-chats.ts'
import { createReadingTools } from './reading-tools.ts'
import { createReplyTool } from './reply-tool.ts'
import { createServiceTools } from './service-tools.ts'
import { createShownMessageTools } from './shown-message-tools.ts'
import { sendOutcome, toolOutcome } from './tool-outcome.ts'

export interface ToolActionsDeps {
  readonly store: StoreBesideOutlet
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Outlet
  readonly notifier: Notifier
  readonly dispatcher: Pick<Dispatcher, 'acknowledge' | 'flight' | 'settle' | 'wasLost'>
  readonly roster: Pick<Roster, 'get'>
  /** Reads files that hosts of this machine attach; absent: none. */
  readonly files?: SendableFiles
  /** Tools that the service in front lent to a session; absent: none. */
  readonly lent?: ServiceToolSource
  /** Absent: no person can be asked to take over. */
  readonly askForPerson?: AskForPerson
}

/** Every tool of ours, by the method that runs it. */
const TOOL_OF: Readonly<Record<Exclude<keyof ToolActions, 'refusalOf'>, string>> = {
  sendMessage: 'send_message',
  notifyUser: 'notify_user',
  reply: 'reply',
  react: 'react',
  editMessage: 'edit_message',
  downloadAttachment: 'download_attachment',
  fetchMessages: 'fetch_messages',
  getRoster: 'get_roster',
  ack: 'ack',
  pendingMessages: 'pending_messages',
  handoff: 'handoff',
  channelList: 'channel_list',
  channelSend: 'channel_send',
  channelStatus: 'channel_status',
  serviceTools: 'service_tools',
  callServiceTool: 'call_service_tool',
}

/** A service's tool is judged by its own name, however it is called. */
function judged(tool: string, input: { readonly name?: unknown }): { tool: string; own: boolean } {
  return tool === TOOL_OF.callServiceTool && typeof input.name === 'string'
    ? { tool: input.name, own: false }
    : { tool, own: true }
}

/** Returns the tools. Every call is checked against trust first, for every carrier. */
export function createToolActions(deps: ToolActionsDeps): ToolActions {
  const actions = createTools(deps)
  const guarded = Object.entries(TOOL_OF).map(([verb, tool]) => {
    const run = actions[verb as keyof typeof TOOL_OF] as (
      caller: ToolCaller,
      input: never,
    ) => Promise<ToolOutcome>
    return [
      verb,
      async (caller: ToolCaller, input: never) => {
        const refused = await distrustOf(caller, judged(tool, input), deps)
        if (refused === null) return run(caller, input)
        return toolOutcome(() => Promise.reject(distrusted(refused)))
      },
    ]
  })
  return {
    ...(Object.fromEntries(guarded) as Omit<ToolActions, 'refusalOf'>),
    async refusalOf(caller, { tool, own, input }) {
      const { platform, target } = input ?? {}
      const isSend =
        own && tool === 'send_message' && typeof platform === 'string' && typeof target === 'string'
      const entries = allowedTargets(deps.settings(), caller.agent)
      if (isSend && !isAllowedTarget(entries, platform, target))
        return denial(entries, platform, target).message
      return distrustOf(caller, { tool, own }, deps)
    },
  }
}

function createTools(deps: ToolActionsDeps): ToolActions {
  const chats = createOwnChats(deps)
  const turns = createOpenTurns(deps)
  return {
    ...createReadingTools(deps, chats),
    ...createChannelTools(deps),
    ...createHandoffTool(deps, chats),
    ...createReplyTool(deps, chats, turns),
    ...createServiceTools(deps, chats),
    ...createShownMessageTools(deps, chats),

    sendMessage: (caller, input) =>
      toolOutcome(async () => {
        const result = await sendMessage(deps, caller, input)
        return sendOutcome(result, sendMessageText(result, `${input.platform}:${input.target}`))
      }),

    notifyUser: (caller, input) =>
      toolOutcome(async () => {
        const { result, channel, to, text } = await deps.notifier.notify(caller, input)
        return sendOutcome(result, text, { channel, ...(to === null ? {} : { to }) })
      }),

    ack: (caller, input) =>
      toolOutcome(async () => {
        const turn = await turns.waiting(caller, input.messageId)
        if (!turn)
          throw new SwitchboardError('not_found', `message_id "${input.messageId}" does not wait for you`)
        await deps.dispatcher.acknowledge(turn)
        return { text: 'acknowledged', isError: false, structured: { ok: true, turn: turn.id } }
      }),
  }
}
