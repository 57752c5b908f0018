// reply: answers in a conversation that wrote to the agent.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { CHAT_ID } from './fields.ts'
import { FORMAT, saidAs } from './message-format.ts'
import { type AnswerWay, defineTool } from './tool.ts'

const WHAT_ELSE_REACHES: Readonly<Record<AnswerWay, string>> = {
  tools: 'Your transcript reaches nobody: only what goes through this tool does.',
  final_text:
    'The text with which you end a turn is sent to that chat by itself: use this tool only for what must be said before the end, or with files. Once you have used it in a turn, the text at its end is not sent, so say the rest by this tool too.',
  own_answer:
    'Your own answer to a message is sent to that chat by itself: use this tool only to answer in its place, or with files. It counts as the answer.',
}

function describe(way: AnswerWay): string {
  return [
    'Answer in the conversation that a message came from. Pass chat_id back as it came.',
    WHAT_ELSE_REACHES[way],
    'Set reply_to to a message_id to answer an earlier message; leave it out for a normal answer.',
    'files are absolute paths to attach: they follow the text, each as a message of its own.',
  ].join(' ')
}

export const reply = defineTool({
  name: 'reply',
  title: 'Reply',
  description: describe('tools'),
  describe,
  readOnly: false,
  alwaysLoad: true,
  maxResultChars: 4096,
  action: 'message.send',
  chat: 'chat_id',
  input: z.object({
    chat_id: CHAT_ID,
    text: z.string().min(1).describe('What to say. Markdown; long texts are split.'),
    reply_to: z
      .string()
      .min(1)
      .optional()
      .describe('message_id of the message that is answered, or the message.id of its delivery.'),
    files: z.array(z.string().min(1)).max(10).optional().describe('Absolute paths of files to attach.'),
    format: FORMAT,
  }),
  run: (actions, caller, { chat_id, text, reply_to, files, format }) =>
    actions.reply(caller, {
      chatId: chat_id,
      ...saidAs(text, format),
      ...defined({ replyTo: reply_to, files }),
    }),
})
