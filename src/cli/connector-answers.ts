// The questions of a connector, whosever it is, answered by flags, by files and by whoever types; held to its options, and
// tried on the real thing. How `init` and `agents add` come to an agent: what is kept and written is up to them.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { suggestion } from '../config/schema/nearest.ts'
import { isSecretReference, resolveSecret } from '../config/secrets/secret-reference.ts'
import {
  type ConnectorModule,
  defined,
  type ModuleSetup,
  type Options,
  type SetupQuestion,
  SwitchboardError,
} from '../contract/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'
import {
  type Definition,
  flagsOf,
  gatherAnswers,
  isTyped,
  putAt,
  readAt,
  type SecretAnswers,
  type SecretPipe,
  withSecrets,
} from './setup-answers.ts'
import { reader } from './try-definition.ts'

/** The longest that a module may take to try, whatever it does. */
const TRY_WITHIN_MS = 35_000

export interface ConnectorWish {
  /**
   * A wizard asks all that may be asked, refers to files, and tells at once what was made. A command asks for no secret that can
   * be made, nor in a script for one that can be left out; it takes what is in a file, and leaves the telling to its end.
   */
  readonly by: 'wizard' | 'command'
  /** By name, without the dashes; `-file` behind that of a secret is where it is read from, `-` being what is piped in. */
  readonly flags: ReadonlyMap<string, string>
  /** Secrets that are there already, by key. */
  readonly known?: SecretAnswers
  /** Options that no question asks for. */
  readonly fixed?: Definition
  /** Where what is behind `file:` begins. */
  readonly folder: string
  readonly yes: boolean
  /** False: nothing of this is kept. A secret that would have to be made is not shown, and no agent is tried with it. */
  readonly keeps?: boolean
  /** What was made before, by key, where it is asked for once more. */
  readonly fresh?: Map<string, string>
  /** Where others share what is piped in. */
  readonly pipe?: SecretPipe
}

export interface AnsweredConnector {
  /** As in the file; what is secret is not in it. */
  readonly connector: Definition
  /** By key. */
  readonly secrets: SecretAnswers
  /** Keys of those that were made here: whoever is on the other side has to be given them. */
  readonly made: ReadonlySet<string>
  /** Of these, those that the person has seen already. */
  readonly shown: ReadonlySet<string>
  /** Null: it cannot be tried, or not here. */
  readonly who: string | null
}

/** Throws what is missing, unknown or refused, with no secret in it. */
export async function answerConnector(
  context: Context,
  module: ConnectorModule,
  wish: ConnectorWish,
): Promise<AnsweredConnector> {
  const setup: ModuleSetup = module.setup ?? { questions: [] }
  const { questions } = setup
  refuseStrangers(module, wish.flags)
  const { flags, known, piped } = withFiles(context, questions, wish)
  const connector: Definition = { ...wish.fixed }
  const fresh = wish.fresh ?? new Map<string, string>()
  const typed = isTyped(context)
  const leaves = ({ key, secret, fresh, optional }: SetupQuestion) =>
    secret === true && !piped.has(key) && (fresh !== undefined || (!typed && optional?.(connector) === true))
  const secrets = await gatherAnswers(context, connector, {
    ...{ questions, flags, known, asks: true, yes: wish.yes, read: reader(module) },
    ...{ fresh, ...defined({ pipe: wish.pipe }) },
    ...(wish.by === 'command' ? { leaves, made: () => undefined } : {}),
  })
  complete(context, module, connector, secrets)
  await demandValid(module, connector, secrets)
  const options = readable(context, wish.folder, withSecrets(connector, secrets))
  const hidden = Object.entries(options ?? {}).flatMap(([key, value]) =>
    typeof value === 'string' && value !== connector[key] ? [value] : [],
  )
  const made = new Map([...fresh].filter(([key, value]) => secrets.get(key) === value))
  if (wish.keeps === false && made.size > 0) {
    if (setup.try !== undefined)
      context.note('not tried: --write makes the secret, shows it and tries the agent')
    return { connector, secrets, made: new Set(made.keys()), shown: new Set(), who: null }
  }
  const waits =
    made.size > 0 &&
    options !== null &&
    setup.try !== undefined &&
    typed &&
    !(wish.by === 'wizard' && wish.yes)
  if (waits) await handedOver(context, questions, wish.by === 'command' ? made : new Map())
  const attempt = () =>
    options === null
      ? null
      : tried(context, setup, options, { hidden: [...hidden, ...secrets.values()], made })
  const who = waits && wish.by === 'command' ? await untilItAnswers(context, attempt) : await attempt()
  return { connector, secrets, made: new Set(made.keys()), shown: new Set(waits ? made.keys() : []), who }
}

/** An agent that verifies what it is sent needs the secret before it is tried. */
async function handedOver(
  context: Context,
  questions: ModuleSetup['questions'],
  unseen: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { key, ask } of questions) {
    const value = unseen.get(key)
    if (value !== undefined) context.note(`made, and shown this once (${oneLine(ask)}):\n  ${value}`)
  }
  await entered(context, 'give it to the agent, then press Enter')
}

/** With the same secret: each new one would be void as well. */
async function untilItAnswers<Answer>(
  context: Context,
  attempt: () => Promise<Answer> | null,
): Promise<Answer | null> {
  for (;;) {
    try {
      return await attempt()
    } catch (thrown) {
      if (!(thrown instanceof SwitchboardError)) throw thrown
      context.note(oneLine(thrown.message))
      await entered(context, 'Enter tries it again with the same secret, Ctrl-C gives up')
    }
  }
}

async function entered(context: Context, words: string): Promise<void> {
  if ((await context.terminal.ask(`${words}: `)) === null)
    throw new SwitchboardError('input_invalid', 'nothing was kept: the input ended')
}

/** By key, what each secret that is asked for is kept as for this agent; one that a flag refers to is kept already. */
export function secretNames(
  id: string,
  { setup }: ConnectorModule,
  flags: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const kept = (setup?.questions ?? []).filter(
    ({ flag, secret }) => secret === true && !isSecretReference(flags.get(flag) ?? ''),
  )
  return new Map(kept.map(({ key, called }) => [key, `${id}_${called ?? key.replaceAll('.', '_')}`] as const))
}

/** As it is written into the file: its type, then the answers in their order with references in place of secrets, then the rest. */
export function writtenConnector(
  { name, setup }: ConnectorModule,
  { connector, secrets }: AnsweredConnector,
  referenceOf: (key: string) => string,
): Definition {
  const whole: Definition = { type: name, ...structuredClone(connector) }
  for (const key of secrets.keys()) putAt(whole, key, referenceOf(key))
  const asked = (setup?.questions ?? []).map(({ key }) => key.split('.')[0] ?? key)
  const ordered = new Set(['type', ...asked, ...Object.keys(whole)])
  return Object.fromEntries([...ordered].flatMap((key) => (key in whole ? [[key, whole[key]]] : [])))
}

function refuseStrangers({ name, setup }: ConnectorModule, flags: ReadonlyMap<string, string>): void {
  const own = flagsOf(setup?.questions ?? [])
  const stranger = [...flags.keys()].find((flag) => !own.includes(flag))
  if (stranger === undefined) return
  const [wrong, ...right] = [stranger, ...own].map((flag) => `--${oneLine(flag)}`)
  throw usage(
    `unknown option "${wrong}" for connector ${name}`,
    right.length === 0 ? 'it asks nothing' : suggestion(wrong ?? '', right),
  )
}

/** Files of secrets are read, or referred to; `piped` are the keys that are said to come in by the pipe. */
function withFiles(context: Context, questions: ModuleSetup['questions'], wish: ConnectorWish) {
  const flags = new Map(wish.flags)
  const known = new Map(wish.known)
  const piped = new Set<string>()
  for (const { key, flag, secret } of questions) {
    const written = flags.get(`${flag}-file`)
    if (secret !== true || written === undefined) continue
    flags.delete(`${flag}-file`)
    const file = resolve(context.terminal.cwd(), written)
    if (written === '-') piped.add(key)
    else if (wish.by === 'wizard') flags.set(flag, `file:${file}`)
    else known.set(key, readSecret(file, flag))
  }
  return { flags, known, piped }
}

function readSecret(file: string, flag: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch {
    throw usage(`--${flag}-file: ${oneLine(file)} cannot be read`)
  }
  if (text === '') throw usage(`--${flag}-file: ${oneLine(file)} is empty`)
  return text
}

/** Adds what follows from the answers, and takes out what need not be written. A door that it opens is told. */
function complete(
  context: Context,
  { setup, options }: ConnectorModule,
  connector: Definition,
  secrets: SecretAnswers,
): void {
  const { properties } = options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  for (const [key, value] of Object.entries(setup?.complete?.(withSecrets(connector, secrets)) ?? {})) {
    putAt(connector, key, value)
    const says = readAt(properties, `${key}.description`)
    if (value === true) context.note(`${key}: true is written for it (${oneLine(String(says ?? ''))})`)
  }
  for (const { key, optional } of setup?.questions ?? [])
    if (optional?.(connector) && connector[key] === readAt(properties, `${key}.default`))
      delete connector[key]
}

async function demandValid(
  { name, options }: ConnectorModule,
  connector: Definition,
  secrets: SecretAnswers,
): Promise<void> {
  const candidate = structuredClone(connector)
  for (const key of secrets.keys()) putAt(candidate, key, 'secret:new')
  const { issues } = await options['~standard'].validate(candidate)
  const [first] = issues ?? []
  if (first === undefined) return
  const path = first.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? ''
  throw usage(oneLine(`${name}: ${path === '' ? '' : `${path}: `}${first.message}`), 'nothing was written')
}

/** With what is behind `env:` and `file:`; null: something is kept where only the daemon reads it. */
function readable(context: Context, folder: string, options: Definition): Definition | null {
  const sources = { folder, env: context.terminal.env, stored: () => null }
  const whole = structuredClone(options)
  for (const [key, value] of Object.entries(whole)) {
    if (typeof value !== 'string' || !isSecretReference(value)) continue
    if (value.startsWith('secret:')) return null
    whole[key] = resolveSecret(value, sources)
  }
  return whole
}

const AGAIN = 'nothing was kept: mend it and run the same again'

/** What was made nobody has seen. */
function knowsNone({ questions }: ModuleSetup, made: ReadonlyMap<string, string>): string {
  const flag = questions.find(({ key }) => made.has(key))?.flag
  return `an agent that verifies signatures needs the secret first: make one, give it to the agent, and name it with --${flag}-file FILE`
}

async function tried(
  context: Context,
  setup: ModuleSetup,
  options: Options,
  { hidden, made }: { readonly hidden: readonly string[]; readonly made: ReadonlyMap<string, string> },
): Promise<string | null> {
  if (setup.try === undefined) return null
  const { tryWithin } = await import('./configuration.ts')
  const { who } = await tryWithin(setup, options, TRY_WITHIN_MS).catch((thrown: unknown) => {
    let why = thrown instanceof Error ? thrown.message : String(thrown)
    const known = thrown instanceof SwitchboardError && thrown.code !== 'internal' ? thrown : null
    // What to do about it is the more useful half.
    if (known?.hint !== undefined) why = `${why}. ${known.hint}`
    for (const secret of hidden) if (secret !== '') why = why.replaceAll(secret, '…')
    throw new SwitchboardError(
      known?.code ?? 'execution_failed',
      `the agent was tried: ${why.slice(0, 500)}`,
      { hint: made.size === 0 ? AGAIN : `${AGAIN}; ${knowsNone(setup, made)}` },
    )
  })
  context.note(`the agent answers: this is ${oneLine(who)}`)
  return who
}
