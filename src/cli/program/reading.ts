// Names and options of the commands that look: what runs, what waits, what was said, what went wrong.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

const BEFORE = 'only those before this one: where a list that was cut goes on'
const LIMIT = 'at most this many, newest first (default: 50; with --json: all)'
const SINCE = 'not older than this: 90s, 15m, 2h, 1d, or ISO 8601'

export function addReadingCommands(program: Command, action: Action): void {
  program
    .command('status')
    .description('what runs, what waits and the counts')
    .action(action(() => import('../commands/reading/status.ts').then((m) => m.status)))
  program
    .command('doctor')
    .description('what is wrong, numbered, with the command that mends each')
    .option('--verbose', 'also what passes: the live path of every agent, each gate')
    .option('--security', 'instead: what is open, how bad that is and the key or command that closes it')
    .option('--fix', 'with --security: close the modes of our own files and folders, and nothing else')
    .option(
      '--send-test',
      'with --security: also try on the real thing whether a forger would be believed (mail)',
    )
    .action(action(() => import('../commands/reading/doctor.ts').then((m) => m.doctor)))
  program
    .command('logs')
    .description('what the daemon wrote down; of one turn: its whole way')
    .option('-f, --follow', 'go on printing as lines come')
    .option('--integration <id>', 'the lines of this integration')
    .option('--turn <id>', 'the way of this turn, from the ledger and the log')
    .option('--lines <number>', 'at most this many, the newest (default: 200)')
    .action(action(() => import('../commands/reading/logs.ts').then((m) => m.logs)))
  addSchedules(program, action)
  addTurns(program, action)
  program
    .command('inbox')
    .description('turns that are not settled yet: queued, handed, seen')
    .option('--state <states>', 'other states, separated by commas')
    .option('--agent <id>', 'for this agent')
    .option('--integration <id>', 'from this integration')
    .option('--session <id>', 'of this session')
    .option('--since <time>', SINCE)
    .option('--limit <number>', LIMIT)
    .option('--before <id>', BEFORE)
    .action(action(() => import('../commands/reading/inbox.ts').then((m) => m.inbox)))
  addOutbox(program, action)
  addConversations(program, action)
  addAudit(program, action)
}

function addSchedules(program: Command, action: Action): void {
  const load = () => import('../commands/reading/schedules.ts')
  const list = action(() => load().then((m) => m.listSchedules))
  const group = addGroup(
    program,
    'schedules',
    'turns that start by themselves: when next, what came of the last',
    list,
  )
  group.command('list').description('list them (the default)').action(list)
  group
    .command('run')
    .argument('<id>')
    .description('start one now, beside its times')
    .option('--agent <id>', 'of this agent, where several have one of that name')
    .action(action(() => load().then((m) => m.runSchedule)))
}

function addTurns(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/turns.ts').then((m) => m.listTurns))
  const turns = addGroup(program, 'turns', 'every message that came in, with its state and the reason', list)
    .option('--source <source>', 'from this source: webhook:demo, channel:slack, schedule:standup')
    .option('--since <time>', SINCE)
    .option('--until <time>', 'not younger than this')
    .option('--agent <id>', 'for this agent')
    .option('--integration <id>', 'from this integration')
    .option('--session <id>', 'of this session')
    .option('--sender <id>', 'said by this sender')
    .option('--state <states>', 'in these states, separated by commas')
    .option('--limit <number>', LIMIT)
    .option('--before <id>', BEFORE)
    .option('-f, --follow', 'go on printing as turns come and move')
  turns.command('list').description('list them (the default)').action(list)
  turns
    .command('show')
    .argument('<id>')
    .description('one turn in full')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.showTurn)))
  turns
    .command('export')
    .description('print all that the filters of the list let through (needs the daemon)')
    .option('--format <format>', 'ndjson or csv', 'ndjson')
    .action(action(() => import('../commands/reading/turns-export.ts').then((m) => m.exportTurns)))
  turns
    .command('retry')
    .argument('<id>')
    .description('queue a failed or expired turn again')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.retryTurn)))
  turns
    .command('cancel')
    .argument('<id>')
    .description('give up a turn that is still open')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.cancelTurn)))
}

function addConversations(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/conversations.ts').then((m) => m.listConversations))
  const group = addGroup(program, 'conversations', 'every place where something was said; step in', list)
    .option('--integration <id>', 'on this integration')
    .option('--agent <id>', 'of this agent')
    .option('--held', 'that a person holds')
    .option('--asked', 'where a person was asked for')
    .option('--search <text>', 'with this in an id or a name')
    .option('--since <time>', SINCE)
    .option('--limit <number>', LIMIT)
    .option('--before <cursor>', BEFORE)
  group.command('list').description('list them, the latest first (the default)').action(list)
  group
    .command('show')
    .argument('<address>')
    .description('what was said there, with states; who holds it')
    .action(action(() => import('../commands/reading/conversations.ts').then((m) => m.showConversation)))
  const force = 'also where another one holds it'
  group
    .command('take')
    .argument('<address>')
    .description('take it over: from now on you answer there, not the agent')
    .option('--force', force)
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.takeConversation)))
  group
    .command('say')
    .argument('<address>')
    .argument('<text...>', 'the text; - reads it from standard input')
    .description('write there as a person, where you hold it')
    .option('--key <key>', 'an idempotency key: the same key again sends nothing again')
    .option('--wait <duration>', 'how long to wait for the confirmation (default: 10s)')
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.sayHeld)))
  group
    .command('give')
    .argument('<address>')
    .description('give it back to the agent')
    .option('--force', force)
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.giveConversation)))
}

function addOutbox(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/outbox.ts').then((m) => m.listSends))
  const outbox = addGroup(program, 'outbox', 'every message that goes out, with what the platform said', list)
    .option('--state <states>', 'in these states, separated by commas')
    .option('--agent <id>', 'from this agent')
    .option('--integration <id>', 'through this integration')
    .option('--session <id>', 'of this session')
    .option('--since <time>', SINCE)
    .option('--limit <number>', LIMIT)
    .option('--before <id>', BEFORE)
  outbox.command('list').description('list them (the default)').action(list)
  outbox
    .command('show')
    .argument('<id>')
    .description('one message in full')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.showSend)))
  outbox
    .command('retry')
    .argument('<id...>')
    .description('send failed or unknown messages again')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.retrySend)))
  outbox
    .command('bury')
    .argument('<id...>')
    .description('give failed or unknown messages up for good')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.burySend)))
}

function addAudit(program: Command, action: Action): void {
  const audit = addGroup(program, 'audit', 'the ledger: prove it, export it', null)
  audit
    .command('verify')
    .description('check the chain and that every message is accounted for')
    .option('--expect <head>', 'a head kept elsewhere that must be in the chain')
    .action(action(() => import('../commands/reading/audit.ts').then((m) => m.verifyAudit)))
  audit
    .command('export')
    .description('print every entry, oldest first')
    .option('--format <format>', 'ndjson or csv', 'ndjson')
    .action(action(() => import('../commands/reading/audit.ts').then((m) => m.exportAudit)))
  audit
    .command('head')
    .description('print the head of the chain, to keep elsewhere')
    .action(action(() => import('../commands/reading/audit.ts').then((m) => m.auditHead)))
}
