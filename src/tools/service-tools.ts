// service_tools and call_service_tool: the tools that a service lent with the newest delivery of a conversation. They
// are for hosts that share one list of tools, which cannot list them.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { CHAT_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const serviceTools = defineTool({
  name: 'service_tools',
  title: 'Tools of the service in front',
  description:
    'List the tools that the service behind a conversation lent for it, with their arguments. They belong to the newest message there; call one with call_service_tool.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 65_536,
  action: 'message.send',
  needs: 'services',
  input: z.object({ chat_id: CHAT_ID }),
  run: (actions, caller, { chat_id: chatId }) => actions.serviceTools(caller, { chatId }),
})

export const callServiceTool = defineTool({
  name: 'call_service_tool',
  title: 'Call a tool of the service in front',
  description:
    'Call a tool that service_tools listed for this conversation. It runs at the service, and may change things there.',
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 65_536,
  action: 'message.send',
  needs: 'services',
  input: z.object({
    chat_id: CHAT_ID,
    name: z.string().min(1).describe('The name as service_tools lists it.'),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('As the schema of that tool wants them.'),
  }),
  run: (actions, caller, { chat_id: chatId, name, arguments: given }) =>
    actions.callServiceTool(caller, { chatId, name, ...defined({ arguments: given }) }),
})
