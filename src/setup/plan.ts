// The wizard's questions, in their order: where people talk, what each platform asks, who answers, what its connector asks.
// A flag answers before the person does. Every answer is tried, and a refused one is asked again. Nothing is written here.
import { dirname } from 'node:path'
import { type ConnectorModule, type PlatformModule, SwitchboardError } from '../contract/index.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { wordsIn } from '../words/index.ts'
import { type AnsweredAgent, answerAgent } from './agent.ts'
import { createSecretPipe, EMPTY_PIPE, FROM_INPUT, refuseTwoPiped, type SecretPipe } from './answers.ts'
import { type Asker, hasGivenUp } from './asker.ts'
import { type Catalog, describedAs, flagsOf, openCatalog, refuseSlip } from './catalog.ts'
import type { ConfigFile } from './config-file.ts'
import { type Definition, freeName, ID, putAt, readValue } from './definition.ts'
import { type AnsweredIntegration, answerIntegration, isPastedBefore } from './integration.ts'
import { usage } from './usage.ts'

export interface PlannedIntegration extends AnsweredIntegration {
  readonly id: string
  readonly module: PlatformModule
}

export type PlannedAgent =
  /** The file has it already. */
  | { readonly kind: 'known'; readonly id: string }
  | (Pick<AnsweredAgent, 'connector' | 'secrets'> & {
      readonly kind: 'new'
      readonly id: string
      /** What is left to do elsewhere. */
      readonly paste: readonly string[]
    })

/** It takes messages, and nothing can be sent through it. */
export const isOneWay = ({ module, definition }: Pick<PlannedIntegration, 'module' | 'definition'>) =>
  module.oneWay?.(definition) === true

/** What is going to be written. Every answer was tried. */
export interface Plan {
  readonly integrations: readonly PlannedIntegration[]
  readonly agent: PlannedAgent
}

export interface PlanWish {
  readonly file: ConfigFile
  readonly platforms: readonly string[]
  /** A connector, or an agent of the file. Null: asked. */
  readonly agent: string | null
  readonly agentId: string | null
  /** `telegram.api_root=URL`: a key that no question asks for. */
  readonly set: readonly string[]
  /** `--telegram-token`, `--command`: by name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** `--url` and others that the help names. Only some connectors ask for them. */
  readonly named: ReadonlyMap<string, string>
  readonly yes: boolean
  /** Where the server is reached. */
  readonly base: string
}

interface Planning {
  readonly asker: Asker
  readonly wish: PlanWish
  readonly catalog: Catalog
  /** Everything piped in: for the platforms in their order, then for the agent. A flag with `-` takes it all. */
  readonly pipe: SecretPipe
  /** The flag with `-`. Undefined: there is none. */
  readonly piped: string | undefined
}

export async function askPlan(asker: Asker, wish: PlanWish): Promise<Plan> {
  const catalog = await openCatalog(wish.file.exists ? wish.file.path : null)
  const { platforms, connectors } = catalog
  const chosen = await choosePlatforms(asker, wish, platforms)
  // While nobody has said who answers, a flag may belong to any connector.
  refuseUnknownFlags(wish, chosen, wish.agent === null && asker.prompts === null ? [] : connectors.values())
  const agent = wish.agent ?? wish.file.agents[0] ?? firstOf(connectors)
  const open = [
    ...chosen.flatMap((name) => openSecrets(wish, platforms.get(name), `${name}-`)),
    ...openSecrets(wish, connectors.get(agent), ''),
  ]
  const piped = [
    ...chosen.flatMap((name) => pipedSecrets(wish, platforms.get(name), `${name}-`)),
    ...pipedSecrets(wish, connectors.get(agent), ''),
  ]
  refuseTwoPiped(piped.map((flag) => `--${flag}`))
  const pipe = createSecretPipe(asker, piped.length === 1 || open.length === 1)
  const planning = { asker, wish, catalog, pipe, piped: piped[0] }
  const integrations: PlannedIntegration[] = []
  const taken = new Set(wish.file.integrations.map(({ id }) => id))
  for (const name of chosen) {
    const planned = await planIntegration(planning, name, taken)
    taken.add(planned.id)
    integrations.push(planned)
  }
  return { integrations, agent: await planAgent(planning) }
}

type Module = PlatformModule | ConnectorModule
type Modules = ReadonlyMap<string, Module>

/** The secrets that no flag gives. */
function openSecrets(wish: PlanWish, module: Module | undefined, prefix: string): readonly string[] {
  const isGiven = (flag: string) => wish.flags.has(prefix + flag) || wish.named.has(prefix + flag)
  return (module?.setup?.questions ?? [])
    .filter(({ secret, flag }) => secret && !isGiven(flag) && !isGiven(`${flag}-file`))
    .map(({ flag }) => flag)
}

/** The flags whose secret is read from standard input. */
function pipedSecrets(wish: PlanWish, module: Module | undefined, prefix: string): readonly string[] {
  const given = new Map([...wish.named, ...wish.flags])
  return (module?.setup?.questions ?? [])
    .filter(({ secret }) => secret)
    .flatMap(({ flag }) => [prefix + flag, `${prefix}${flag}-file`])
    .filter((flag) => given.get(flag) === FROM_INPUT)
}

async function choosePlatforms(
  { prompts }: Asker,
  { platforms: wanted, file }: PlanWish,
  platforms: Modules,
): Promise<readonly string[]> {
  const names = [...platforms.keys()].join(', ')
  const unknown = wanted.find((name) => !platforms.has(name))
  if (unknown !== undefined)
    throw usage(`--platform: "${oneLine(unknown)}" cannot be set up`, `what there is: ${names}`)
  if (wanted.length > 0) return wanted
  if (prompts === null) throw usage('no platform is named', `--platform NAME, of: ${names}`)
  const isFirst = file.integrations.length === 0
  const modules = [...platforms.values()]
  const first = modules.filter((module) => isFirst && module.first).map(({ name }) => name)
  return prompts.several(wordsIn().setup.plan.wherePeopleTalk, modules.map(choiceOf), first)
}

const choiceOf = ({ name, title = name, options }: Module) => ({
  value: name,
  label: title,
  hint: describedAs(options),
})

/** The one for newcomers. */
const firstOf = (modules: Modules) =>
  [...modules.values()].find(({ first }) => first)?.name ?? [...modules.keys()][0] ?? ''

/** The questions of the module. Its name stands before its flags: `--telegram-token`. */
async function planIntegration(
  { asker, wish, catalog, pipe, piped }: Planning,
  name: string,
  taken: ReadonlySet<string>,
): Promise<PlannedIntegration> {
  const module = catalog.platforms.get(name) as PlatformModule
  const fixed: Definition = { id: freeName(module.setup?.id ?? name, taken), platform: name }
  for (const pair of wish.set) if (pair.startsWith(`${name}.`)) putPair(fixed, pair.slice(name.length + 1))
  const id = String(fixed.id)
  if (taken.has(id)) throw usage(`integration "${oneLine(id)}" is there already`, `--set ${name}.id=ANOTHER`)
  const paste = isPastedBefore(module) ? module.setup?.paste?.({ id, base: wish.base, options: {} }) : []
  if (paste?.length)
    asker.prompts?.show(wordsIn().setup.plan.pasteBefore({ platform: module.title ?? name }), paste)
  const prefix = `${name}-`
  const flags = new Map(
    [...wish.flags].flatMap(([flag, value]) =>
      flag.startsWith(prefix) ? [[flag.slice(prefix.length), value] as const] : [],
    ),
  )
  return again(asker, async (person) => {
    const answered = await answerIntegration(
      person,
      { catalog, module, fixed },
      {
        flags,
        asks: true,
        yes: wish.yes,
        pipe: piped === undefined || piped.startsWith(prefix) ? pipe : EMPTY_PIPE,
        called: (flag) => `--${prefix}${flag}`,
      },
    )
    return { id, module, ...answered }
  })
}

/** `out.url=env:URL` into the definition. */
export function putPair(definition: Definition, pair: string): void {
  const cut = pair.indexOf('=')
  if (cut < 1) throw usage(`--set: "${oneLine(pair)}" is not key=value`, 'write e.g. --set token=secret:TG')
  putAt(definition, pair.slice(0, cut), readValue(pair.slice(cut + 1)))
}

/** Asks once more after a refusal. When nothing was asked, because flags said everything, the refusal stands. */
async function again<T>(asker: Asker, work: (asker: Asker) => Promise<T>): Promise<T> {
  for (;;) {
    let asked = false
    try {
      return await work({
        ...asker,
        ask: (question) => {
          asked = true
          return asker.ask(question)
        },
      })
    } catch (thrown) {
      const isRefusal = asked && thrown instanceof SwitchboardError && !hasGivenUp(thrown)
      if (asker.prompts === null || !isRefusal) throw thrown
      asker.prompts.say(wordsIn().setup.plan.refused({ why: oneLine(thrown.message) }), 'warning')
    }
  }
}

async function planAgent({ asker, wish, catalog, pipe, piped }: Planning): Promise<PlannedAgent> {
  const known = wish.file.agents
  const { connectors } = catalog
  const choice = wish.agent ?? (await chooseAgent(asker, known, connectors))
  if (known.includes(choice)) return { kind: 'known', id: choice }
  // Another name is the id of an agent that needs nothing.
  if (!connectors.has(choice)) refuseSlip(choice, connectors, wish.named)
  const type = connectors.has(choice) ? choice : firstOf(connectors)
  const module = connectors.get(type)
  if (module === undefined) {
    const names = [...connectors.keys()].join(', ')
    throw usage(`connector "${oneLine(type)}" cannot be set up`, `what there is: ${names}`)
  }
  const id = wish.agentId ?? (type === choice ? freeName(module.setup?.id ?? type, new Set(known)) : choice)
  if (!ID.test(id)) throw usage(`id of the agent: "${oneLine(id)}" is not an id`)
  if (known.includes(id))
    throw usage(`agent "${oneLine(id)}" is there already`, 'another name: --agent-id ID')
  const own = flagsOf(module)
  const flags = new Map([...wish.named, ...wish.flags].filter(([flag]) => own.includes(flag)))
  // A secret is made once, however often it is asked for.
  const fresh = new Map<string, string>()
  const { connector, secrets } = await again(asker, (person) =>
    answerAgent(person, module, {
      by: 'wizard',
      fresh,
      flags,
      folder: dirname(wish.file.path),
      yes: wish.yes,
      pipe: piped === undefined || flags.has(piped) ? pipe : EMPTY_PIPE,
    }),
  )
  const paste = module.setup?.paste?.({ id, base: wish.base, options: connector }) ?? []
  return { kind: 'new', id, connector: { type, ...connector }, secrets, paste }
}

async function chooseAgent(
  { prompts }: Asker,
  known: readonly string[],
  connectors: Modules,
): Promise<string> {
  const otherwise = known[0] ?? firstOf(connectors)
  if (prompts === null) return otherwise
  const words = wordsIn().setup.plan
  const choices = [
    ...known.map((id) => ({ value: id, label: words.known({ agent: id }) })),
    ...[...connectors.values()].filter(({ name }) => !known.includes(name)).map(choiceOf),
  ]
  return prompts.one(words.whoAnswers, choices, otherwise)
}

/** A flag of a platform that is not set up is a slip, and its value may be a secret. */
function refuseUnknownFlags(
  { flags, platforms, agent }: PlanWish,
  chosen: readonly string[],
  connectors: Iterable<Module>,
): void {
  if (platforms.length === 0) return
  const own = [...connectors].filter(({ name }) => agent === null || name === agent).flatMap(flagsOf)
  const unknown = [...flags.keys()].find(
    (flag) => !own.includes(flag) && !chosen.some((name) => flag.startsWith(`${name}-`)),
  )
  if (unknown === undefined) return
  const asks = agent === null || own.length === 0 ? '' : `; ${agent} asks --${own.join(', --')}`
  throw usage(
    `unknown option "--${oneLine(unknown)}"`,
    `a question of a platform is --PLATFORM-FLAG, e.g. --${chosen[0]}-token${asks}`,
  )
}
