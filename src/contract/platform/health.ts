// The health table: each row is one way in which a message cannot arrive or an answer cannot leave. `doctor`, `status`
// and the console show findings of these rows with the same word; the reference lists them.

export interface HealthRow {
  /** A problem makes `doctor` exit 1. */
  readonly severity: 'problem' | 'warning'
  /** The state in a word or two, the same everywhere. */
  readonly word: string
  /** When the row applies. */
  readonly when: string
  /** What an operator does about it. */
  readonly remedy: string
}

const row = (severity: HealthRow['severity'], word: string, when: string, remedy: string): HealthRow => ({
  ...{ severity, word, when, remedy },
})

export const HEALTH = {
  'store-away': row(
    'problem',
    'not storing',
    'Messages cannot be stored. Nothing is acknowledged meanwhile.',
    'Mend what the reason says; the daemon goes on by itself.',
  ),
  'disk-low': row(
    'problem',
    'disk low',
    'The disk of the data folder has less than 200 MB left.',
    'Free space, or let retention prune more: `retention` in the configuration.',
  ),
  'config-rejected': row(
    'problem',
    'rejected',
    'The configuration file does not hold. The one before stays in force.',
    '`switchboard check` says where; save the file again.',
  ),
  'ledger-foreign': row(
    'problem',
    'foreign ledger',
    'A part of the ledger was signed with another key than the present `ledger.key`.',
    'Put the old `ledger.key` back into the data folder, or set `SWITCHBOARD_LEDGER_KEY`, and restart. `switchboard audit verify` says which part it is.',
  ),
  'nodes-differ': row(
    'problem',
    'nodes differ',
    'Nodes run different configurations or versions, have the same name, or one of them is gone.',
    '`switchboard status` lists the nodes. Give all of them the same configuration and version, and each a name of its own. Start the node that is gone; after an hour it is not named any more.',
  ),
  'clock-off': row(
    'problem',
    'clock off',
    'The clock of a node differs from the clock of the database by 2 seconds or more. No message is lost by it, but logs of that machine carry wrong times.',
    'Let the machine keep time by NTP.',
  ),
  'module-failed': row(
    'problem',
    'module failed',
    'A module of `modules:` cannot be used. What needs it is down.',
    '`switchboard check` says why; then `switchboard restart`.',
  ),
  'module-changed': row(
    'problem',
    'module changed',
    'The file of a module changed, or is gone, since it was loaded.',
    '`switchboard restart`, or put the file back.',
  ),
  'link-down': row(
    'problem',
    'down',
    'An integration has no connection to its platform, or the platform refuses its key.',
    '`switchboard logs --integration ID` has the story.',
  ),
  'history-behind': row(
    'problem',
    'behind',
    'The history of an integration was not compared, so messages may be missing.',
    'Give the bot the permission that the reason names, or mend the link. The history is then compared again by itself. `switchboard logs --integration ID` has the story.',
  ),
  'limit-hit': row(
    'problem',
    'over its limit',
    'Messages were refused within the last hour because a limit was reached.',
    'Raise the limit that stands beside it, or find out who sends so much.',
  ),
  'gate-closed': row(
    'problem',
    'closed',
    'A gate between a platform and an agent lets nothing through.',
    'Change the key that stands beside the gate.',
  ),
  'agent-absent': row(
    'problem',
    'absent',
    'Nothing is attached that could answer for the agent. Its turns wait.',
    'Start its host, or mend what the reason says.',
  ),
  'agent-unreachable': row(
    'problem',
    'unreachable',
    'No request reaches the agent. Its turns wait.',
    'Start the agent, or mend its URL. Waiting messages follow by themselves.',
  ),
  'agent-was-unreachable': row(
    'warning',
    'was unreachable',
    'No request reached the agent when it was tried last. Nothing waits for it, so that it is not tried now.',
    'Write to the agent, or look whether it runs. The warning goes with its next answer.',
  ),
  'agent-failing': row(
    'problem',
    'failing',
    'The agent is reached and cannot answer: a wrong key, a form that is not understood, a spent budget.',
    'Mend what the reason says. The state goes with the next good answer.',
  ),
  'agent-unbound': row(
    'problem',
    'unbound',
    'The agent is bound to nothing and has no schedule, so that nobody can reach it.',
    'Add `inbound_bindings` to the agent, or `switchboard agents remove ID`.',
  ),
  'agent-trouble': row(
    'problem',
    'in trouble',
    'The agent is attached and says what keeps it from its work, or that it works in a mode which may not ask a person first.',
    'Change what the reason names (such as `connector.mode` or `max_processes`); the agent goes on by itself.',
  ),
  'window-full': row(
    'problem',
    'window full',
    'A host has as many messages as it may be handed. The next ones wait.',
    'Answer or acknowledge them in the session of the host, or restart it if its pipe takes nothing.',
  ),
  'turn-unseen': row(
    'problem',
    'unseen',
    'A turn was handed to a host, and nothing shows that the host took it.',
    '`switchboard logs --turn ID`; look at the session of the host.',
  ),
  'turns-waiting': row(
    'problem',
    'waiting',
    'Messages of a conversation wait for longer than 5 minutes behind one turn.',
    '`/stop` in the chat, or look at the agent.',
  ),
  'host-turned-away': row(
    'problem',
    'turned away',
    'A host wanted to serve an agent and was refused.',
    'Set up a host on this machine with the command that stands below its problem. A host elsewhere needs a token of that agent: `switchboard token mint --kind agent --agent ID`.',
  ),
  'tools-left-out': row(
    'problem',
    'left out',
    'A service lent a server of tools that cannot be asked for its list, so the agent does not get those tools.',
    'Let the operator of that service mend the server, or set `allow_private` where its address is private. Switchboard asks that server again by itself.',
  ),
  'sends-waiting': row(
    'problem',
    'waiting to be sent',
    'Messages wait for longer than 30 seconds to be sent, or the platform never said whether one arrived. They are tried again by themselves.',
    '`switchboard outbox --state queued,sending` lists them; look at the platform, or at the network.',
  ),
  'sends-undelivered': row(
    'problem',
    'undelivered',
    'Answers, files or prompts ended `failed` or `unknown`, and no operator has decided about them.',
    '`switchboard outbox --state failed` and `--state unknown` list them; retry or bury each. A retry of an `unknown` one may show it twice: look in the chat first.',
  ),
  'approvals-unreachable': row(
    'problem',
    'reaches nobody',
    'Approvals of an agent can reach no approver.',
    'List an approver: `access.approvers`, pair one with `--me` or `--approver`, or `switchboard access approver`.',
  ),
} as const satisfies Readonly<Record<string, HealthRow>>

export type HealthCode = keyof typeof HEALTH

export interface HealthFinding {
  readonly code: HealthCode
  readonly severity: HealthRow['severity']
  readonly word: string
  /** The subject: `integration kate_tg`, `agent kate`, `gateway`. */
  readonly subject: string
  readonly text: string
  /** A command, or the key to change. */
  readonly remedy: string
}
