// From questions to a plan. Everything that can be asked comes from the modules; a flag answers before the person does, and
// what was answered is tried on the real thing: a wrong credential is asked for again, and nothing is written meanwhile.
import { dirname } from 'node:path'
import { defined, type ModuleSetup, type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import type { Offer } from '../configuration.ts'
import { answerConnector } from '../connector-answers.ts'
import type { Context } from '../context.ts'
import { usage } from '../failure.ts'
import { createPaint } from '../output/colour.ts'
import { oneLine } from '../output/text.ts'
import {
  createSecretPipe,
  type Definition,
  flagsOf,
  gatherAnswers,
  isPastedBefore,
  putAt,
  type SecretPipe,
  withSecrets,
} from '../setup-answers.ts'
import { put, reader, tryOut } from '../try-definition.ts'
import type { FileFacts } from './file-facts.ts'
import type { Plan, PlannedAgent, PlannedIntegration } from './plan.ts'
import type { Prompts } from './prompts.ts'

export interface Wish {
  readonly file: string
  readonly facts: FileFacts
  readonly platforms: readonly string[]
  /** A connector, or an agent of the file; null: asked. */
  readonly agent: string | null
  readonly agentId: string | null
  /** `telegram.api_root=URL`: a key of a platform that no question asks for. */
  readonly set: readonly string[]
  /** `--telegram-token`, `--command`: by name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** `--url` and others that help names: of use to some connectors only. */
  readonly named: ReadonlyMap<string, string>
  readonly yes: boolean
  /** Where the server is, or will be, reached. */
  readonly base: string
}

/** Null prompts: nothing is asked, and what is missing is an error. */
export async function askPlan(context: Context, prompts: Prompts | null, wish: Wish): Promise<Plan> {
  const { openOffers } = await import('../configuration.ts')
  const offers = await openOffers(wish.facts.exists ? wish.file : null)
  const names = await chosenPlatforms(prompts, wish, offers.platforms)
  // Who answers may be asked yet: then it can be a flag of any of them.
  refuseStrangeFlags(wish, names, wish.agent === null && prompts === null ? [] : offers.connectors)
  const pipe = createSecretPipe(context, { isForOne: openSecrets(wish, names, offers) === 1 })
  const integrations: PlannedIntegration[] = []
  const taken = new Set(wish.facts.integrations.map(({ id }) => id))
  for (const name of names) {
    const one = await planIntegration(context, prompts, { ...wish, name, taken, pipe })
    taken.add(one.definition.id)
    integrations.push(one)
  }
  const agent = await planAgent(context, prompts, { ...wish, pipe }, offers.connectors)
  return { integrations, agent }
}

/** What is piped in is for all of them, in their order, and then for the agent. */
type Shared = Wish & { readonly pipe: SecretPipe }

/** How many secrets no flag gives. */
function openSecrets(
  wish: Wish,
  platforms: readonly string[],
  offers: { readonly platforms: readonly Offer[]; readonly connectors: readonly Offer[] },
): number {
  const open = (all: readonly Offer[], name: string, prefix: string) =>
    secretFlags(all.find((one) => one.name === name)).filter((flag) =>
      [flag, `${flag}-file`].every((one) => !wish.flags.has(prefix + one) && !wish.named.has(prefix + one)),
    ).length
  const agent = wish.agent ?? wish.facts.agents[0] ?? newcomers(offers.connectors)
  return platforms.reduce(
    (sum, name) => sum + open(offers.platforms, name, `${name}-`),
    open(offers.connectors, agent, ''),
  )
}

/** Those that a file may hold. */
const secretFlags = (offer: Offer | undefined) =>
  (offer?.flags ?? []).filter((flag) => offer?.flags.includes(`${flag}-file`))

async function chosenPlatforms(
  prompts: Prompts | null,
  { platforms, facts }: Wish,
  offers: readonly Offer[],
): Promise<readonly string[]> {
  const names = offers.map(({ name }) => name)
  const stranger = platforms.find((one) => !names.includes(one))
  if (stranger !== undefined)
    throw usage(`--platform: "${oneLine(stranger)}" cannot be set up`, `what there is: ${names.join(', ')}`)
  if (platforms.length > 0) return platforms
  if (prompts === null) throw usage('no platform is named', `--platform NAME, of: ${names.join(', ')}`)
  const choices = offers.map(({ name, title, hint }) => ({ value: name, label: title, hint }))
  const first =
    facts.integrations.length === 0 ? offers.filter((one) => one.first).map(({ name }) => name) : []
  return prompts.several('Where do people talk to it?', choices, first)
}

/** The questions of the module, with its prefix before the flags: `--telegram-token`. */
async function planIntegration(
  context: Context,
  prompts: Prompts | null,
  wish: Shared & { readonly name: string; readonly taken: ReadonlySet<string> },
): Promise<PlannedIntegration> {
  const { name, taken } = wish
  const { openSetup } = await import('../configuration.ts')
  const door = await openSetup(wish.facts.exists ? wish.file : null, name)
  const module = door.module as PlatformModule
  const fixed: Definition = { id: freeId(module.setup?.id ?? name, taken), platform: name }
  for (const pair of wish.set) if (pair.startsWith(`${name}.`)) put(fixed, pair.slice(name.length + 1))
  const id = String(fixed.id)
  if (taken.has(id)) throw usage(`integration "${oneLine(id)}" is there already`, `--set ${name}.id=ANOTHER`)
  showPaste(prompts, `${module.title ?? name}: what to do there`, before(module, { id, base: wish.base }))
  const flags = own(wish.flags, `${name}-`)
  const questions = module.setup?.questions ?? []
  return again(context, prompts, async (asking) => {
    const definition = structuredClone(fixed)
    const secrets = await gatherAnswers(asking, definition, {
      ...{ questions, flags, asks: true, yes: wish.yes, read: reader(module), pipe: wish.pipe },
      called: (flag) => `--${name}-${flag}`,
    })
    const answers = withSecrets(definition, secrets)
    for (const [key, value] of Object.entries(module.setup?.complete?.(answers) ?? {}))
      putAt(definition, key, value)
    const who = await tryOut(asking, door, definition, secrets)
    return { module, definition: definition as PlannedIntegration['definition'], secrets, who }
  })
}

function before(
  module: PlatformModule,
  place: { readonly id: string; readonly base: string },
): readonly string[] {
  return isPastedBefore(module) ? (module.setup?.paste?.({ ...place, options: {} }) ?? []) : []
}

/** Asked once more after a refusal; where nothing was asked, for flags said it all, the refusal stands. */
async function again<T>(
  context: Context,
  prompts: Prompts | null,
  work: (asking: Context) => Promise<T>,
): Promise<T> {
  for (;;) {
    let asked = false
    const asking = prompts === null ? context : askingBy(context, prompts, () => (asked = true))
    try {
      return await work(asking)
    } catch (thrown) {
      const typed = prompts !== null && asked && thrown instanceof SwitchboardError
      if (!typed || GIVEN_UP.test(thrown.message)) throw thrown
      prompts.say(`no: ${oneLine(thrown.message)}; once more, or Ctrl-C`, 'warning')
    }
  }
}

const GIVEN_UP = /^(given up|nothing was kept: the input ended)/

async function planAgent(
  context: Context,
  prompts: Prompts | null,
  wish: Shared,
  offers: readonly Offer[],
): Promise<PlannedAgent> {
  const known = wish.facts.agents
  const names = offers.map(({ name }) => name)
  const choice = wish.agent ?? (await chosenAgent(prompts, wish, offers))
  if (known.includes(choice)) return { kind: 'known', id: choice }
  // Another name is the id of an agent that needs nothing.
  const type = names.includes(choice) ? choice : newcomers(offers)
  const { openConnector } = await import('../configuration.ts')
  const module = await openConnector(wish.facts.exists ? wish.file : null, type)
  if (module === null)
    throw usage(`connector "${oneLine(type)}" cannot be set up`, `what there is: ${names.join(', ')}`)
  const setup: ModuleSetup = module.setup ?? { questions: [] }
  const id = wish.agentId ?? (type === choice ? freeId(setup.id ?? type, new Set(known)) : choice)
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(id))
    throw usage(`id of the agent: "${oneLine(id)}" is not an id`)
  if (known.includes(id))
    throw usage(`agent "${oneLine(id)}" is there already`, 'another name: --agent-id ID')
  const own = flagsOf(setup.questions)
  const flags = new Map([...wish.named, ...wish.flags].filter(([flag]) => own.includes(flag)))
  // One secret is made, however often it is asked for.
  const fresh = new Map<string, string>()
  return again(context, prompts, async (asking) => {
    const { connector, secrets, who } = await answerConnector(asking, module, {
      ...{ by: 'wizard', fresh, flags, folder: dirname(wish.file), yes: wish.yes, pipe: wish.pipe },
    })
    const paste = setup.paste?.({ id, base: wish.base, options: connector }) ?? []
    return { kind: 'new', id, connector: { type, ...connector }, secrets, who, paste }
  })
}

async function chosenAgent(
  prompts: Prompts | null,
  { facts }: Wish,
  offers: readonly Offer[],
): Promise<string> {
  const [first] = facts.agents
  const otherwise = first ?? newcomers(offers)
  if (prompts === null) return otherwise
  const known = facts.agents.map((id) => ({ value: id, label: `${id}, which is there already` }))
  const fresh = offers.map(({ name, title, hint }) => ({ value: name, label: title, hint }))
  return prompts.one(
    'Who answers?',
    [...known, ...fresh.filter(({ value }) => !facts.agents.includes(value))],
    otherwise,
  )
}

const newcomers = (offers: readonly Offer[]) => offers.find((one) => one.first)?.name ?? offers[0]?.name ?? ''

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted
  for (let more = 2; taken.has(id); more++) id = `${wanted}-${more}`
  return id
}

function own(flags: ReadonlyMap<string, string>, prefix: string): Map<string, string> {
  return new Map(
    [...flags].flatMap(([flag, value]) =>
      flag.startsWith(prefix) ? [[flag.slice(prefix.length), value]] : [],
    ),
  )
}

/** `--telegram-token` without telegram among what is set up is a slip, and its value may be a secret that is dropped. */
function refuseStrangeFlags(
  { flags, platforms, agent }: Wish,
  chosen: readonly string[],
  connectors: readonly Offer[],
): void {
  if (platforms.length === 0) return
  const own = connectors.filter(({ name }) => agent === null || name === agent)
  const known = own.flatMap((one) => one.flags)
  const stranger = [...flags.keys()].find(
    (flag) => !known.includes(flag) && !chosen.some((name) => flag.startsWith(`${name}-`)),
  )
  if (stranger === undefined) return
  const asks = agent === null || known.length === 0 ? '' : `; ${agent} asks --${known.join(', --')}`
  throw usage(
    `unknown option "--${oneLine(stranger)}"`,
    `a question of a platform is --PLATFORM-FLAG, e.g. --${chosen[0]}-token${asks}`,
  )
}

function showPaste(prompts: Prompts | null, title: string, lines: readonly string[]): void {
  if (lines.length > 0) prompts?.show(title, lines)
}

/** The terminal's questions, asked by the prompts; notes go there too, so that they stand in one column. */
function askingBy(context: Context, prompts: Prompts, onAsk: () => void): Context {
  return {
    ...context,
    // What prompts say is cleared of escapes: colours would be left as their remains.
    paint: createPaint(false),
    note: (text) => prompts.say(text),
    terminal: {
      ...context.terminal,
      ask: async (question, options) => {
        onAsk()
        const asked = question.replace(/: $/, '')
        if (options?.hidden) return prompts.secret(asked.replace(/ \(hidden(; )?/, ' (not shown$1'))
        const [, text = asked, fallback] = /^(.*) \[([^\]]*)\]$/.exec(asked) ?? []
        return prompts.text(text, defined({ fallback }))
      },
    },
  }
}
