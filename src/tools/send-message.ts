// send_message: sends to any allowed target, not only to the conversation of the turn.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { defineTool } from './tool.ts'

export const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send a message',
  description: [
    'Post a message to a chat, channel or mailbox on any configured platform, not only where this turn came from.',
    'Call it whenever you are asked to post or send somewhere: whether a target is allowed is decided here, not by you.',
    'If it fails, pass the error text on word for word.',
    'Results: sent (with the message ids of the platform), deduplicated (the same text went there within 30 seconds), queued (still trying), failed.',
  ].join(' '),
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'message.send',
  input: z.object({
    platform: z
      .string()
      .min(1)
      .describe('Platform to send through, as the configuration names it; or a hosted channel server.'),
    target: z
      .string()
      .min(1)
      .describe(
        'Who gets it, as the platform itself names them: the id of a chat, channel or user, or an address; not a display name.',
      ),
    body: z.string().min(1).describe('The text. Markdown where the platform supports it.'),
    thread: z
      .string()
      .min(1)
      .optional()
      .describe('Thread or topic of the target, where the platform has them.'),
    integration: z
      .string()
      .min(1)
      .optional()
      .describe('Id of the account to send from, when several serve the platform.'),
    template: z
      .object({
        name: z.string().min(1).max(512).describe('Its name at the platform.'),
        language: z.string().min(2).max(20).describe('Its language code, such as en_US.'),
        parameters: z.array(z.string().min(1)).max(50).default([]).describe('For its places, in order.'),
      })
      .optional()
      .describe(
        'Words that the platform has approved beforehand: sent instead of body where free text is refused as window_closed; body is what is kept of it here.',
      ),
  }),
  problem: ({ platform, target, body }) =>
    platform && target && body ? null : 'platform, target, and body are required',
  run: (actions, caller, { platform, target, body, thread, integration, template }) =>
    actions.sendMessage(caller, {
      platform,
      target,
      body,
      ...defined({ thread, integration, template }),
    }),
})
