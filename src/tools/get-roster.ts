// get_roster: who takes part in a conversation.
import { z } from 'zod'
import { CHAT_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const getRoster = defineTool({
  name: 'get_roster',
  title: 'Get the roster',
  description: 'List who takes part in a conversation, as far as is known.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 16_384,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({ chat_id: CHAT_ID }),
  run: (actions, caller, { chat_id }) => actions.getRoster(caller, { chatId: chat_id }),
})
