// channel_status: the state of one channel server or of all.

import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { defineTool } from './tool.ts'

export const channelStatus = defineTool({
  name: 'channel_status',
  title: 'Status of channel servers',
  description:
    'Say whether a channel server is registered for where you work now, where it was installed from, which tool sends and whether it relays permissions. Without a server: all that are registered.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 16_384,
  action: 'message.send',
  needs: 'channels',
  input: z.object({ server: z.string().optional().describe('Name of a server; left out: all.') }),
  problem: ({ server }) =>
    server === undefined || (typeof server === 'string' && server.trim() !== '')
      ? null
      : "channel_status: 'server' must be non-empty",
  run: (actions, caller, { server }) => actions.channelStatus(caller, defined({ server })),
})
