// Names and options of the commands about agents that are reached by a protocol of their own.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addChorusCommands(program: Command, action: Action): void {
  const list = action(() => import('../commands/sending/chorus.ts').then((m) => m.listConnections))
  const chorus = addGroup(program, 'chorus', list)
  chorus.command('list').action(list)
  chorus
    .command('connect')
    .argument('<id>')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.connect)))
  chorus
    .command('rotate')
    .argument('<id>')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.rotate)))
  chorus
    .command('verify')
    .argument('<url>')
    .option('--service')
    .option('--callback <base>')
    .option('--listen <port>')
    .option('--allow-private')
    .option('--wait <seconds>')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.verify)))

  const agents = action(() => import('../commands/setup/agents.ts').then((m) => m.listAgents))
  const group = addGroup(program, 'agents', agents)
  group.command('list').action(agents)
  group
    .command('try')
    .argument('<id>')
    .argument('<text...>')
    .option('--wait <seconds>')
    .action(action(() => import('../commands/setup/agents-try.ts').then((m) => m.tryAgent)))
  group
    .command('add')
    .argument('<id>')
    .argument('[flags...]')
    .usage('ID --connector TYPE [--FLAG VALUE …] [options]')
    .allowUnknownOption()
    .option('--http <url>')
    .option('--mode <mode>')
    .option('--secret-file <file>')
    .option('--chorus <url>')
    .option('--connector <type>')
    .option('--provider <name>')
    .option('--model <name>')
    .option('--base-url <address>')
    .option('--api-key-file <file>')
    .option('--command <line>')
    .option('--cwd <folder>')
    .option('--write')
    .option('--bind <platform:integration>')
    .option('--allow-private')
    .action(action(() => import('../commands/setup/agents.ts').then((m) => m.addAgent)))
  group
    .command('set')
    .argument('<id>')
    .argument('<key=value...>')
    .action(action(() => import('../commands/setup/agents-change.ts').then((m) => m.setAgent)))
  group
    .command('remove')
    .argument('<id>')
    .action(action(() => import('../commands/setup/agents-change.ts').then((m) => m.removeAgent)))
}
