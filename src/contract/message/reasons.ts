// Why a turn or a send ended: a closed list for audit, command line and console. `src/words` has a sentence for each.

export interface Reason {
  /** The states that this reason explains. */
  readonly of: readonly string[]
}

export const REASONS = {
  // refused at intake
  unparsable: { of: ['refused'] },
  flood: { of: ['refused'] },
  rate_limited: { of: ['refused'] },
  sender_not_allowed: { of: ['refused'] },
  sender_unproven: { of: ['refused'] },
  pairing_required: { of: ['refused'] },
  dm_disabled: { of: ['refused'] },
  group_not_listed: { of: ['refused'] },
  not_mentioned: { of: ['refused'] },
  bot_message: { of: ['refused'] },
  policy_unreadable: { of: ['refused'] },
  no_binding: { of: ['refused'] },
  integration_disabled: { of: ['refused', 'failed'] },
  empty: { of: ['refused'] },
  not_approver: { of: ['refused'] },
  not_asked: { of: ['refused'] },
  store_away: { of: ['refused'] },
  not_owner: { of: ['refused'] },
  gate_capability: { of: ['refused'] },
  gate_disabled: { of: ['refused'] },
  gate_session: { of: ['refused'] },
  gate_marketplace: { of: ['refused'] },
  gate_allowlist: { of: ['refused'] },
  revoked: { of: ['refused'] },
  // consumed by Switchboard itself
  verdict: { of: ['consumed'] },
  verdict_late: { of: ['consumed'] },
  command: { of: ['consumed'] },
  tap: { of: ['consumed'] },
  late: { of: ['consumed'] },
  withdrawn: { of: ['consumed'] },
  filtered: { of: ['consumed'] },
  held: { of: ['consumed', 'failed'] },
  report: { of: ['consumed'] },
  noted: { of: ['consumed'] },
  no_reply: { of: ['answered'] },
  // turns on their way
  taken: { of: ['handed'] },
  working: { of: ['seen'] },
  replied: { of: ['seen'] },
  one_way: { of: ['handed', 'seen'] },
  acknowledged: { of: ['seen'] },
  agent_unreachable: { of: ['queued'] },
  agent_busy: { of: ['queued'] },
  // turns that did not make it
  max_attempts: { of: ['failed'] },
  agent_failed: { of: ['queued', 'failed'] },
  agent_rejected: { of: ['failed'] },
  agent_silent: { of: ['failed'] },
  answer_cut: { of: ['failed'] },
  agent_removed: { of: ['failed'] },
  cancelled: { of: ['failed'] },
  queue_expired: { of: ['expired'] },
  // sends
  given_up: { of: ['failed', 'unknown'] },
  platform_rejected: { of: ['failed'] },
  window_closed: { of: ['failed'] },
  platform_unavailable: { of: ['queued', 'failed'] },
  platform_busy: { of: ['queued'] },
  integration_missing: { of: ['failed'] },
  not_allowed: { of: ['failed'] },
  duplicate: { of: ['deduplicated'] },
  outcome_open: { of: ['sending'] },
  unconfirmed: { of: ['unknown'] },
  restored: { of: ['unknown'] },
  buried: { of: ['failed'] },
  operator_retry: { of: ['queued'] },
} as const satisfies Record<string, Reason>

export type ReasonCode = keyof typeof REASONS
