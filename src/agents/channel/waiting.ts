// Adds a note to every tool result of a host that has turns without evidence: how many wait, and how to fetch them. The
// text of the result itself stays unchanged.
import type { HostAnswer } from '../../contract/index.ts'
import type { Host } from './hosts.ts'

export function withWaiting(answer: HostAnswer, host: Host): HostAnswer {
  const count = host.held.unseenCount
  if (count === 0) return answer
  const fetch = 'pending_messages'
  return {
    ...answer,
    note: wordsFor(count, host.proven),
    structured: { ...answer.structured, waiting: { count, fetch } },
  }
}

function wordsFor(count: number, proven: boolean): string {
  const many = count === 1 ? '1 message waits' : `${count} messages wait`
  return proven
    ? `${many} for you through Switchboard and will arrive as <channel> messages; if that does not happen, call \`pending_messages\` to fetch what waits.`
    : `${many} for you through Switchboard, and you have acted on none that was pushed to you: call \`pending_messages\` to fetch what waits.`
}
