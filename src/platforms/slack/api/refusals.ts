// What Slack's errors mean, and what a person can do about them. The error's own name stands first: people search for it.
import { type ErrorDetail, SwitchboardError } from '../../../contract/index.ts'

/** It may have happened, in part or whole. */
export const UNCERTAIN: ReadonlySet<string> = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'service_unavailable',
])

/** A refusal by Slack, known by the name of its error. */
class SlackRefusal extends SwitchboardError {
  readonly slack: string
  constructor(
    code: 'platform_rejected' | 'platform_unavailable',
    slack: string,
    message: string,
    more: Pick<ErrorDetail, 'hint' | 'retryAfterMs' | 'placeGone'> = {},
  ) {
    super(code, message, more)
    this.slack = slack
  }
}

/** The token, or the app, counts no more. Nothing is lost for it: what waits goes out once it is right. */
const TOKEN: Readonly<Record<string, string>> = {
  not_authed: 'no token was sent',
  invalid_auth: 'Slack does not know the token',
  account_inactive: 'the app or its user was removed from the workspace',
  token_revoked: 'the token was revoked',
  token_expired: 'the token has expired',
  not_allowed_token_type:
    'this kind of token is not taken: bot_token begins with xoxb-, app_token with xapp-',
  user_removed_from_team: 'the app was removed from the workspace',
  team_disabled: 'the workspace is disabled',
  team_access_not_granted: 'the app may not use this workspace',
}

const PLACE: Readonly<Record<string, string>> = {
  channel_not_found: 'no such channel, or a private one to which the bot was not invited',
  not_in_channel: 'the bot is not in this channel: /invite it there',
  is_archived: 'the channel is archived',
  user_not_found: 'no such person in this workspace',
  user_disabled: 'this person’s account is deactivated',
  cannot_dm_bot: 'a bot cannot be written to',
  messages_tab_disabled: 'direct messages to the app are off: App Home, Messages Tab',
  restricted_action: 'the channel does not let the bot post',
  restricted_action_read_only_channel: 'the channel is read-only',
  restricted_action_thread_only_channel: 'only answers in threads may be posted there',
  restricted_action_non_threadable_channel: 'the channel has no threads',
  restricted_action_thread_locked: 'the thread is locked',
  cannot_reply_to_message: 'this message cannot be answered in a thread',
  msg_too_long: 'the text is too long',
  message_not_found: 'there is no such message',
  cant_update_message: 'only own messages can be changed',
  edit_window_closed: 'the message is too old to be changed',
  message_limit_exceeded: 'the workspace has reached its limit of messages',
}

/** Nothing can be said there any more. */
const GONE: ReadonlySet<string> = new Set([
  'channel_not_found',
  'not_in_channel',
  'is_archived',
  'user_not_found',
  'user_disabled',
])

export function refusalOf(
  error: string,
  answer: { readonly needed?: unknown; readonly response_metadata?: unknown },
): SlackRefusal {
  const name = /^[a-z0-9_.:-]{1,80}$/i.test(error) ? error : 'unreadable_error'
  if (name === 'missing_scope') {
    const needed = typeof answer.needed === 'string' ? answer.needed.slice(0, 100) : 'one more scope'
    return new SlackRefusal('platform_rejected', name, `missing_scope: the bot needs ${needed}`, {
      hint: `add ${needed} under OAuth & Permissions and install the app again`,
    })
  }
  const token = TOKEN[name]
  if (token !== undefined)
    return new SlackRefusal('platform_unavailable', name, `${name}: ${token}`, {
      hint: 'see the tokens of the integration; api.slack.com/apps shows them',
      retryAfterMs: 30_000,
    })
  const details = messagesOf(answer.response_metadata)
  const told = PLACE[name] ?? details
  const gone = GONE.has(name) ? ({ placeGone: true } as const) : {}
  return new SlackRefusal('platform_rejected', name, told === '' ? name : `${name}: ${told}`, gone)
}

/** What Slack says of blocks that it does not take. */
function messagesOf(metadata: unknown): string {
  const messages = (metadata as { readonly messages?: unknown } | undefined)?.messages
  return Array.isArray(messages) ? messages.map(String).join('; ').slice(0, 300) : ''
}

export function isRefusal(thrown: unknown, ...names: readonly string[]): thrown is SlackRefusal {
  return thrown instanceof SlackRefusal && names.includes(thrown.slack)
}
