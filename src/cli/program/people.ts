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
  const pair = addGroup(program, 'pair', list)
  pair.command('list').action(list)
  pair
    .command('approve')
    .argument('[code]')
    .option('--approver')
    .option('--me')
    .option('--user <id>')
    .action(action(() => import('../commands/people/pair.ts').then((m) => m.approvePairing)))
  pair
    .command('deny')
    .argument('[code]')
    .action(action(() => import('../commands/people/pair.ts').then((m) => m.denyPairing)))
}

function addAccess(program: Command, action: Action): void {
  const list = action(() => import('../commands/people/access.ts').then((m) => m.listAccess))
  const access = addGroup(program, 'access', list)
  access.command('list').action(list)
  access
    .command('allow')
    .argument('<integration>')
    .argument('<sender>')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.allowSender)))
  access
    .command('remove')
    .argument('<integration>')
    .argument('<sender>')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.removeSender)))
  access
    .command('approver')
    .argument('<integration>')
    .argument('<sender>')
    .option('--remove')
    .action(action(() => import('../commands/people/access.ts').then((m) => m.setApprover)))
}

function addApprovals(program: Command, action: Action): void {
  const list = action(() => import('../commands/people/approvals.ts').then((m) => m.listApprovals))
  const approvals = addGroup(program, 'approvals', list)
    .option('--state <states>')
    .option('--all')
    .option('--limit <number>')
    .option('--before <place>')
  approvals.command('list').action(list)
  approvals
    .command('show')
    .argument('<id>')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.showApproval)))
  approvals
    .command('allow')
    .argument('<id>')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.allowApproval)))
  approvals
    .command('deny')
    .argument('<id>')
    .action(action(() => import('../commands/people/approvals.ts').then((m) => m.denyApproval)))
}

function addPeople(program: Command, action: Action): void {
  const people = addGroup(program, 'people', null)
  const list = action(() => import('../commands/people/people.ts').then((m) => m.listUsers))
  people.command('list').action(list)
  people
    .command('export')
    .argument('<who>')
    .option('--to <folder>')
    .action(action(() => import('../commands/people/people.ts').then((m) => m.exportPerson)))
  people
    .command('erase')
    .argument('<who>')
    .option('--yes')
    .option('--revoke')
    .action(action(() => import('../commands/people/people.ts').then((m) => m.erasePerson)))
}
