// What commands print for people: results, empty lists, and hints that a command itself gives. `help.ts` has `--help`.
import { plural } from '../plural.ts'

export interface Place {
  readonly sender: string
  readonly integration: string
}

export const commandLine = {
  /** Before a line on standard error. */
  labels: { error: 'error:', hint: 'hint:', usage: 'usage:', warning: 'warning:' },
  bug: 'this is a bug in Switchboard; please report it',
  /** A list without rows. */
  empty: {
    access: 'No person has been let in yet.',
    agents: 'No agents are configured.',
    approvals: 'No approvals match.',
    approvalsPending: 'No approval is waiting.',
    connectionStrings: 'There are no connection strings. Create one: switchboard chorus connect ID',
    conversations: 'No conversations match.',
    inbox: 'No turn is waiting.',
    integrations: 'No integrations are configured.',
    outbox: 'No messages match.',
    pairings: 'No person is waiting to be let in.',
    schedules: 'No schedules are configured.',
    secrets: 'No secrets are stored.',
    tokens: 'There are no tokens.',
    turns: 'No turns match.',
    users: 'There are no users.',
  },
  cut: ({ count, place }: { readonly count: number; readonly place: string }) =>
    `Cut at ${count}: more with --limit, or go on with --before ${place}`,
  access: {
    mayNoLongerApprove: ({ sender, integration }: Place) =>
      `${sender} may no longer approve on ${integration}`,
    wasNoApprover: ({ sender, integration }: Place) =>
      `${sender} was not allowed to approve on ${integration}`,
    removed: ({ sender, integration, rights }: Place & { readonly rights: string }) =>
      `${sender} lost what was granted on ${integration}: ${rights}`,
    hadNothing: ({ sender, integration }: Place) => `${sender} was granted nothing on ${integration}`,
    granted: {
      talk: ({ sender, integration }: Place) => `${sender} may talk on ${integration}`,
      approve: ({ sender, integration }: Place) => `${sender} may approve on ${integration}`,
    },
    hint: {
      embedded: 'write a file of your own, where this can be changed: switchboard init',
      platformDefault: ({ integration }: { readonly integration: string }) =>
        `name others there: access: { approvers: ["ID"] }, or switch ${integration} off with enabled: false`,
      configured: 'change it there, in the configuration',
    },
  },
  pair: {
    approved: ({ name, granted }: { readonly name: string; readonly granted: string }) =>
      `${name} ${granted}`,
    denied: ({ code }: { readonly code: string }) => `the code ${code} is forgotten`,
    codeHint: ({ verb }: { readonly verb: string }) => `name the code: switchboard pair ${verb} CODE`,
  },
  approvals: {
    seeHint: ({ id }: { readonly id: string }) => `see: switchboard approvals show ${id}`,
    listHint: 'list them with: switchboard approvals --all',
    outcome: {
      allowed: 'allowed',
      denied: 'denied',
      agentGone: ({ behavior }: { readonly behavior: string }) =>
        `decided (${behavior}), but the agent is gone`,
      onItsWay: ({ behavior }: { readonly behavior: string }) =>
        `decided (${behavior}), on its way to the agent`,
    },
    noChat: 'No chat was asked. Decide it in the console or here.',
    itsApprovers: 'its approvers',
    asked: ({
      person,
      place,
      state,
      why,
    }: Readonly<Record<'person' | 'place' | 'state', string>> & { readonly why: string | null }) =>
      `asked ${person} in ${place}: ${state}${why === null ? '' : ` (${why})`}`,
  },
  people: {
    missingFiles: ({ count }: { readonly count: number }) =>
      `${plural(count, 'file')}: person.ndjson says why`,
    eraseHint: 'say --yes; `switchboard people export` writes it out before',
    confirmErase: ({ who }: { readonly who: string }) =>
      `Erase everything that ${who} said? This cannot be undone. Type ERASE: `,
    notErased: 'nothing was erased',
    messages: ({ turns, sends }: { readonly turns: number; readonly sends: number }) =>
      `${turns} of theirs, ${sends} sent to them`,
    inputs: ({ count }: { readonly count: number }) => plural(count, 'input'),
    rights: ({ count }: { readonly count: number }) => `${count} taken back`,
    open: ({ count }: { readonly count: number }) =>
      `${count} ${count === 1 ? 'is' : 'are'} still on the way: run it again`,
    filesLeft: ({ integrations }: { readonly integrations: string }) =>
      `files of ${integrations}, which does not run: start it and run this again`,
  },
  conversations: {
    taken: ({
      address,
      from,
      ended,
    }: {
      readonly address: string
      readonly from: string | null
      readonly ended: number
    }) =>
      `You hold ${address}${from === null ? '' : `, from ${from}`}${ended === 0 ? '' : `; ${plural(ended, 'message')} ended by it`}.`,
    sayHint: ({ address }: { readonly address: string }) =>
      `write there with: switchboard conversations say ${address} TEXT`,
    given: ({ address, agent }: { readonly address: string; readonly agent: string | null }) =>
      agent === null ? `${address} is free again.` : `${agent} answers at ${address} again.`,
    mayLack: 'no daemon runs: what was said just before it stopped may not be listed yet',
    listHint: 'list conversations with: switchboard conversations list',
  },
  send: {
    queued: ({ id }: { readonly id: string }) => `, not confirmed yet; see: switchboard outbox show ${id}`,
    deduplicated: ': the same text went there a moment ago',
    notSent: 'it was not sent',
    seeHint: ({ id }: { readonly id: string }) => `see: switchboard outbox show ${id}`,
  },
  outbox: { listHint: 'list them with: switchboard outbox' },
  schedules: {
    started: ({ turn }: { readonly turn: string }) =>
      `started as turn ${turn}; follow it: switchboard logs --turn ${turn}`,
    whichHint: ({ agent }: { readonly agent: string }) => `which one: --agent ${agent}`,
  },
  turns: { listHint: 'list them with: switchboard turns' },
}
