// What Switchboard itself says in a chat: news about a message, about the agent, and about who may speak.
import type { ReasonCode } from '../../contract/message/reasons.ts'
import { plural } from '../plural.ts'
import { reasons } from './reasons.ts'

export interface Agent {
  readonly agent: string
}

export const notices = {
  givenUp: ({ reason, detail }: { readonly reason: ReasonCode; readonly detail?: string | undefined }) =>
    `⚠️ Your message was not answered. ${reasons[reason]}${detail ? ` (${detail})` : ''}`,
  /** Follows the text that an agent had produced before it stopped. */
  incomplete: ({ text }: { readonly text: string }) =>
    `${text.trimEnd()} …\n\n⚠️ Incomplete: the agent stopped here.`,
  /** Replaces the beginning of an answer that our end cut off. */
  interrupted: '⏳ Interrupted, asking again …',
  /** Answers a command or tap that would change the target of a conversation. */
  held: ({ name }: { readonly name: string }) =>
    `This conversation is held by ${name}. Try again when it is given back.`,
  undelivered: ({
    failed,
    unknown,
    of,
  }: {
    readonly failed: number
    readonly unknown: number
    readonly of: 'answer' | 'file' | 'question'
  }) => {
    const counted = (count: number) =>
      count === 1 ? `${of === 'answer' ? 'An' : 'A'} ${of}` : plural(count, of)
    const lost = failed === 0 ? [] : [`${counted(failed)} could not be delivered.`]
    const open = unknown === 0 ? [] : [`${counted(unknown)} may not have arrived.`]
    return `⚠️ ${[...lost, ...open].join(' ')}`
  },
  noReply: 'The agent finished without replying.',
  unseen: ({ agent }: Agent) =>
    `${agent} has not picked up your message yet. It was delivered and is kept; the answer will come here.`,
  unreachable: ({ agent }: Agent) =>
    `${agent} is not answering. Your message is kept and will be delivered when it answers again.`,
  busy: ({ agent }: Agent) =>
    `${agent} is busy with other conversations. Your message is kept and will be delivered when there is room.`,
  offline: ({ agent }: Agent) =>
    `${agent} is offline. Your message is kept and will be delivered when it is back.`,
  overLimit:
    'You are sending too many messages. This one and those that follow too soon are dropped. Wait a moment, then send it again.',
  notPaired:
    'This chat is not paired yet. Ask the owner to run: switchboard pair approve {code}\nThe code is good for {left}.',
  /** `as`: the user of the configuration; `owner`: the only user there is. */
  paired: ({
    as,
    approver,
  }: {
    readonly as: 'owner' | { readonly user: string } | null
    readonly approver: boolean
  }) => {
    const who = as === null ? '' : as === 'owner' ? ' as the owner' : ` as ${as.user}`
    return `You are paired${who}${approver ? ', and may approve tool calls' : ''}. Say hello!`
  },
  /** For the person who presses a button or gives a command and is refused. A stranger learns nothing more. */
  notAuthorized: 'Not authorized.',
  /** For the person who may take a conversation over. */
  personWanted: ({
    address,
    by,
    reason,
  }: {
    readonly address: string
    readonly by: string | null
    readonly reason: string | null
  }) =>
    `🙋 A person is wanted at ${address} (asked by ${by ?? 'an unknown person'})${reason ? `: ${reason}` : '.'}\n` +
    `Take it over: switchboard conversations take ${address}`,
  /** For the owner of an agent: what became of a turn that no person waits for. */
  turnFailed: ({
    agent,
    source,
    to,
    reason,
    detail,
  }: {
    readonly agent: string | null
    readonly source: string
    readonly to: string
    readonly reason: ReasonCode | undefined
    readonly detail: string | undefined
  }) =>
    `✗ ${agent} — ${source} ${to}. ${reason === undefined ? 'It failed.' : reasons[reason]}${detail ? ` (${detail})` : ''}`,
  sendFailed: ({
    agent,
    to,
    detail,
  }: {
    readonly agent: string | null
    readonly to: string
    readonly detail: string | null | undefined
  }) => `✗ ${agent} — the message to ${to} was not delivered after all.${detail ? ` (${detail})` : ''}`,
  /** The answers of a claim: an agent offers to bring the next reply to its session. */
  claim: {
    replyHere: '📎 Reply here',
    keepMyChat: '💬 Keep my chat',
    threaded: '✓ Threaded — reply when ready.',
    kept: '✓ FYI noted.',
    unreachable: 'The {label} thread cannot be reached any more. You are in your own chat.',
  },
  /** What a person sees who tapped a button of a claim. */
  claimAnswer: {
    claimed: 'Threaded.',
    kept: 'Noted.',
    unreachable: 'Session unavailable.',
    late: 'Expired.',
    none: 'Expired.',
  },
}
