// What Slack's errors mean, and what a person can do about them.
import { type ApiError, createRefusals, type FailureTable, failures, isRefusal } from '../../../kit/index.ts'

export { isRefusal }

const FAILURES: FailureTable = {
  // The token or the app is no longer accepted. Waiting messages are sent once it is right.
  ...failures(
    {
      code: 'platform_unavailable',
      hint: 'see the tokens of the integration; api.slack.com/apps shows them',
      retryAfterMs: 30_000,
    },
    {
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
    },
  ),
  ...failures(
    { code: 'platform_rejected', placeGone: true },
    {
      channel_not_found: 'no such channel, or a private one to which the bot was not invited',
      not_in_channel: 'the bot is not in this channel: /invite it there',
      is_archived: 'the channel is archived',
      user_not_found: 'no such person in this workspace',
      user_disabled: 'this person’s account is deactivated',
    },
  ),
  ...failures(
    { code: 'platform_rejected' },
    {
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
    },
  ),
  // All have the same meaning, because Slack does not say how far it came.
  ...failures(
    { code: 'outcome_unknown' },
    {
      fatal_error: 'Slack had a fault; it may have been done',
      internal_error: 'Slack had a fault; it may have been done',
      request_timeout: 'Slack had a fault; it may have been done',
      service_unavailable: 'Slack had a fault; it may have been done',
    },
  ),
}

const refusal = createRefusals('Slack', FAILURES)

export function refusalOf(
  error: string,
  answer: { readonly needed?: unknown; readonly response_metadata?: unknown },
): ApiError {
  const key = /^[a-z0-9_.:-]{1,80}$/i.test(error) ? error : 'unreadable_error'
  if (key !== 'missing_scope') return refusal({ key, said: messagesOf(answer.response_metadata) })
  const needed = typeof answer.needed === 'string' ? answer.needed.slice(0, 100) : 'one more scope'
  return refusal({
    key,
    failure: {
      code: 'platform_rejected',
      meaning: `the bot needs ${needed}`,
      hint: `add ${needed} under OAuth & Permissions and install the app again`,
    },
  })
}

/** Returns Slack's explanation of blocks that it refused. */
function messagesOf(metadata: unknown): string {
  const messages = (metadata as { readonly messages?: unknown } | undefined)?.messages
  return Array.isArray(messages) ? messages.map(String).join('; ').slice(0, 300) : ''
}
