// What a person sees of an agent's work: its progress, why an answer is shorter than it should be, and questions about
// interrupted work.
import { plural } from '../plural.ts'

export interface Tool {
  readonly tool: string
}

export const work = {
  /** Progress, as one line that the next one replaces. */
  using: ({ tool }: Tool) => `Using ${tool}`,
  subagentUses: ({ tool }: Tool) => `A subagent uses ${tool}`,
  waitingForApproval: ({ tool }: Tool) => `Waiting for an approval: ${tool}`,
  waiting: ({ seconds, why }: { readonly seconds: number; readonly why: string }) =>
    `Waiting ${seconds} s: ${why}`,
  unnamedTool: 'a tool',
  /** Stands in a question of a tool, beside what it wants to run. */
  forMessageOf: ({ name }: { readonly name: string }) => `for the message of ${name}`,
  /** These follow an answer that is not whole. */
  outputCut: '(cut: the limit of output tokens was reached)',
  tokensUsedUp: '(cut: the agent reached its limit of tokens)',
  stepsUsedUp: '(the agent reached its limit of steps before it was done)',
  stoppedEarly: '(the agent stopped before it was done)',
  filesNotSent: ({ names, why }: { readonly names: string; readonly why: string }) =>
    `(not sent: ${names}; ${why})`,
  /** The agent has lost the earlier conversation. */
  memoryLost: '(The agent no longer has the earlier conversation. It starts again.)',
  conversationLost:
    'The earlier conversation with the agent could not be found on its machine. A new one was started, which knows nothing of it.',
  /** A question of the agent itself, with numbered choices. */
  answerWithNumber: 'Answer with a number, or in your own words.',
  answerWithNumbers: 'Answer with numbers (1, 3), or in your own words.',
  questionOver: 'That question is over, or another person was asked.',
  plan: 'A plan: allow it to be carried out, or deny it and say what to change.',
  /** The question whether interrupted work is begun again. */
  again: {
    tool: 'begin the message anew',
    description:
      'its work was interrupted, and the agent no longer remembers it: it may have been done, or not',
    toolsBegun: ({ tools }: { readonly tools: string }) => `Tools that were begun: ${tools}`,
    times: ({ count }: { readonly count: number }) =>
      `Begun anew before, and interrupted again: ${plural(count, 'time')}`,
    /** Why it was not begun again; the detail of the notice that it failed. */
    notAnswered: notAgain('the approval to begin it anew was not answered in time'),
    notAsked: notAgain('no approver could be reached to begin it anew'),
    denied: notAgain('an approver decided not to begin it anew'),
  },
}

function notAgain(why: string): string {
  return `its work was interrupted, its result is unknown, and ${why}; send it again if it should be done`
}
