// notify_user: notifies the user of the session through that user's integrations.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { defineTool } from './tool.ts'

export const notifyUser = defineTool({
  name: 'notify_user',
  title: 'Notify the user',
  description: [
    'Send a message to your user through a channel that they have configured.',
    'For anything mid-run, for what needs an answer later, and for output in several messages.',
    'A channel is the type of an integration (its platform), or <type>:<integration_id> for one account; leave it out for the default.',
    'With claim_thread the reply of the user comes back to this session.',
  ].join(' '),
  readOnly: false,
  alwaysLoad: false,
  maxResultChars: 1024,
  action: 'notify.send',
  input: z.object({
    message: z.string().min(1).describe('Plain text or Markdown.'),
    // No enum, because `<type>:<integration_id>` is allowed and the types depend on the configuration.
    channel: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A type (the platform of an integration) or <type>:<integration_id>. Omit for the default channel of the user.',
      ),
    urgency: z.enum(['low', 'normal', 'high']).optional().describe('How loud it is. Default: normal.'),
    claim_thread: z
      .boolean()
      .optional()
      .describe('True: offer the user to reply here; the next reply comes to this session.'),
    claim_thread_label: z
      .string()
      .min(1)
      .optional()
      .describe('Name of the thread, shown when a reply switches to it.'),
  }),
  // Only `true` makes a claim, and a label must be a text.
  prepare({ claim_thread, claim_thread_label: label, ...rest }) {
    const claims = claim_thread === true ? { claim_thread } : {}
    return typeof label === 'string' && label !== ''
      ? { ...rest, ...claims, claim_thread_label: label }
      : { ...rest, ...claims }
  },
  problem: ({ message }) =>
    message === undefined || message === '' ? 'Missing required parameter: message' : null,
  async run(actions, caller, input) {
    const order = {
      message: input.message,
      ...defined({
        channel: input.channel,
        urgency: input.urgency,
        claimThread: input.claim_thread,
        claimThreadLabel: input.claim_thread_label,
      }),
    }
    return actions.notifyUser(caller, order)
  },
})
