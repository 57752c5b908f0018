// Names and options of the commands that notify and keep integrations.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

const collected = (value: string, before: readonly string[] = []) => [...before, value]

export function addSendingCommands(program: Command, action: Action): void {
  program
    .command('notify')
    .argument('<text...>')
    .option('--channel <channel>')
    .option('--urgency <level>')
    .option('--user <id>')
    .action(action(() => import('../commands/sending/notify.ts').then((m) => m.notify)))
  addIntegrations(program, action)
  addHooks(program, action)
}

function addHooks(program: Command, action: Action): void {
  const load = () => import('../commands/sending/hooks.ts')
  const group = addGroup(program, 'hooks', null)
  group
    .command('show')
    .argument('<id>')
    .action(action(() => load().then((m) => m.showHook)))
  group
    .command('test')
    .argument('<id>')
    .option('--recipe <name>')
    .option('--event <name>')
    .action(action(() => load().then((m) => m.testHook)))
  group
    .command('replay')
    .argument('<turn>')
    .action(action(() => load().then((m) => m.replayTurn)))
}

function addIntegrations(program: Command, action: Action): void {
  const load = () => import('../commands/setup/integrations.ts')
  const list = action(() => load().then((m) => m.listIntegrations))
  const group = addGroup(program, 'integrations', list)
  group.command('list').action(list)
  group
    .command('add')
    .argument('<platform>')
    .argument('[flags...]')
    .usage('PLATFORM [--FLAG VALUE …] [options]')
    .option('--id <id>')
    .option('--platform <name>')
    .option('--set <key=value>', '', collected)
    .option('--agent <id>')
    .option('--scope <agents>')
    .option('--default')
    .option('--yes')
    .allowUnknownOption()
    .action(action(() => import('../commands/setup/integrations-add.ts').then((m) => m.addIntegration)))
  group
    .command('paste')
    .argument('<platform or id>')
    .action(action(() => load().then((m) => m.pasteIntegration)))
  group
    .command('grant')
    .argument('<id>')
    .argument('<agents>')
    .action(action(() => load().then((m) => m.grantIntegration)))
  group
    .command('enable')
    .argument('<id>')
    .action(action(() => load().then((m) => m.enableIntegration)))
  group
    .command('disable')
    .argument('<id>')
    .action(action(() => load().then((m) => m.disableIntegration)))
  group
    .command('remove')
    .argument('<id>')
    .action(action(() => load().then((m) => m.removeIntegration)))
}
