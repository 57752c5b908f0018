// A connector tried with its answers, as `init` and `agents add` do it before anything is written.
import { type ModuleSetup, type Options, SwitchboardError } from '../contract/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'
import { type Definition, gatherAnswers, type SecretAnswers } from './setup-answers.ts'
import { reader } from './try-definition.ts'

const TRY_WITHIN_MS = 35_000

/** Null: it cannot be tried. Throws what went wrong, with what to do, and no secret in it. */
export async function triedConnector(
  context: Context,
  type: string,
  setup: ModuleSetup,
  options: Options,
  secrets: SecretAnswers,
): Promise<string | null> {
  if (setup.try === undefined) return null
  const { tryWithin } = await import('./configuration.ts')
  const { who } = await tryWithin(setup, options, TRY_WITHIN_MS).catch((thrown: unknown) => {
    let why = thrown instanceof Error ? thrown.message : String(thrown)
    const known = thrown instanceof SwitchboardError && thrown.code !== 'internal' ? thrown : null
    // What to do about it is the more useful half.
    if (known?.hint !== undefined) why = `${why}. ${known.hint}`
    for (const secret of secrets.values()) why = why.replaceAll(secret, '…')
    const code = known?.code ?? 'execution_failed'
    throw new SwitchboardError(code, `${type}: ${why.slice(0, 500)}`, { hint: 'nothing was written' })
  })
  context.note(`${type} answers: this is ${oneLine(who)}`)
  return who
}

/** The flags of `agents add` that answer the questions of a connector that starts a program. */
export interface ProgramFlags {
  readonly command?: string
  readonly cwd?: string
}

/**
 * The lines of a connector, and who answered. One that starts a program is tried with it; of the others nothing is asked here,
 * and flags for a program are refused.
 */
export async function connectorLines(
  context: Context,
  type: string,
  given: ProgramFlags,
): Promise<{ readonly connector: Definition; readonly who: string | null }> {
  const { openConnector } = await import('./configuration.ts')
  const module = await openConnector(context.configFile(), type)
  const flags = new Map(Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined))
  const setup = module?.setup
  if (!module || !setup?.questions.some(({ flag }) => flag === 'command')) {
    const stray = Object.keys(given)[0]
    if (stray !== undefined)
      throw usage(`--${stray} is for a connector that starts a program`, 'claude-code and acp are such')
    return { connector: { type }, who: null }
  }
  const connector: Definition = {}
  const { questions } = setup
  const read = reader({ options: module.options } as Parameters<typeof reader>[0])
  const secrets = await gatherAnswers(context, connector, { questions, flags, asks: true, yes: true, read })
  Object.assign(connector, setup.complete?.(connector) ?? {})
  const who = await triedConnector(context, type, setup, connector, secrets)
  return { connector: { type, ...connector }, who }
}
