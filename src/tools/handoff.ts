// handoff: asks a person to take over the conversation.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { CHAT_ID } from './fields.ts'
import { defineTool } from './tool.ts'

export const handoff = defineTool({
  name: 'handoff',
  title: 'Ask for a person',
  description: [
    'Ask that a person takes this conversation over, when you cannot or should not go on alone.',
    'You go on answering until somebody does; then what you send there is refused as held, and what was said meanwhile comes with your next message from there.',
  ].join(' '),
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({
    chat_id: CHAT_ID,
    reason: z.string().min(1).max(2_000).describe('Why a person is needed, in a sentence.'),
    summary: z.string().min(1).max(8_000).optional().describe('What the person should know of it so far.'),
  }),
  run: (actions, caller, { chat_id, reason, summary }) =>
    actions.handoff(caller, { chatId: chat_id, reason, ...defined({ summary }) }),
})
