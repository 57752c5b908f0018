// The agent of a starter file by its connector, for scripts: its questions answered by flags and tried before anything is
// written. What was made is in a private file beside the configuration, to be handed over; what was given is kept encrypted.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type ModuleSetup, type Options, SwitchboardError, withoutNulls } from '../contract/index.ts'
import { answerConnector, secretNames, writtenConnector } from './connector-answers.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'
import { flagsOf } from './setup-answers.ts'
import type { Starter } from './starter-config.ts'

export interface StarterAgent {
  readonly id: string
  readonly connector: NonNullable<Starter['connector']>
  /** To be written for its owner only, unless they are there. */
  readonly files: readonly {
    readonly path: string
    readonly value: string
    readonly ask: string
    readonly made: boolean
  }[]
  readonly kept: readonly { readonly name: string; readonly ask: string }[]
  keep(): Promise<void>
  /** What is to be done elsewhere. */
  readonly paste: readonly string[]
  /** More for `--json`. */
  readonly jsonFields: Options
}

export interface StarterWish {
  readonly agent?: string
  readonly file: string
  readonly force?: boolean
  /** By name, without the dashes; `named` are those that help names: of use to some connectors only. */
  readonly flags: ReadonlyMap<string, string>
  readonly named: ReadonlyMap<string, string>
}

export const stemOf = (file: string) => basename(file).replace(/\.ya?ml$/, '')

/** Null: no connector is named, or the one that needs nothing. */
export async function starterAgent(context: Context, wish: StarterWish): Promise<StarterAgent | null> {
  const { agent: id, file } = wish
  const { openConnector, ownAddress } = await import('./configuration.ts')
  const named = id === undefined ? null : await openConnector(null, id)
  const module = named?.first ? null : named
  const questions = module?.setup?.questions ?? []
  const own = flagsOf(questions)
  const stranger = [...wish.flags.keys()].find((flag) => !own.includes(flag))
  if (stranger !== undefined)
    throw usage(`unknown option "--${oneLine(stranger)}"`, 'see what it takes with --help')
  if (module === null || id === undefined) return null
  if (wish.force !== true && existsSync(file))
    throw new SwitchboardError('input_invalid', `${file} is there already`, {
      hint: 'overwrite it with --force, or write elsewhere with --config FILE',
    })
  const pathOf = (key: string) => join(dirname(file), `${stemOf(file)}.${id}.${key}`)
  const flags = new Map([...wish.named, ...wish.flags].filter(([flag]) => own.includes(flag)))
  const answered = await answerConnector(context, module, {
    ...{ by: 'command', flags, known: handedBefore(questions, pathOf), folder: dirname(file), yes: true },
  })
  const names = secretNames(id, module, flags)
  const isHanded = (key: string) => questions.some((one) => one.key === key && one.fresh !== undefined)
  const connector = writtenConnector(module, answered, (key) =>
    isHanded(key) ? `file:./${basename(pathOf(key))}` : `secret:${names.get(key)}`,
  )
  const secrets = questions.flatMap(({ key, ask }) => {
    const value = answered.secrets.get(key)
    return value === undefined ? [] : [{ key, value, ask: oneLine(ask) }]
  })
  const files = secrets
    .filter(({ key }) => isHanded(key))
    .map((one) => ({ ...one, path: pathOf(one.key), made: answered.made.has(one.key) }))
  const kept = secrets
    .filter(({ key }) => !isHanded(key))
    .map((one) => ({ ...one, name: names.get(one.key) ?? one.key }))
  const { stringify } = await import('yaml')
  const yaml = stringify(connector, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  const { description } = module.options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const base = await ownAddress(context.folder, null)
  return {
    ...{ id, files, kept },
    connector: { yaml, comment: `${oneLine(String(description ?? id))} See ${oneLine(module.docs)}` },
    async keep() {
      const { keepSecretAtRest } = await import('../setup/keep-secret.ts')
      const { data } = context.instanceOf(file)
      for (const { name, value } of kept)
        await keepSecretAtRest({ dataDir: data.path, configFile: file, name, value })
    },
    paste: module.setup?.paste?.({ id, base, options: connector }) ?? [],
    jsonFields: {
      ...(files[0] ? { agent_secret_file: files[0].path } : {}),
      ...(questions.some(({ key, secret }) => secret && !isHanded(key))
        ? { agent_secret: kept[0]?.name ?? null }
        : {}),
      ...withoutNulls({ who: answered.who }),
    },
  }
}

/** An agent that was set up here before has its secret already. */
function handedBefore(questions: ModuleSetup['questions'], pathOf: (key: string) => string) {
  const there = questions.filter(({ key, fresh }) => fresh !== undefined && existsSync(pathOf(key)))
  return new Map(there.map(({ key }) => [key, readFileSync(pathOf(key), 'utf8').trim()]))
}
