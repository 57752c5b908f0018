// Names and options of the commands about people: who may talk, who may approve, what waits for a yes.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addPeopleCommands(program: Command, action: Action): void {
  addPair(program, action)
  addAccess(program, action)
  addApprovals(program, action)
  addPeople(program, action)
}

function addPair(program: Command, action: Action): void {
  const list = action(() => import('../commands/people/pair.ts').then((m) => m.listPairings))
  const pair = addGroup(program, 'pair', 'strangers who were given a pairing code', list)
  pair.command('list').description('list the codes (the default)').action(list)
  pair
    .command('approve')
    .argument('[code]')
    .description('let the sender with this code in, to talk')
    .option('--approver', 'they may also approve tool calls')
    .option('--me', 'this is you: an identity of the user who approves')
    .option('--user <id>', 'they are this user of the configuration')
    .action(action(() => import('../commands/people/pair.ts').then((m) => m.approvePairing)))
  pair
    .command('deny')
    .argument('[code]')
    .description('forget this code')
    .action(action(() => import('../commands/people/pair.ts').then((m) => m.denyPairing)))
}

function addAccess(program: Command, action: Action): void {
  const list = action(() => import('../commands/people/access.ts').then((m) => m.listAccess))
  const access = addGroup(program, 'access', 'who may talk and who may approve', list)
  access.command('list').description('list the rights (the default)').action(list)
  access
    .command('allow')
    .argument('<integration>')
    .argument('<sender>')
    .description('let this sender talk')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.allowSender)))
  access
    .command('remove')
    .argument('<integration>')
    .argument('<sender>')
    .description('take every right from this sender')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.removeSender)))
  access
    .command('approver')
    .argument('<integration>')
    .argument('<sender>')
    .description('let this sender decide approvals')
    .option('--remove', 'take that right away again')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.setApprover)))
}

function addApprovals(program: Command, action: Action): void {
  const list = action(() => import('../commands/people/approvals.ts').then((m) => m.listApprovals))
  const approvals = addGroup(program, 'approvals', 'tool calls that wait for a yes or no', list)
    .option('--state <states>', 'in these states, separated by commas (default: pending)')
    .option('--all', 'in any state')
    .option('--limit <number>', 'at most this many, newest first (default: 50; with --json: all)')
    .option('--before <place>', 'only those before this one (its `seq`)')
  approvals.command('list').description('list them (the default)').action(list)
  approvals
    .command('show')
    .argument('<id>')
    .description('one approval with the whole input')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.showApproval)))
  approvals
    .command('allow')
    .argument('<id>')
    .description('allow this one call')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.allowApproval)))
  approvals
    .command('deny')
    .argument('<id>')
    .description('deny this one call')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.denyApproval)))
}

function addPeople(program: Command, action: Action): void {
  const people = addGroup(program, 'people', 'what a person said: write it out, or erase it', null)
  const list = action(() => import('../commands/people/people.ts').then((m) => m.listUsers))
  people.command('list').description('the users of the configuration, with their roles').action(list)
  people
    .command('export')
    .argument('<who>', 'a user of the configuration, or integration:sender')
    .description('print everything that a person said, one JSON object a line')
    .option('--to <folder>', 'write it into a new folder, with the files that they sent')
    .action(action(() => import('../commands/people/people.ts').then((m) => m.exportPerson)))
  people
    .command('erase')
    .argument('<who>', 'a user of the configuration, or integration:sender')
    .description('erase everything that a person said; keys, counters and the ledger stay')
    .option('--yes', 'do not ask')
    .option('--revoke', 'take their granted rights back, too')
    .action(action(() => import('../commands/people/people.ts').then((m) => m.erasePerson)))
}
