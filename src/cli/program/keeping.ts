// Names and options of the commands that keep what there is: backups and putting them back.
import type { Command } from 'commander'
import type { Action } from './group.ts'

export function addKeepingCommands(program: Command, action: Action): void {
  program
    .command('backup')
    .argument('<to>')
    .option('--with-keys')
    .action(action(() => import('../commands/daemon/backup.ts').then((m) => m.backup)))
  program
    .command('restore')
    .argument('[from]')
    .option('--replace')
    .option('--settle')
    .action(action(() => import('../commands/daemon/restore.ts').then((m) => m.restore)))
}
