// Names and options of the commands that notify and keep integrations.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

const collected = (value: string, before: readonly string[] = []) => [...before, value]

export function addSendingCommands(program: Command, action: Action): void {
  program
    .command('notify')
    .description('notify a user through a channel of theirs')
    .argument('<text...>', 'the text; - reads it from standard input')
    .option('--channel <channel>', 'a type (telegram), or type:integration (default: the default channel)')
    .option('--urgency <level>', 'low, normal or high')
    .option('--user <id>', 'whom (default: the owner)')
    .action(action(() => import('../commands/sending/notify.ts').then((m) => m.notify)))
  addIntegrations(program, action)
  addHooks(program, action)
}

function addHooks(program: Command, action: Action): void {
  const load = () => import('../commands/sending/hooks.ts')
  const group = addGroup(
    program,
    'hooks',
    'webhooks: set one up at its sender, try it, take a message again',
    null,
  )
  group
    .command('show')
    .argument('<id>')
    .description('print the URL, the headers and the lines to paste at the sender')
    .action(action(() => load().then((m) => m.showHook)))
  group
    .command('test')
    .argument('<id>')
    .option('--recipe <name>', 'send an event of this sender (default: the recipe of the hook, else generic)')
    .option('--event <name>', 'this event, e.g. pull_request (default: the first that makes a message)')
    .description('send a sample through the running daemon, signed as configured, and show each step')
    .action(action(() => load().then((m) => m.testHook)))
  group
    .command('replay')
    .argument('<turn>')
    .description('take the message of a turn once more, as a new turn')
    .action(action(() => load().then((m) => m.replayTurn)))
}

function addIntegrations(program: Command, action: Action): void {
  const load = () => import('../commands/setup/integrations.ts')
  const list = action(() => load().then((m) => m.listIntegrations))
  const group = addGroup(program, 'integrations', 'accounts on platforms, of the file and added here', list)
  group.command('list').description('list them (the default)').action(list)
  group
    .command('add')
    .argument('<platform>', 'what to set up; with --platform: the id')
    .argument('[flags...]', 'an answer to each question of the platform, e.g. --token TOKEN')
    .usage('PLATFORM [--FLAG VALUE …] [options]')
    .description('set up an integration: ask, try it live, keep it encrypted, start it')
    .option('--id <id>', 'what it is called here (default: the platform)')
    .option('--platform <name>', 'for scripts: the word before is the id, and nothing is asked')
    .option('--set <key=value>', 'a key as in the file, e.g. token=secret:TG or out.url=env:URL', collected)
    .option('--agent <id>', 'the agent that takes its messages')
    .option('--scope <agents>', 'all, or ids separated by commas: who may send through it')
    .option('--default', 'where notifications go when no channel is named')
    .option('--yes', 'take the defaults, and keep it without asking')
    .allowUnknownOption()
    .action(action(() => import('../commands/setup/integrations-add.ts').then((m) => m.addIntegration)))
  group
    .command('paste')
    .argument('<platform or id>')
    .description('print what to paste elsewhere: URLs, manifests')
    .action(action(() => load().then((m) => m.pasteIntegration)))
  group
    .command('grant')
    .argument('<id>')
    .argument('<agents>', 'all, or ids separated by commas')
    .description('say which agents may send through it')
    .action(action(() => load().then((m) => m.grantIntegration)))
  group
    .command('enable')
    .argument('<id>')
    .description('turn it on')
    .action(action(() => load().then((m) => m.enableIntegration)))
  group
    .command('disable')
    .argument('<id>')
    .description('turn it off, but keep it')
    .action(action(() => load().then((m) => m.disableIntegration)))
  group
    .command('remove')
    .argument('<id>')
    .description('forget it')
    .action(action(() => load().then((m) => m.removeIntegration)))
}
