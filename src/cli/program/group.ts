// A command with verbs of its own, and the error for an unknown verb.
import type { Command } from 'commander'
import { nearest } from '../../config/schema/nearest.ts'
import type { SwitchboardError } from '../../contract/index.ts'
import type { Run } from '../context.ts'
import { usage } from '../failure.ts'

/** Loads a command's code. `never`: each command names its own options, the tree does not know them. */
export type Load = () => Promise<Run<never>>
export type Handler = (...given: unknown[]) => Promise<void>
/** Makes a handler of lazily loaded code. */
export type Action = (load: Load) => Handler

/** Without a verb the group does what `bare` does (its list), or shows its help when that is null. */
export function addGroup(parent: Command, name: string, bare: Handler | null): Command {
  const group = parent.command(name).argument('[verb...]').usage('[options] [command]')
  group.helpCommand(false)
  return group.action(async (words: readonly string[], ...rest: unknown[]) => {
    const [verb] = words
    if (verb !== undefined) throw unknownVerb(group, verb)
    if (bare === null) return helpInstead(group)
    return bare(...rest)
  })
}

/** Scripts get an error as JSON. People see the verbs. */
export function helpInstead(of: Command): never {
  const path = pathOf(of)
  if (of.optsWithGlobals<{ readonly json?: boolean }>().json === true)
    throw usage(`"${path}" needs a command`, `see what there is with: ${path} --help`)
  return of.help({ error: true })
}

export function unknownVerb(of: Command, name: string): SwitchboardError {
  const path = pathOf(of)
  const meant = nearest(
    name,
    of.commands.map((command) => command.name()),
  )
  return usage(
    `unknown command "${path} ${name}"`,
    meant === null ? `see what there is with: ${path} --help` : `did you mean: ${path} ${meant}`,
  )
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}
