// Names and options of the commands that act: send, keep secrets, mint tokens and links.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addOperatingCommands(program: Command, action: Action): void {
  program
    .command('send')
    .description('send a message: TO is an address (integration:conversation[:thread]) or platform:target')
    .argument('<to>')
    .argument('[text...]', 'the text; - reads it from standard input')
    .option('--thread <id>', 'into this thread')
    .option('--integration <id>', 'through this integration')
    .option('--template <name>', 'a template of the platform instead of free text')
    .option('--language <code>', 'with --template: its language (default: en_US)')
    .option('--param <text...>', 'with --template: what stands in its places, in order')
    .option('--key <key>', 'an idempotency key: the same key again sends nothing again')
    .option('--wait <duration>', 'how long to wait for the confirmation (default: 10s)')
    .action(action(() => import('../commands/sending/send.ts').then((m) => m.send)))
  program
    .command('link')
    .description('print a fresh one-time link to the web chat')
    .option('--qr', 'as a QR code, too: for a phone')
    .action(action(() => import('../commands/daemon/link.ts').then((m) => m.link)))
  program
    .command('console')
    .description('open the console: a one-time link signs you in')
    .option('--user <id>', 'sign in as this user of the configuration (default: the first owner)')
    .option('--no-open', 'only print the link')
    .action(action(() => import('../commands/daemon/console.ts').then((m) => m.openConsole)))
  addSecrets(program, action)
  addTokens(program, action)
}

function addSecrets(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/secrets.ts').then((m) => m.listSecrets))
  const secrets = addGroup(program, 'secrets', 'the encrypted store behind secret:NAME', list)
  secrets.command('list').description('list the names, never the values (the default)').action(list)
  secrets
    .command('set')
    .argument('<name>')
    .description('set a secret; the value is asked for, or read from standard input')
    .option('--value <value>', 'the value itself (others on this machine can see it; better not)')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.setSecret)))
  secrets
    .command('remove')
    .argument('<name>')
    .description('forget a secret')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.removeSecret)))
  secrets
    .command('rotate')
    .description('encrypt all secrets anew with a fresh key')
    .action(action(() => import('../commands/setup/secrets.ts').then((m) => m.rotateSecrets)))
}

function addTokens(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/token.ts').then((m) => m.listTokens))
  const token = addGroup(program, 'token', 'bearer tokens for agents, notifications and the API', list)
  token
    .command('list')
    .description('list them, never the tokens themselves (the default)')
    .option('--all', 'also what every delivery to an agent mints for itself')
    .action(list)
  token
    .command('mint')
    .description('make a token; it is shown this once')
    .option('--kind <kind>', 'agent, notify, user or admin', 'agent')
    .option('--agent <id>', 'for this agent')
    .option('--session <id>', 'for this session of the agent')
    .option('--user <id>', 'for this user')
    .option('--expires <duration>', 'how long it is good: 12h, 30d (default: until revoked)')
    .option('--label <text>', 'a name to know it by')
    .action(action(() => import('../commands/setup/token.ts').then((m) => m.mintToken)))
  token
    .command('revoke')
    .argument('<id>')
    .description('make a token worthless')
    .action(action(() => import('../commands/setup/token.ts').then((m) => m.revokeToken)))
}
