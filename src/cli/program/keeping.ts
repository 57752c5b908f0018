// Names and options of the commands that keep what there is: backups and putting them back.
import type { Command } from 'commander'
import type { Action } from './group.ts'

export function addKeepingCommands(program: Command, action: Action): void {
  program
    .command('backup')
    .argument('<to>', 'a .tar file, a new folder, or a folder in which one is made')
    .description('copy database, attachments and ledger.key, also while a daemon runs')
    .option(
      '--with-keys',
      'also the key of the secrets and the admin token: keep such a backup like a password',
    )
    .action(action(() => import('../commands/daemon/backup.ts').then((m) => m.backup)))
  program
    .command('restore')
    .argument('[from]', 'what `backup` made, or a database that was rescued')
    .description('put a backup into a data folder that no daemon uses')
    .option('--replace', 'move a database that is there aside')
    .option('--settle', 'after pg_restore: what was open there may have happened since')
    .action(action(() => import('../commands/daemon/restore.ts').then((m) => m.restore)))
}
