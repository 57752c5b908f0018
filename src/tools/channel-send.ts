// channel_send: calls the outbound tool of a channel server.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { defineTool } from './tool.ts'

export const channelSend = defineTool({
  name: 'channel_send',
  title: 'Send through a channel server',
  description: [
    'Send a message through a channel server, by the tool that it offers for that. content becomes the text argument, unless arguments has text or content itself.',
    'arguments is passed on as it is: use it to say where the message goes (chat_id, channel, thread_ts, as the server names them).',
    'Only conversations that wrote through that server, or that you are allowed to send to, can be named. If it fails, pass the error text on word for word.',
  ].join(' '),
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 16_384,
  action: 'message.send',
  needs: 'channels',
  input: z.object({
    server: z.string().describe('Name of the server, as channel_list shows it.'),
    content: z.string().optional().describe('The text, at most 64 KiB.'),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Arguments of the tool of the server, passed on as they are.'),
  }),
  problem({ server, content, arguments: given }) {
    if (typeof server !== 'string' || server.trim() === '')
      return "channel_send: 'server' must be a non-empty string"
    if (content !== undefined && typeof content !== 'string')
      return "channel_send: 'content' must be a string"
    const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
    return given === undefined || isObject ? null : "channel_send: 'arguments' must be an object"
  },
  run: (actions, caller, { server, content, arguments: given }) =>
    actions.channelSend(caller, {
      server,
      ...defined({ content, arguments: given }),
    }),
})
