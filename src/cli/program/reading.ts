// Names and options of the commands that look: what runs, what waits, what was said, what went wrong.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addReadingCommands(program: Command, action: Action): void {
  program
    .command('status')
    .action(action(() => import('../commands/reading/status.ts').then((m) => m.status)))
  program
    .command('doctor')
    .option('--verbose')
    .option('--security')
    .option('--fix')
    .option('--send-test')
    .action(action(() => import('../commands/reading/doctor.ts').then((m) => m.doctor)))
  program
    .command('logs')
    .option('-f, --follow')
    .option('--integration <id>')
    .option('--turn <id>')
    .option('--lines <number>')
    .action(action(() => import('../commands/reading/logs.ts').then((m) => m.logs)))
  addSchedules(program, action)
  addTurns(program, action)
  program
    .command('inbox')
    .option('--state <states>')
    .option('--agent <id>')
    .option('--integration <id>')
    .option('--session <id>')
    .option('--since <time>')
    .option('--limit <number>')
    .option('--before <id>')
    .action(action(() => import('../commands/reading/inbox.ts').then((m) => m.inbox)))
  addOutbox(program, action)
  addConversations(program, action)
  addAudit(program, action)
}

function addSchedules(program: Command, action: Action): void {
  const load = () => import('../commands/reading/schedules.ts')
  const list = action(() => load().then((m) => m.listSchedules))
  const group = addGroup(program, 'schedules', list)
  group.command('list').action(list)
  group
    .command('run')
    .argument('<id>')
    .option('--agent <id>')
    .action(action(() => load().then((m) => m.runSchedule)))
}

function addTurns(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/turns.ts').then((m) => m.listTurns))
  const turns = addGroup(program, 'turns', list)
    .option('--source <source>')
    .option('--since <time>')
    .option('--until <time>')
    .option('--agent <id>')
    .option('--integration <id>')
    .option('--session <id>')
    .option('--sender <id>')
    .option('--state <states>')
    .option('--limit <number>')
    .option('--before <id>')
    .option('-f, --follow')
  turns.command('list').action(list)
  turns
    .command('show')
    .argument('<id>')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.showTurn)))
  turns
    .command('export')
    .option('--format <format>', '', 'ndjson')
    .action(action(() => import('../commands/reading/turns-export.ts').then((m) => m.exportTurns)))
  turns
    .command('retry')
    .argument('<id>')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.retryTurn)))
  turns
    .command('cancel')
    .argument('<id>')
    .action(action(() => import('../commands/reading/turns.ts').then((m) => m.cancelTurn)))
}

function addConversations(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/conversations.ts').then((m) => m.listConversations))
  const group = addGroup(program, 'conversations', list)
    .option('--integration <id>')
    .option('--agent <id>')
    .option('--held')
    .option('--asked')
    .option('--search <text>')
    .option('--since <time>')
    .option('--limit <number>')
    .option('--before <cursor>')
  group.command('list').action(list)
  group
    .command('show')
    .argument('<address>')
    .action(action(() => import('../commands/reading/conversations.ts').then((m) => m.showConversation)))
  group
    .command('take')
    .argument('<address>')
    .option('--force')
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.takeConversation)))
  group
    .command('say')
    .argument('<address>')
    .argument('<text...>')
    .option('--key <key>')
    .option('--wait <duration>')
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.sayHeld)))
  group
    .command('give')
    .argument('<address>')
    .option('--force')
    .action(action(() => import('../commands/reading/conversations-hold.ts').then((m) => m.giveConversation)))
}

function addOutbox(program: Command, action: Action): void {
  const list = action(() => import('../commands/reading/outbox.ts').then((m) => m.listSends))
  const outbox = addGroup(program, 'outbox', list)
    .option('--state <states>')
    .option('--agent <id>')
    .option('--integration <id>')
    .option('--session <id>')
    .option('--since <time>')
    .option('--limit <number>')
    .option('--before <id>')
  outbox.command('list').action(list)
  outbox
    .command('show')
    .argument('<id>')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.showSend)))
  outbox
    .command('retry')
    .argument('<id...>')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.retrySend)))
  outbox
    .command('bury')
    .argument('<id...>')
    .action(action(() => import('../commands/reading/outbox.ts').then((m) => m.burySend)))
}

function addAudit(program: Command, action: Action): void {
  const audit = addGroup(program, 'audit', null)
  audit
    .command('verify')
    .option('--expect <head>')
    .action(action(() => import('../commands/reading/audit.ts').then((m) => m.verifyAudit)))
  audit
    .command('export')
    .option('--format <format>', '', 'ndjson')
    .action(action(() => import('../commands/reading/audit.ts').then((m) => m.exportAudit)))
  audit.command('head').action(action(() => import('../commands/reading/audit.ts').then((m) => m.auditHead)))
}
