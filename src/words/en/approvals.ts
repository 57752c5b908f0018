// A question for an approver in a chat: how it is asked, answered and ended. A verdict is `yes ID` or `no ID` in every
// language.
import { plural } from '../plural.ts'

export interface Asked {
  readonly tool: string
  readonly id: string
}

export interface EndedApproval {
  readonly state: string
  readonly cause: string | null
  readonly decidedBy: string | null
}

const command = (id: string) => `switchboard approvals show ${id}`

export const approvals = {
  allow: 'Allow',
  deny: 'Deny',
  showAll: 'Show all',
  /** Stands behind a text that was cut; `way` says where the rest is. */
  more: ({ count, way }: { readonly count: number; readonly way: string }) =>
    `(${plural(count, 'more character')}: ${way})`,
  moreByCommand: ({ count, id }: { readonly count: number; readonly id: string }) =>
    `${plural(count, 'more character')}: ${command(id)}`,
  part: ({ tool, id, at, of }: Asked & { readonly at: number; readonly of: number }) =>
    `${tool} (${id}), part ${at} of ${of}:`,
  whole: ({ tool, id }: Asked) => `${tool} (${id}): the whole text. Also shown by ${command(id)}`,
  /** How a question ended, in one line. */
  outcome: {
    withdrawn: ({ tool, id }: Asked) => `${tool} (${id}): no longer asked`,
    /** A host with a dialog of its own gets no denial; its dialog is still open. */
    expiredHere: ({ tool, id }: Asked) => `${tool} (${id}): expired here; the agent still asks where it runs`,
    expired: ({ tool, id }: Asked) => `${tool} (${id}): expired, denied`,
    unreachable: ({ tool, id }: Asked) => `${tool} (${id}): denied, no approver could be reached`,
    interrupted: (asked: Decided) =>
      `${decided(asked)}, then interrupted; the agent may have received it, and asks again`,
    agentGone: ({ tool, id, ...verdict }: Decided) =>
      `${tool} (${id}): decided (${by(verdict)}), but the agent is gone`,
    waits: ({ tool, id, ...verdict }: Decided) =>
      `${tool} (${id}): decided (${by(verdict)}), waits for the agent to come back`,
    passedOn: ({ tool, id, ...verdict }: Decided) => `${tool} (${id}): passed on (${by(verdict)})`,
    decided: (asked: Decided) => decided(asked),
  },
  /** Marks a question that was allowed once, before an interruption. */
  mayHaveRun: 'It may already have run: it was allowed before an interruption.',
  /** For a person who answers too late, in every chat, at the API and on the command line. A pending one has expired. */
  late,
  lateAt: ({ id, ...approval }: EndedApproval & { readonly id: string }) => `${id}: ${late(approval)}`,
  /** The row is gone: it was withdrawn long ago. */
  gone: 'no longer asked',
  alreadyAnswered: 'already answered',
  /** What a person sees who tapped "Show all". */
  shownAsFile: 'A file',
  shownInParts: ({ count }: { readonly count: number }) => plural(count, 'part'),
  /** Follows a bare "yes" or "no", which went to the agent. */
  bareVerdict: ({ id }: { readonly id: string }) =>
    `That went to the agent as a message. To decide the waiting question, reply "yes ${id}" or "no ${id}".`,
}

function late({ state, cause, decidedBy }: EndedApproval): string {
  if (cause === 'person') return `already answered by ${decidedBy ?? 'another person'}`
  if (state === 'withdrawn') return 'no longer asked'
  return cause === 'unreachable' ? 'denied, no approver could be reached' : 'expired'
}

export interface Decided extends Asked {
  readonly allowed: boolean
  readonly who: string
}

function by({ allowed, who }: Pick<Decided, 'allowed' | 'who'>): string {
  return `${allowed ? 'allowed' : 'denied'} by ${who}`
}

function decided({ tool, id, ...verdict }: Decided): string {
  return `${tool} (${id}): ${by(verdict)}`
}
