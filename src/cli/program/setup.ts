// Names and options of the commands that start Switchboard and look after its configuration.
import { type Command, Option } from 'commander'
import { type Action, addGroup } from './group.ts'

const collected = (value: string, before: readonly string[] = []) => [...before, value]

export function addSetupCommands(program: Command, action: Action): void {
  addLife(program, action)
  addInit(program, action)
  program
    .command('channel')
    .option('--agent <id>')
    .option('--dialect <name>')
    .option('--no-start')
    .option('--url <address>')
    .option('--token-file <file>')
    .action(action(() => import('../commands/setup/channel.ts').then((m) => m.channel)))
  program
    .command('check')
    .argument('[file]')
    .option('--in-force')
    .action(action(() => import('../commands/setup/check.ts').then((m) => m.check)))
  program.command('schema').action(action(() => import('../commands/setup/schema.ts').then((m) => m.schema)))
  program.command('reload').action(action(() => import('../commands/daemon/reload.ts').then((m) => m.reload)))
  addInstances(program, action)
  addService(program, action)
  addImport(program, action)
  program
    .command('emulate')
    .argument('[platform]')
    .option('--port <number>')
    .option('--fault <file>')
    .action(action(() => import('../commands/setup/emulate.ts').then((m) => m.emulate)))
  program
    .command('completion')
    .argument('<shell>')
    .action(action(() => import('../commands/setup/completion.ts').then((m) => m.completion)))
  program
    .command('version')
    .action(action(() => import('../commands/setup/version.ts').then((m) => m.version)))
}

function addLife(program: Command, action: Action): void {
  program
    .command('up')
    .option('--host <address>')
    .option('--port <number>')
    .option('--open')
    .option('--fresh')
    .option('-d, --detach')
    .addOption(new Option('--detached').hideHelp())
    .option('--idle-exit [duration]')
    .action(action(() => import('../commands/daemon/up.ts').then((m) => m.up)))
  program.command('stop').action(action(() => import('../commands/daemon/stop.ts').then((m) => m.stop)))
  program.command('restart').action(action(() => import('../commands/daemon/stop.ts').then((m) => m.restart)))
}

function addInit(program: Command, action: Action): void {
  program
    .command('init')
    .argument('[words...]')
    .usage('[claude-code] [--platform NAME …] [options]')
    .allowUnknownOption()
    .option('--platform <name>', '', collected)
    .option('--set <platform.key=value>', '', collected)
    .option('--agent <name>')
    .option('--agent-id <id>')
    .option('--start')
    .option('--no-start')
    .option('--no-wait')
    .option('--hook <id>')
    .option('--port <number>')
    .option('--url <address>')
    .option('--mode <mode>')
    .option('--secret-file <file>')
    .option('--provider <name>')
    .option('--model <name>')
    .option('--base-url <address>')
    .option('--api-key-file <file>')
    .option('--token-file <file>')
    .option('--yes')
    .option('--force')
    .action(action(() => import('../commands/setup/init.ts').then((m) => m.init)))
}

function addService(program: Command, action: Action): void {
  const load = () => import('../commands/daemon/service.ts')
  const status = action(() => load().then((m) => m.serviceStatus))
  const group = addGroup(program, 'service', status)
  group
    .command('install')
    .option('--no-start')
    .option('--print')
    .option('--manager <name>')
    .action(action(() => load().then((m) => m.installService)))
  group
    .command('uninstall')
    .option('--manager <name>')
    .action(action(() => load().then((m) => m.uninstallService)))
  group.command('status').option('--manager <name>').action(status)
}

function addInstances(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/instances.ts').then((m) => m.listInstances))
  const group = addGroup(program, 'instances', list)
  group.command('list').action(list)
  group
    .command('adopt')
    .argument('<dir>')
    .action(action(() => import('../commands/setup/instances.ts').then((m) => m.adopt)))
}

function addImport(program: Command, action: Action): void {
  const group = addGroup(program, 'import', null)
  group
    .command('claude-access')
    .argument('<dir>')
    .option('--grant <integration>')
    .action(action(() => import('../commands/setup/import.ts').then((m) => m.importClaudeAccess)))
}
