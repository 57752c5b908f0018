// Why a turn or a send ended: a closed list for audit, command line and console.

export interface Reason {
  /** The states that this reason explains. */
  readonly of: readonly string[]
  /** One sentence for a person. */
  readonly text: string
}

export const REASONS = {
  // refused at intake
  unparsable: { of: ['refused'], text: 'The payload could not be read.' },
  flood: { of: ['refused'], text: 'The integration received more than its flood guard lets through.' },
  rate_limited: { of: ['refused'], text: 'The sender is over its limit.' },
  sender_not_allowed: { of: ['refused'], text: 'The sender is not in access.allow_from.' },
  sender_unproven: { of: ['refused'], text: 'The sender’s address was not proven.' },
  pairing_required: { of: ['refused'], text: 'The sender is not paired yet.' },
  dm_disabled: { of: ['refused'], text: 'Direct messages are off (access.dm).' },
  group_not_listed: { of: ['refused'], text: 'The group is not in access.groups.' },
  not_mentioned: { of: ['refused'], text: 'The agent was not mentioned (require_mention).' },
  bot_message: { of: ['refused'], text: 'Another bot wrote it.' },
  policy_unreadable: { of: ['refused'], text: 'The access policy could not be read, so the door is closed.' },
  no_binding: { of: ['refused'], text: 'No agent is bound to this conversation.' },
  integration_disabled: { of: ['refused', 'failed'], text: 'The integration is disabled.' },
  empty: { of: ['refused'], text: 'There was neither text nor attachment.' },
  not_approver: {
    of: ['refused'],
    text: 'A button of an approval, pressed by somebody who is not an approver.',
  },
  not_asked: { of: ['refused'], text: 'A verdict from a channel server that was not asked.' },
  store_away: { of: ['refused'], text: 'The store was away, and no more messages could wait in memory.' },
  not_owner: { of: ['refused'], text: 'A tap by somebody who does not own the chat.' },
  gate_capability: { of: ['refused'], text: 'The channel server did not declare the capability.' },
  gate_disabled: { of: ['refused'], text: 'channels.enabled is false.' },
  gate_session: { of: ['refused'], text: 'The channel server is not in allowed_channel_servers.' },
  gate_marketplace: { of: ['refused'], text: 'plugin_source does not match.' },
  gate_allowlist: { of: ['refused'], text: 'The channel server is not in channels.approved.' },
  revoked: { of: ['refused'], text: 'It was let in and waited; whoever sent it may not speak any more.' },
  // consumed by Switchboard itself
  verdict: { of: ['consumed'], text: 'It was a verdict on an approval.' },
  verdict_late: { of: ['consumed'], text: 'It was a verdict on an approval that was already answered.' },
  command: { of: ['consumed'], text: 'It was a command to Switchboard.' },
  tap: { of: ['consumed'], text: 'It was a tap on a button.' },
  late: { of: ['consumed'], text: 'It was a command that was found in the history too late to be obeyed.' },
  withdrawn: { of: ['consumed'], text: 'Whoever sent it deleted or edited it while it waited.' },
  filtered: { of: ['consumed'], text: 'The configuration of its integration filters it out.' },
  held: { of: ['consumed', 'failed'], text: 'A person held the conversation in the agent’s place.' },
  report: { of: ['consumed'], text: 'It told what became of a message that was sent.' },
  noted: { of: ['consumed'], text: 'A reaction or edit that no agent needs to see.' },
  no_reply: { of: ['answered'], text: 'The agent finished without replying.' },
  // turns on their way
  taken: { of: ['handed'], text: 'The agent has confirmed that it has it.' },
  working: { of: ['seen'], text: 'The agent is at work, and will say when it is done.' },
  replied: { of: ['seen'], text: 'The agent replied, and is still at work.' },
  one_way: {
    of: ['handed', 'seen'],
    text: 'The agent’s host has it, and it came one way: no answer is waited for.',
  },
  acknowledged: { of: ['seen'], text: 'The agent acknowledged it, and has not answered it.' },
  agent_unreachable: {
    of: ['queued'],
    text: 'The agent cannot be reached; the message is kept and tried again.',
  },
  agent_busy: {
    of: ['queued'],
    text: 'All places of the agent are taken; the message waits for a free process.',
  },
  // turns that did not make it
  max_attempts: { of: ['failed'], text: 'It was tried as many times as max_attempts allows.' },
  agent_failed: {
    of: ['queued', 'failed'],
    text: 'The agent answered with an error.',
  },
  agent_rejected: { of: ['failed'], text: 'The agent refused the turn for good.' },
  agent_silent: { of: ['failed'], text: 'The agent took it and never answered.' },
  answer_cut: { of: ['failed'], text: 'The answer of the agent broke off before its end.' },
  agent_removed: { of: ['failed'], text: 'The agent is no longer configured.' },
  cancelled: { of: ['failed'], text: 'It was cancelled by /stop or by an operator.' },
  queue_expired: { of: ['expired'], text: 'It waited longer than queue_expiry.' },
  // sends
  given_up: {
    of: ['failed', 'unknown'],
    text: 'It is not tried any more: it would come too late, or is not needed any more (such as a question that is over).',
  },
  platform_rejected: { of: ['failed'], text: 'The platform refused it for good.' },
  window_closed: {
    of: ['failed'],
    text: 'The platform takes free text only for a while after a person wrote; that time is over.',
  },
  platform_unavailable: { of: ['queued', 'failed'], text: 'The platform could not be reached.' },
  platform_busy: { of: ['queued'], text: 'The platform asked to wait.' },
  integration_missing: { of: ['failed'], text: 'The integration is no longer configured.' },
  not_allowed: { of: ['failed'], text: 'The target, or whoever is answered there, is no longer allowed.' },
  duplicate: { of: ['deduplicated'], text: 'The same content went to the same target a moment ago.' },
  outcome_open: {
    of: ['sending'],
    text: 'It may have arrived; the platform is asked, or it is sent again with a note.',
  },
  unconfirmed: { of: ['unknown'], text: 'It may have arrived; the platform never confirmed it.' },
  restored: {
    of: ['unknown'],
    text: 'It was open in a backup that was restored: it may have been sent since.',
  },
  buried: { of: ['failed'], text: 'An operator gave it up.' },
  operator_retry: { of: ['queued'], text: 'An operator asked for another try.' },
} as const satisfies Record<string, Reason>

export type ReasonCode = keyof typeof REASONS
