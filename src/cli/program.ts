// The tree of commands. Only names, options and help live here: the code of a command is loaded when it is run.
import { Command, type CommanderError } from 'commander'
import { nearest } from '../config/schema/nearest.ts'
import type { SwitchboardError } from '../contract/index.ts'
import type { CommandHelp } from '../words/en/help.ts'
import { wordsIn } from '../words/index.ts'
import { usage } from './failure.ts'
import { addChorusCommands } from './program/chorus.ts'
import { type Action, helpInstead, type Load, unknownVerb } from './program/group.ts'
import { addKeepingCommands } from './program/keeping.ts'
import { addOperatingCommands } from './program/operating.ts'
import { addPeopleCommands } from './program/people.ts'
import { addReadingCommands } from './program/reading.ts'
import { addSendingCommands } from './program/sending.ts'
import { addSetupCommands } from './program/setup.ts'

/** Runs one command's code with the arguments and options that were parsed for it. */
export type Invoke = (load: Load, command: Command) => Promise<void>

/** Of the narrowest terminal that people still have. */
const HELP_WIDTH = 80

export function createProgram(
  invoke: Invoke,
  io: { out(text: string): void; err(text: string): void },
): Command {
  const { help, helpFrame: frame } = wordsIn()
  const program = new Command('switchboard')
  program
    .option('--json')
    .option('--config <file>')
    .option('--data <dir>')
    .option('--name <name>')
    .option('--color')
    .option('--no-color')
    .option('-V, --version')
    .usage('[options] <command>')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, helpWidth: HELP_WIDTH, subcommandTerm: (one) => one.name() })
    .configureOutput({ writeOut: io.out, writeErr: io.err, outputError: () => {} })
    .exitOverride()
    .addHelpText('after', frame.firstSteps)
  const action: Action =
    (load) =>
    (...given) =>
      invoke(load, given.at(-1) as Command)
  program.commandsGroup(frame.start)
  addSetupCommands(program, action)
  program.commandsGroup(frame.look)
  addReadingCommands(program, action)
  program.commandsGroup(frame.people)
  addPeopleCommands(program, action)
  program.commandsGroup(frame.send)
  addOperatingCommands(program, action)
  addChorusCommands(program, action)
  addSendingCommands(program, action)
  program.commandsGroup(frame.keep)
  addKeepingCommands(program, action)
  addHelp(program)
  explain(program, help)
  return program
    .argument('[command...]')
    .action(async ([name]: readonly string[], options: { readonly version?: boolean }, self: Command) => {
      if (name !== undefined) throw unknownVerb(self, name)
      if (options.version !== true) return helpInstead(self)
      return invoke(() => import('./commands/setup/version.ts').then((m) => m.version), self)
    })
}

/** Gives each command, option and argument its words. A hidden option has none. */
function explain(command: Command, help: Readonly<Record<string, CommandHelp>>, path = command.name()): void {
  const { about, options = {}, arguments: given = {} } = help[path] ?? { about: '' }
  command.description(about)
  for (const option of command.options) option.description = options[option.long ?? ''] ?? ''
  for (const one of command.registeredArguments) one.description = given[one.name()] ?? ''
  for (const child of command.commands)
    explain(child, help, command.parent === null ? child.name() : `${path} ${child.name()}`)
}

/** Our own: for an unknown command commander shows the whole help instead of an error. */
function addHelp(program: Command): void {
  program
    .command('help')
    .argument('[command...]')
    .action((words: readonly string[]) => {
      let at = program
      for (const word of words) {
        const next = at.commands.find((one) => one.name() === word)
        if (next === undefined) throw unknownVerb(at, word)
        at = next
      }
      at.help()
    })
}

/** `switchboard agents add [options] <id>`: of the command that the words name, as far as they name one. */
export function usageLine(program: Command, words: readonly string[]): string {
  let at = program
  for (const word of words) {
    const next = at.commands.find((one) => one.name() === word)
    if (next !== undefined) at = next
    else if (!word.startsWith('-') && at !== program) break
  }
  const names: string[] = []
  for (let one: Command | null = at; one !== null; one = one.parent) names.unshift(one.name())
  return `${names.join(' ')} ${at.usage()}`.trimEnd()
}

/** A parse error of commander as one of ours, with the suggestion as the hint. Null: it only showed help. */
export function parseFailure(thrown: CommanderError): SwitchboardError | null {
  if (thrown.exitCode === 0 || thrown.code === 'commander.help') return null
  const [first = '', ...rest] = thrown.message.replace(/^error: /, '').split('\n')
  const meant = /^\(Did you mean (?:one of )?(.+)\?\)$/.exec(rest.join(' ').trim())
  // The parser's own idea of near is wide: --wat is no slip for --data.
  const wrong = /'([^']+)'/.exec(first)?.[1] ?? ''
  const near = nearest(wrong.split('=')[0] ?? '', (meant?.[1] ?? '').split(', '))
  return usage(first, near === null ? 'see what it takes with --help' : `did you mean: ${near}`)
}
