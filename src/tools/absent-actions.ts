// The tools of a process without a daemon: each of them reports that.
import type { ToolActions, ToolOutcome } from '../contract/index.ts'
import { failedOutcome } from './call-tool.ts'

export function createAbsentActions(): ToolActions {
  const absent = async (): Promise<ToolOutcome> =>
    failedOutcome('daemon_absent', 'Gateway not active — no daemon holds the data folder')
  return {
    sendMessage: async () =>
      failedOutcome('execution_failed', 'Gateway not active — send_message requires gateway mode'),
    notifyUser: absent,
    reply: absent,
    react: absent,
    editMessage: absent,
    downloadAttachment: absent,
    fetchMessages: absent,
    getRoster: absent,
    ack: absent,
    handoff: absent,
    pendingMessages: absent,
    channelList: absent,
    channelSend: absent,
    channelStatus: absent,
    serviceTools: absent,
    callServiceTool: absent,
  }
}
