// Names and options of the commands that act: send, keep secrets, mint tokens and links.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addOperatingCommands(program: Command, action: Action): void {
  program
    .command('send')
    .argument('<to>')
    .argument('[text...]')
    .option('--thread <id>')
    .option('--integration <id>')
    .option('--template <name>')
    .option('--language <code>')
    .option('--param <text...>')
    .option('--key <key>')
    .option('--wait <duration>')
    .action(action(() => import('../commands/sending/send.ts').then((m) => m.send)))
  program
    .command('link')
    .option('--qr')
    .action(action(() => import('../commands/daemon/link.ts').then((m) => m.link)))
  program
    .command('console')
    .option('--user <id>')
    .option('--no-open')
    .action(action(() => import('../commands/daemon/console.ts').then((m) => m.openConsole)))
  addSecrets(program, action)
  addTokens(program, action)
}

function addSecrets(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/secrets.ts').then((m) => m.listSecrets))
  const secrets = addGroup(program, 'secrets', list)
  secrets.command('list').action(list)
  secrets
    .command('set')
    .argument('<name>')
    .option('--value <value>')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.setSecret)))
  secrets
    .command('remove')
    .argument('<name>')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.removeSecret)))
  secrets
    .command('rotate')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.rotateSecrets)))
}

function addTokens(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/token.ts').then((m) => m.listTokens))
  const token = addGroup(program, 'token', list)
  token.command('list').option('--all').action(list)
  token
    .command('mint')
    .option('--kind <kind>', '', 'agent')
    .option('--agent <id>')
    .option('--session <id>')
    .option('--user <id>')
    .option('--expires <duration>')
    .option('--label <text>')
    .action(action(() => import('../commands/setup/token.ts').then((m) => m.mintToken)))
  token
    .command('revoke')
    .argument('<id>')
    .action(action(() => import('../commands/setup/token.ts').then((m) => m.revokeToken)))
}
