// fetch_messages: the latest messages of a conversation.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { defineTool } from './tool.ts'

const MOST = 100

export const fetchMessages = defineTool({
  name: 'fetch_messages',
  title: 'Fetch messages',
  description:
    'Read the latest messages of a conversation, oldest first, one a line, each with its id. Use it for what was said before you were asked.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 100_000,
  action: 'message.send',
  chat: 'channel',
  input: z.object({
    channel: z.string().min(1).describe('The chat_id of the conversation.'),
    limit: z.number().int().min(1).max(MOST).default(20).describe('How many.'),
  }),
  // The chat is called chat_id in other tools, and a limit that is too large means the largest one.
  prepare({ chat_id, limit, ...rest }) {
    const channel = rest.channel ?? chat_id
    return {
      ...rest,
      ...defined({ channel }),
      ...(limit === undefined ? {} : { limit: typeof limit === 'number' && limit > MOST ? MOST : limit }),
    }
  },
  run: (actions, caller, { channel, limit }) => actions.fetchMessages(caller, { chatId: channel, limit }),
})
