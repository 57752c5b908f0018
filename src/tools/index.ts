// All tools as data: for MCP, for attached hosts, for in-process loops and for the reference page.
import { ack } from './ack.ts'
import { channelList } from './channel-list.ts'
import { channelSend } from './channel-send.ts'
import { channelStatus } from './channel-status.ts'
import { downloadAttachment } from './download-attachment.ts'
import { editMessage } from './edit-message.ts'
import { fetchMessages } from './fetch-messages.ts'
import { getRoster } from './get-roster.ts'
import { handoff } from './handoff.ts'
import { notifyUser } from './notify-user.ts'
import { pendingMessages } from './pending-messages.ts'
import { react } from './react.ts'
import { reply } from './reply.ts'
import { sendMessage } from './send-message.ts'
import { callServiceTool, serviceTools } from './service-tools.ts'
import type { Tool } from './tool.ts'

export { createAbsentActions } from './absent-actions.ts'
export { callTool, failedOutcome } from './call-tool.ts'
export { type AnswerWay, inputSchemaOf, isOffered, sessionSchemaOf, type Tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [
  reply,
  react,
  editMessage,
  downloadAttachment,
  fetchMessages,
  getRoster,
  ack,
  pendingMessages,
  sendMessage,
  notifyUser,
  handoff,
  channelList,
  channelSend,
  channelStatus,
  serviceTools,
  callServiceTool,
]

const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]))

export function toolByName(name: string): Tool | undefined {
  return BY_NAME.get(name)
}
