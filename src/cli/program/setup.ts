// Names and options of the commands that start Switchboard and look after its configuration.
import { type Command, Option } from 'commander'
import { type Action, addGroup } from './group.ts'

const collected = (value: string, before: readonly string[] = []) => [...before, value]

export function addSetupCommands(program: Command, action: Action): void {
  addLife(program, action)
  addInit(program, action)
  program
    .command('channel')
    .description('serve an agent to a host of MCP channels (Claude Code spawns this; stdout is MCP)')
    .option('--agent <id>', 'the agent that the host is')
    .option('--dialect <name>', 'claude or nexo: the prefix of what is said (default: claude)')
    .option('--no-start', 'do not start a daemon when there is none')
    .option('--url <address>', 'attach to the daemon of another machine (https:// or wss://)')
    .option('--token-file <file>', 'the token to attach there with (or in SWITCHBOARD_TOKEN)')
    .action(action(() => import('../commands/setup/channel.ts').then((m) => m.channel)))
  program
    .command('check')
    .description('check the configuration and say where it is wrong')
    .argument('[file]', 'the file to check (default: the one that "up" would use)')
    .option('--in-force', 'print what the daemon has in force instead, with secrets masked')
    .action(action(() => import('../commands/setup/check.ts').then((m) => m.check)))
  program
    .command('schema')
    .description('print the JSON Schema of switchboard.yaml, for editors')
    .action(action(() => import('../commands/setup/schema.ts').then((m) => m.schema)))
  program
    .command('reload')
    .description('make the daemon read its configuration again; a wrong one changes nothing')
    .action(action(() => import('../commands/daemon/reload.ts').then((m) => m.reload)))
  addInstances(program, action)
  addService(program, action)
  addImport(program, action)
  program
    .command('emulate')
    .description('run a fake platform on this machine, to try things without an account')
    .argument('[platform]', 'which one; without it those that there are are told')
    .option('--port <number>', 'listen on this port (default: 8081; 0 takes a free one)')
    .option('--fault <file>', 'a fault plan (JSON): what goes wrong on purpose')
    .action(action(() => import('../commands/setup/emulate.ts').then((m) => m.emulate)))
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .description('print a script that completes commands and options')
    .action(action(() => import('../commands/setup/completion.ts').then((m) => m.completion)))
  program
    .command('version')
    .description('print the version')
    .action(action(() => import('../commands/setup/version.ts').then((m) => m.version)))
}

function addLife(program: Command, action: Action): void {
  program
    .command('up')
    .description('run the daemon until it is stopped')
    .option('--host <address>', 'listen here (default: 127.0.0.1)')
    .option('--port <number>', 'listen on this port (default: 4747; 0 takes a free one)')
    .option('--open', 'open the web chat in a browser')
    .option('--fresh', 'start empty, even beside data that an earlier version kept in ~/.switchboard')
    .option('-d, --detach', 'run it in the background, and return when it is ready')
    .addOption(new Option('--detached').hideHelp())
    .option('--idle-exit [duration]', 'end when no host is attached and nothing happened for this long (10m)')
    .action(action(() => import('../commands/daemon/up.ts').then((m) => m.up)))
  program
    .command('stop')
    .description('end the daemon: it finishes what is under way first')
    .action(action(() => import('../commands/daemon/stop.ts').then((m) => m.stop)))
  program
    .command('restart')
    .description('end the daemon and start it again in the background')
    .action(action(() => import('../commands/daemon/stop.ts').then((m) => m.restart)))
}

function addInit(program: Command, action: Action): void {
  program
    .command('init')
    .description('set it up: asks at a terminal, tries every credential, starts it; or by flags')
    .argument('[words...]', 'claude-code, for Claude Code alone; and --PLATFORM-FLAG VALUE for each question')
    .usage('[claude-code] [--platform NAME …] [options]')
    .allowUnknownOption()
    .option('--platform <name>', 'where people talk; again for more', collected)
    .option('--set <platform.key=value>', 'a key that no question asks for', collected)
    .option(
      '--agent <name>',
      'who answers: a connector, or an agent of the file; another name is the id of the demo agent',
    )
    .option('--agent-id <id>', 'what the agent is called (default: by its connector)')
    .option('--start', 'start it in the background when it is written')
    .option('--no-start', 'only write')
    .option('--no-wait', 'do not wait for the first message')
    .option('--hook <id>', 'the id of the webhook, as in /hooks/ID (default: alerts)')
    .option('--port <number>', 'the port to write down (default: 4747)')
    .option(
      '--url <address>',
      'http: where the agent takes turns; claude-code: Switchboard on another machine',
    )
    .option('--mode <mode>', 'http: answer (in the response, the default) or later')
    .option('--secret-file <file>', 'http: the whsec_… that the agent verifies with already')
    .option('--provider <name>', 'llm: anthropic, openai or openai-compatible')
    .option('--model <name>', 'llm: the model, as the API names it')
    .option('--base-url <address>', 'llm: where the API is (Ollama, vLLM, OpenRouter …)')
    .option(
      '--api-key-file <file>',
      'llm: where the API key is; without it the key is asked for, or piped in',
    )
    .option('--token-file <file>', 'claude-code: where the token for it is')
    .option('--yes', 'ask nothing, take the defaults')
    .option('--force', 'overwrite what is there')
    .action(action(() => import('../commands/setup/init.ts').then((m) => m.init)))
}

function addService(program: Command, action: Action): void {
  const load = () => import('../commands/daemon/service.ts')
  const status = action(() => load().then((m) => m.serviceStatus))
  const group = addGroup(program, 'service', 'this instance as a service of yours (systemd, launchd)', status)
  const manager = ['--manager <name>', 'systemd or launchd (default: the one of this machine)'] as const
  group
    .command('install')
    .description('write the unit and start it')
    .option('--no-start', 'only write it')
    .option('--print', 'print it instead')
    .option(...manager)
    .action(action(() => load().then((m) => m.installService)))
  group
    .command('uninstall')
    .description('stop it and remove the unit; the data stays')
    .option(...manager)
    .action(action(() => load().then((m) => m.uninstallService)))
  group
    .command('status')
    .description('whether it is installed and runs (the default)')
    .option(...manager)
    .action(status)
}

function addInstances(program: Command, action: Action): void {
  const list = action(() => import('../commands/setup/instances.ts').then((m) => m.listInstances))
  const group = addGroup(program, 'instances', 'the instances of this user: file, folder, daemon', list)
  group.command('list').description('list them (the default)').action(list)
  group
    .command('adopt')
    .argument('<dir>', 'a data folder that no daemon holds')
    .description('move a data folder beside the configuration that it belongs to')
    .action(action(() => import('../commands/setup/instances.ts').then((m) => m.adopt)))
}

function addImport(program: Command, action: Action): void {
  const group = addGroup(program, 'import', 'take over what another program kept', null)
  group
    .command('claude-access')
    .argument(
      '<dir>',
      'the state folder of an official Claude Code plugin, its access.json, or its name (telegram, discord, imessage)',
    )
    .description('print its access.json as an access: block for switchboard.yaml')
    .option('--grant <integration>', 'let its allowFrom talk on this integration at once')
    .action(action(() => import('../commands/setup/import.ts').then((m) => m.importClaudeAccess)))
}
