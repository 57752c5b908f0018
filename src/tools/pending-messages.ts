// pending_messages: the messages that wait for the agent.
import { z } from 'zod'
import { defineTool } from './tool.ts'

export const pendingMessages = defineTool({
  name: 'pending_messages',
  title: 'Pending messages',
  description:
    'List the messages that wait for you: delivered or queued, and not yet acknowledged or answered.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 100_000,
  action: 'message.send',
  input: z.object({}),
  run: (actions, caller) => actions.pendingMessages(caller),
})
