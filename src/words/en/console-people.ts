// The console's pages about people, agents and the configuration.
import { type Counted, counted } from '../plural.ts'

export interface Named {
  readonly name: string
}

export const people = {
  lead: 'Who waits, who may talk, who may decide, and why.',
  waiting: 'Waiting to be let in',
  nobodyWaits: 'No person is waiting to be let in.',
  letIn: ({ name, granted }: { readonly name: string; readonly granted: string }) => `${name} ${granted}.`,
  stranger: ({ code }: { readonly code: string }) => `Stranger ${code}`,
  /** `{integration}` is a name. */
  on: 'on {integration}',
  /** `{time}` reads like `in 40 min`. */
  code: 'code {code}, expires {time}',
  letInToTalk: 'Let in to talk',
  letInAsApprover: 'Let in as approver',
  letInAsApproverMeans: 'They may talk and approve tool calls.',
  letInAsMe: 'Let in as me',
  letInAsMeMeans: 'The sender becomes an identity of yours, with your roles.',
  turnAway: 'Turn away',
  rights: 'Who may talk and who may decide',
  rightsCount: counted('right', 'rights'),
  search: 'Search',
  searchFor: 'integration or sender',
  none: 'No sender matches.',
  more: ({ count }: Counted) => `${count.toLocaleString()} more. Search to find them.`,
  is: ({ name }: Named) => `is ${name}`,
  mayTalk: 'may talk',
  mayDecide: 'may decide',
  takeBack: 'Take back',
  allowSender: 'Allow a sender',
  integration: 'Integration',
  sender: 'Sender',
  senderId: 'id on its platform',
  right: 'Right',
  allow: 'Allow',
  granted: 'Granted.',
  users: 'Users',
  usersNote: 'from the configuration',
  noIdentity: 'no identity on a platform',
  noRole: 'no role',
  may: {
    roles: {
      owner: 'may do everything, and give rights',
      operator:
        'reads everything, reloads, pairs, repairs and steps in, but decides no approval and gives no right',
      approver: 'decides approvals, and sees nothing else here',
      viewer: 'reads, but sees no secrets and no inputs of approvals',
    },
    none: 'may use the chat, but not the console',
  },
}

export const personData = {
  title: 'A person’s data',
  note: 'everything that this person said',
  who: 'Who',
  whoFormat: 'user, or integration:sender',
  export: 'Export',
  /** The word is typed as it stands here. */
  confirm: ({ word }: { readonly word: string }) => `To erase, type ${word}`,
  revoke: 'also take back their rights',
  erase: 'Erase',
  erasing: 'Erasing…',
  erased: ({ who, turns, sends, files }: Erased) =>
    `Erased ${who}: ${turns} messages, ${sends} sent to them, ${files} files.`,
  open: ({ count }: Counted) =>
    ` ${count === 1 ? '1 is' : `${count} are`} still on their way, so they were not erased. Erase again later.`,
}

export interface Erased {
  readonly who: string
  readonly turns: number
  readonly sends: number
  readonly files: number
}

export const agents = {
  lead: 'The gates that a message passes, for each agent and integration.',
  allOpen: 'Every gate is open.',
  closed: ({ count }: Counted) =>
    `${count} ${count === 1 ? 'gate is' : 'gates are'} closed. Each says why, and which key changes it.`,
  all: 'All agents and gates',
  none: 'No agent or integration has this name.',
  gates: 'Gates',
  gate: { open: ': open', wide: ': open, wider than most operators want', closed: ': closed' },
  agent: ({ name }: Named) => `Agent ${name}`,
  integration: ({ name }: Named) => `Integration ${name}`,
  binding: ({ name }: Named) => `Binding to ${name}`,
  /** `{integration}` is a name. */
  from: 'from {integration}',
  facts: {
    connector: 'connector',
    host: 'host',
    waiting: 'waiting',
    lastMessage: 'last message',
    approvals: 'approvals',
    tryIt: 'try it',
    platform: 'platform',
    link: 'link',
    complete: 'complete',
    late: 'found late',
    lastIn: 'last in',
    lastOut: 'last out',
    toBeSent: 'to be sent',
    notSent: 'not sent',
  },
  messages: counted('message', 'messages'),
  approvalsWait: ({ count }: Counted) => `${count} ${count === 1 ? 'waits' : 'wait'}`,
  writeToIt: 'write to it',
  /** `{time}` is how long ago it started. */
  process: 'process {pid} {name} since {time}',
  memory: ({ megabytes }: { readonly megabytes: number }) => `, ${megabytes} MB`,
  lastLine: ({ line }: { readonly line: string }) => `: “${line}”`,
  unbound: 'It is bound to no integration, so no message reaches it.',
  unseen: 'Turn {turn} was handed over {time} and not seen: {why}',
  refused: 'Refused messages',
  /** `{key}` is a link into the configuration. */
  toChange: 'Change it with {key}',
  connectionString: 'Connection string',
  create: 'Create',
  rotate: 'Rotate and revoke older ones',
  secret: 'This secret is shown only once. Paste it into the service.',
  servers: 'Channel servers',
  serversNote: 'hosted MCP servers',
  turnedAway: 'Refused hosts and tools',
  hostRefused: 'A host wanted to serve {agent} and was refused: {why}',
  toolsLeftOut: 'Tools of {server} are left out: {why}',
}

export const config = {
  reload: 'Reload',
  /** `{key}` stands as code. */
  lookingFor: 'Looking for {key}',
  refused: 'Rejected: the file on disk is not valid',
  refusedNote: 'the configuration below stays in force',
  refusedFile: 'The rejected file',
  inForce: 'In force',
  embedded: 'the embedded default',
  file: 'The file in force',
  /** `{command}` stands as code. */
  noFile: 'There is no file. Create one with {command}.',
  place: ({ line, column }: { readonly line: number; readonly column: number }) =>
    `line ${line}, column ${column}: `,
  moreLines: counted('more line.', 'more lines.'),
  check: 'Check',
  checkText: 'Check a text',
  checkNote: 'before you write it; the check changes nothing',
  valid: 'The text is valid.',
}
