// The console's pages about messages: conversations, their threads, stepping in, turns, and Try it.
import { type Counted, counted } from '../plural.ts'

export interface Named {
  readonly name: string
}

export const conversations = {
  lead: 'What people and agents say to each other, and where you may step in.',
  search: 'Search',
  searchFor: 'name or id',
  integration: 'Integration',
  agent: 'Agent',
  any: 'any',
  takeover: 'Takeover',
  takeovers: { all: 'all', asked: 'asking for a person', held: 'held by a person' },
  newestFirst: 'newest first',
  none: 'No conversation matches.',
  noText: 'no text',
  asks: 'asks for a person',
  mine: 'held by you',
  heldBy: ({ name }: Named) => `held by ${name}`,
}

export const thread = {
  one: 'Conversation',
  /** `{agent}` is a link. */
  answeredBy: 'answered by {agent}',
  messages: 'Messages',
  earlier: 'Earlier',
  newest: 'Newest',
  nothing: 'Nothing was said here yet.',
  noText: 'The text is no longer kept, or your role may not see it.',
  wholeText: 'The whole text',
  late: 'found late',
  edited: 'edited',
  attempts: counted('attempt', 'attempts'),
  repeat: 'offered again, marked as a repeat',
  asPerson: 'as a person',
  operator: 'operator',
  gateway: 'Switchboard',
  somebody: 'a person',
  agent: ({ name }: Named) => `Agent ${name}`,
  asked: ({ who, reason }: { readonly who: string; readonly reason: string | null }) =>
    `${who} asked for a person${reason === null ? '' : `: ${reason}`}`,
  /** `{time}` is how long ago it was, here and in `ended`. */
  taken: '{name} took over {time}',
  ended: {
    given: '{name} gave it back {time}',
    forced: '{name} was overruled by another operator {time}',
    timeout: '{name} was silent for too long, and the agent got it back {time}',
    right_lost: '{name} lost the right to hold it {time}',
    withdrawn: '{name} dismissed the request {time}',
  },
}

export const composer = { send: 'Send' }

export const stepIn = {
  label: 'Stepping in',
  mine: 'You have this conversation.',
  /** `{time}` reads like `in 10 min`. */
  returns: 'It goes back to the agent {time}, unless you write.',
  giveBack: 'Give back',
  write: 'Write as a person',
  writeHere: 'Write as a person…',
  agentAnswers: 'The agent answers here.',
  heldSince: 'Held by {name} since {time}.',
  held: ({ name }: Named) => `Held by ${name}.`,
  take: 'Take over',
  takeFromThem: 'Take it from them',
  giveBackForThem: 'Give it back to the agent',
  dismiss: 'Dismiss',
}

export const turn = {
  one: 'Turn',
  noText: 'It has no text, or the text is no longer kept.',
  said: 'What was said',
  events: 'What the agent did',
  approvals: 'Approvals',
  sends: 'Messages sent for this turn',
  retry: 'Offer again',
  cancel: 'Cancel',
  facts: {
    from: 'from',
    source: 'source',
    conversation: 'conversation',
    agent: 'agent',
    attempts: 'attempts',
    received: 'received',
    lastChange: 'last change',
    took: 'took',
    late: 'found late',
    cost: 'cost',
    messageId: 'message id',
  },
  repeat: ({ count }: Counted) => `${count}; the agent may have seen it before, so it is marked as a repeat`,
  late: 'yes: it was missed at first, and found in the history',
  undecided: 'not decided yet',
  /** `{person}` is a name. */
  decidedBy: 'by {person}',
  notKept: 'no longer kept',
  sentHow: ({ cause, attempts }: { readonly cause: string; readonly attempts: number }) =>
    `${cause}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
  tokens: ({ input, output }: { readonly input: number; readonly output: number }) =>
    `${input.toLocaleString()} tokens in, ${output.toLocaleString()} out`,
  omitted: 'The agent reported more events than are kept.',
  eventNotKept: 'no longer kept, or your role may not see it',
  kinds: { tool_call: 'called', tool_result: 'got', error: 'error' },
  eventTexts: {
    tool_call: 'Input of the call',
    tool_result: 'Result of the call',
    error: 'Error',
    other: 'Reported text',
  },
}

export const turns = {
  lead: 'Every message that came in, and what became of it.',
  state: 'State',
  states: {
    any: 'any state',
    onTheirWay: 'on their way',
    answered: 'answered',
    refused: 'refused',
    consumed: 'consumed',
    failed: 'failed or expired',
  },
  agent: 'Agent',
  anyAgent: 'any agent',
  source: 'Source',
  anySource: 'any source',
  person: 'Person',
  personId: 'id of a sender',
  time: 'Time',
  times: { any: 'any time', hour: 'last hour', day: 'last day', week: 'last week', month: 'last month' },
  lastDay: 'The last day',
  chosenTime: 'The chosen time',
  turns: 'Turns',
  newestFirst: 'newest first',
  none: 'No turn matches.',
  noText: 'no text',
  refusals: 'Refused, by reason',
  ledger: 'Ledger',
  ledgerNote: 'every step of every message, in a chain of hashes',
  verify: 'Verify',
  verifying: 'Verifying…',
  exportAs: ({ format }: { readonly format: string }) => `Export ${format}`,
  verdict: ({ ok, entries, chain, received, accounted }: Verdict) =>
    `${ok ? 'The ledger is correct' : 'The ledger is not correct'}: ${entries.toLocaleString()} entries, chain ` +
    `${chain}; ${received.toLocaleString()} received, ${accounted.toLocaleString()} accounted for.`,
  brokenAt: ({ entry, problem }: { readonly entry: number; readonly problem: string }) =>
    ` At entry ${entry}: ${problem}`,
}

export interface Verdict {
  readonly ok: boolean
  readonly entries: number
  readonly chain: string
  readonly received: number
  readonly accounted: number
}

export const tryIt = {
  lead: 'You speak as yourself, in a chat of your own with the agent.',
  agent: 'Agent',
  noAgents: 'No agent is configured.',
  start: ({ name }: Named) => `Say something to ${name}.`,
  label: 'Message to the agent',
  message: ({ name }: Named) => `Message to ${name}`,
}

export const charts = {
  messages: 'Messages',
  timeToAnswer: 'Time to answer',
  received: 'received',
  refused: 'refused',
  failed: 'failed',
  median: 'median',
  slowest: '95 %',
  thousands: ({ count }: Counted) => `${count}k`,
  asTable: 'as a table',
  nothing: 'Nothing happened in this time.',
  from: 'from',
  estimated: ({ looked, turns }: { readonly looked: number; readonly turns: number }) =>
    `Estimated from ${looked.toLocaleString()} of ${turns.toLocaleString()} turns.`,
}
