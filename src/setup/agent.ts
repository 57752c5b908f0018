// An agent's connector from its answers: collected, completed by its module, held to its schema, and tried. The caller
// decides what is kept and written.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isSecretReference, resolveSecret } from '../config/secrets/secret-reference.ts'
import type { ConnectorModule, SetupQuestion } from '../contract/index.ts'
import { SwitchboardError } from '../contract/index.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { wordsIn } from '../words/index.ts'
import { collectAnswers, FROM_INPUT, refuseUnknown, type SecretPipe } from './answers.ts'
import { type Asker, inputEnded } from './asker.ts'
import { flagsOf } from './catalog.ts'
import {
  type Definition,
  jsonSchemaOf,
  putAt,
  readAt,
  type SecretAnswers,
  valueReader,
  withPlaceholders,
  withSecrets,
} from './definition.ts'
import { tryOut } from './try-out.ts'
import { usage } from './usage.ts'

/** The longest that a module may take to try, whatever it does. */
const TRY_WITHIN_MS = 35_000

export interface AgentWish {
  /**
   * A wizard asks everything, refers to files, and shows at once what was made. A command asks for no secret that can be
   * made, nor in a script for one that can be left out; it reads files, and shows secrets at its end.
   */
  readonly by: 'wizard' | 'command'
  /** By name, without the dashes. `key-file` is the file that the secret `key` is read from; `-` is the pipe. */
  readonly flags: ReadonlyMap<string, string>
  /** Secrets that exist already, by key. */
  readonly known?: SecretAnswers
  /** Options that no question asks for. */
  readonly fixed?: Definition
  /** Where relative paths behind `file:` start. */
  readonly folder: string
  readonly yes: boolean
  /** False: nothing is kept. A secret that would be made is not shown, and no agent is tried with it. */
  readonly keeps?: boolean
  /** Secrets made in an earlier round, by key. */
  readonly fresh?: Map<string, string>
  readonly pipe?: SecretPipe
}

export interface AnsweredAgent {
  /** As in the file, without the secrets. */
  readonly connector: Definition
  /** By key. */
  readonly secrets: SecretAnswers
  /** Keys of secrets that were made here. The other side needs them. */
  readonly made: ReadonlySet<string>
  /** Those of them that the person has seen. */
  readonly shown: ReadonlySet<string>
  /** Null: it cannot be tried, or not here. */
  readonly who: string | null
}

/** Throws what is missing, unknown or refused, with no secret in it. */
export async function answerAgent(
  asker: Asker,
  module: ConnectorModule,
  wish: AgentWish,
): Promise<AnsweredAgent> {
  const { setup = { questions: [] } } = module
  const words = wordsIn().setup.trial
  const { questions } = setup
  const byCommand = wish.by === 'command'
  const own = flagsOf(module)
  refuseUnknown(wish.flags, {
    known: own,
    of: ` for connector ${module.name}`,
    hint: own.length === 0 ? 'it asks nothing' : `its own: --${own.join(', --')}`,
  })
  const { flags, known } = withFiles(asker, questions, wish)
  const connector: Definition = { ...wish.fixed }
  const fresh = wish.fresh ?? new Map<string, string>()
  const leaves = ({ secret, fresh: canBeMade, optional }: SetupQuestion) =>
    byCommand &&
    secret === true &&
    (canBeMade !== undefined || (!asker.isPerson && optional?.(connector) === true))
  const secrets = await collectAnswers(asker, connector, {
    questions,
    flags,
    known,
    asks: true,
    yes: wish.yes,
    read: valueReader(module.options),
    fresh,
    pipe: wish.pipe,
    leaves,
    showsLater: byCommand,
  })
  complete(asker, module, connector, secrets)
  await demandValid(module, connector, secrets)

  const made = new Map([...fresh].filter(([key, value]) => secrets.get(key) === value))
  const answered = { connector, secrets, made: new Set(made.keys()), shown: new Set<string>(), who: null }
  const options = readable(asker, wish.folder, withSecrets(connector, secrets))
  if (options === null || setup.try === undefined) return answered
  if (wish.keeps === false && made.size > 0) {
    asker.note(words.needsSecret)
    return answered
  }
  const hidden = Object.entries(options).flatMap(([key, value]) =>
    typeof value === 'string' && value !== connector[key] ? [value] : [],
  )
  const attempt = () =>
    tryOut(asker, {
      name: words.theAgent,
      refused: 'the agent was tried',
      setup,
      options,
      hidden: [...hidden, ...secrets.values()],
      withinMs: TRY_WITHIN_MS,
      more: made.size === 0 ? '' : `; ${needsSecretFirst(questions, made)}`,
    })
  // An agent that verifies what it receives needs the secret before it is tried.
  if (made.size === 0 || !asker.isPerson || (wish.yes && !byCommand))
    return { ...answered, who: await attempt() }
  if (byCommand) showMade(asker, questions, made)
  await pressEnter(asker, words.giveSecret)
  const who = byCommand ? await untilItAnswers(asker, attempt) : await attempt()
  return { ...answered, shown: answered.made, who }
}

function showMade(asker: Asker, questions: readonly SetupQuestion[], made: SecretAnswers): void {
  for (const { key, ask } of questions) {
    const secret = made.get(key)
    if (secret !== undefined) asker.note(wordsIn().setup.trial.made({ ask: oneLine(ask), secret }))
  }
}

/** Tries again with the same secret: each new one would be void as well. */
async function untilItAnswers<Answer>(asker: Asker, attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await attempt()
    } catch (thrown) {
      if (!(thrown instanceof SwitchboardError)) throw thrown
      asker.note(oneLine(thrown.message))
      await pressEnter(asker, wordsIn().setup.trial.again)
    }
  }
}

async function pressEnter(asker: Asker, text: string): Promise<void> {
  if ((await asker.ask({ text })) === null) throw inputEnded()
}

/** A script has not seen the secret that was made. */
function needsSecretFirst(questions: readonly SetupQuestion[], made: SecretAnswers): string {
  const flag = questions.find(({ key }) => made.has(key))?.flag
  return `an agent that verifies signatures needs the secret first: make one, give it to the agent, and name it with --${flag}-file FILE`
}

/** By key, the name that each secret of this agent is kept under. A secret that a flag refers to is kept already. */
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

/** As the file holds it: its type, the answers in the order of their questions, then the rest. */
export function writtenConnector(
  { name, setup }: ConnectorModule,
  { connector, secrets }: Pick<AnsweredAgent, 'connector' | 'secrets'>,
  referenceOf: (key: string) => string,
): Definition {
  const whole: Definition = { type: name, ...withSecrets(connector, secrets, referenceOf) }
  const asked = (setup?.questions ?? []).map(({ key }) => key.split('.')[0] ?? key)
  const ordered = new Set(['type', ...asked, ...Object.keys(whole)])
  return Object.fromEntries([...ordered].flatMap((key) => (key in whole ? [[key, whole[key]]] : [])))
}

/** A file is read, or referred to. `-` is standard input, as for the flag itself. */
function withFiles(asker: Asker, questions: readonly SetupQuestion[], wish: AgentWish) {
  const flags = new Map(wish.flags)
  const known = new Map(wish.known)
  for (const { key, flag, secret } of questions) {
    const written = flags.get(`${flag}-file`)
    if (secret !== true || written === undefined) continue
    flags.delete(`${flag}-file`)
    const file = resolve(asker.cwd, written)
    if (written === FROM_INPUT) flags.set(flag, FROM_INPUT)
    else if (wish.by === 'wizard') flags.set(flag, `file:${file}`)
    else known.set(key, readSecret(file, flag))
  }
  return { flags, known }
}

function readSecret(file: string, flag: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch {
    throw usage(`--${flag}-file: ${oneLine(file)} cannot be read`)
  }
  if (text === '') throw usage(`--${flag}-file: ${oneLine(file)} is empty`)
  if (text === FROM_INPUT) throw usage(`--${flag}-file: "${FROM_INPUT}" is not a secret`)
  return text
}

/** Adds what follows from the answers, and removes what need not be written. A note names what the module opens. */
function complete(
  asker: Asker,
  { setup, options }: ConnectorModule,
  connector: Definition,
  secrets: SecretAnswers,
): void {
  const { properties } = jsonSchemaOf(options)
  for (const [key, value] of Object.entries(setup?.complete?.(withSecrets(connector, secrets)) ?? {})) {
    putAt(connector, key, value)
    const description = readAt(properties, `${key}.description`)
    const meaning = oneLine(String(description ?? ''))
    if (value === true) asker.note(wordsIn().setup.answers.completed({ key, meaning }))
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
  const { issues } = await options['~standard'].validate(withPlaceholders(connector, secrets))
  const [first] = issues ?? []
  if (first === undefined) return
  const path = first.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.') ?? ''
  throw usage(oneLine(`${name}: ${path === '' ? '' : `${path}: `}${first.message}`), 'nothing was written')
}

/** With the values behind `env:` and `file:`. Null: only the daemon can read one of them. */
function readable(asker: Asker, folder: string, options: Definition): Definition | null {
  const sources = { folder, env: asker.env, stored: () => null }
  const whole = structuredClone(options)
  for (const [key, value] of Object.entries(whole)) {
    if (typeof value !== 'string' || !isSecretReference(value)) continue
    if (value.startsWith('secret:')) return null
    whole[key] = resolveSecret(value, sources)
  }
  return whole
}
