// Collects the answers to the questions of a module: from flags, from a person, from what is piped in, and from defaults.
// Secrets are kept apart from the rest, and no message contains one.
import { nearest } from '../config/schema/nearest.ts'
import { isSecretReference } from '../config/secrets/secret-reference.ts'
import type { SetupQuestion } from '../contract/index.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { wordsIn } from '../words/index.ts'
import { type Asker, inputEnded } from './asker.ts'
import { type Definition, putAt, readAt, type SecretAnswers } from './definition.ts'
import { usage } from './usage.ts'

export interface Collecting {
  readonly questions: readonly SetupQuestion[]
  /** By name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** False: what is not given is left out, and the schema judges. */
  readonly asks: boolean
  /** Takes defaults without asking. */
  readonly yes: boolean
  /** The value that a text means for a key. */
  readonly read: (key: string, written: string) => unknown
  /** What a flag is called for the person. Absent: by its name. */
  readonly called?: (flag: string) => string
  /** Secrets that exist already, by key. */
  readonly known?: SecretAnswers | undefined
  /** Neither asked nor read from the pipe: made, or left out. */
  readonly leaves?: (question: SetupQuestion) => boolean
  /** Shared with other questions. Absent: everything piped in is for these. */
  readonly pipe?: SecretPipe | undefined
  /** Secrets made in an earlier round, by key. They are taken again. */
  readonly fresh?: Map<string, string>
  /** Secrets that are made are not shown here. */
  readonly showsLater?: boolean
}

/** Fills the definition. Throws `input_invalid` naming what is missing or unknown, never a value. */
export async function collectAnswers(
  asker: Asker,
  definition: Definition,
  wish: Collecting,
): Promise<SecretAnswers> {
  const { questions, flags, yes, called = (flag) => `--${flag}` } = wish
  const known = questions.map(({ flag }) => flag)
  const own = known.map(called).join(', ') || 'none'
  refuseUnknown(flags, { known, called, hint: `its own: ${own}; other keys with --set KEY=VALUE` })
  const piped = pipedSecret(questions, flags, called)
  const leaves = (question: SetupQuestion) => question !== piped && wish.leaves?.(question) === true
  const secrets = new Map(wish.known)
  const take = ({ key, flag, secret }: SetupQuestion, value: string) => {
    if (secret === true && value === FROM_INPUT)
      throw usage(`${called(flag)}: "${FROM_INPUT}" is not a secret`, 'nothing was kept')
    if (secret === true && !isSecretReference(value)) secrets.set(key, value)
    else putAt(definition, key, secret === true ? value : wish.read(key, value))
  }
  for (const question of questions) {
    const given = flags.get(question.flag)
    if (given === undefined || question === piped) continue
    if (question.secret === true && !isSecretReference(given))
      asker.warn(wordsIn().setup.answers.visible({ flag: called(question.flag) }))
    take(question, given)
  }
  const isOpen = ({ key, flag }: SetupQuestion) =>
    wish.asks && !flags.has(flag) && !secrets.has(key) && readAt(definition, key) === undefined
  const open = questions.filter((question) => question === piped || isOpen(question))
  if (open.length === 0) return secrets
  const wanted = open.filter((question) => question.secret === true && !leaves(question))
  const pipe = wish.pipe ?? createSecretPipe(asker, piped !== undefined || wanted.length === 1)
  const make = (question: SetupQuestion) => madeFor(asker, question, wish)

  const answerOf = async (question: SetupQuestion): Promise<string | undefined> => {
    if (leaves(question)) return make(question)
    const takesDefault = yes && question.default !== undefined
    if (asker.isPerson && !takesDefault) return askUntilAnswered(asker, question, definition, make)
    if (question === piped) return pipe.next()
    const readsPipe = !asker.isPerson && question.secret === true && piped === undefined
    const next = readsPipe ? await pipe.next() : undefined
    return next ?? question.default ?? (yes ? make(question) : undefined)
  }
  for (const question of open) {
    if (question !== piped && question.when && !question.when(definition)) continue
    const answer = await answerOf(question)
    if (answer !== undefined) take(question, answer)
    else if (question === piped) throw nothingPiped(called(question.flag))
    else if (!leaves(question) && !question.optional?.(definition)) throw missing(question, called)
  }
  return secrets
}

/** The value of a flag whose secret is read from standard input. */
export const FROM_INPUT = '-'

/** The secret that a flag reads from standard input. It is the whole input, so there is one at most. */
function pipedSecret(
  questions: readonly SetupQuestion[],
  flags: ReadonlyMap<string, string>,
  called: (flag: string) => string,
): SetupQuestion | undefined {
  const piped = questions.filter(({ flag, secret }) => secret === true && flags.get(flag) === FROM_INPUT)
  refuseTwoPiped(piped.map(({ flag }) => called(flag)))
  return piped[0]
}

/** Throws when more than one of these flags reads its secret from standard input. */
export function refuseTwoPiped(flags: readonly string[]): void {
  if (flags.length < 2) return
  throw usage(
    `${flags.join(' and ')} cannot both be read from standard input`,
    `give "${FROM_INPUT}" to one of them, and env:NAME or file:PATH to the others`,
  )
}

const nothingPiped = (flag: string) =>
  usage(`${flag} ${FROM_INPUT}: standard input is empty`, 'pipe the secret in; nothing was kept')

/** Secrets that are piped in. */
export interface SecretPipe {
  /** The next one. Undefined: an empty line, or none is left. */
  next(): Promise<string | undefined>
}

/** A single secret is the whole input. Several are one line each, in the order of their questions. */
export function createSecretPipe(asker: Asker, isForOne: boolean): SecretPipe {
  let lines: string[] | null = null
  return {
    async next() {
      if (lines === null) {
        const input = (await asker.readInput()).replace(/\r?\n$/, '')
        lines = isForOne ? [input] : input.split(/\r?\n/)
      }
      return lines.shift() || undefined
    },
  }
}

/** Where another flag has taken the whole input. */
export const EMPTY_PIPE: SecretPipe = { next: async () => undefined }

async function askUntilAnswered(
  asker: Asker,
  question: SetupQuestion,
  before: Definition,
  make: (question: SetupQuestion) => string | undefined,
): Promise<string | undefined> {
  const { ask, secret = false, default: fallback } = question
  for (;;) {
    const typed = await asker.ask({
      text: oneLine(ask),
      hidden: secret,
      canBeMade: question.fresh !== undefined,
      ...(fallback === undefined ? {} : { fallback: oneLine(fallback) }),
    })
    if (typed === null) throw inputEnded()
    const answer = typed.trim() === '' ? (fallback ?? make(question)) : typed.trim()
    if (answer !== undefined || question.optional?.(before)) return answer
    asker.note(wordsIn().setup.answers.needed)
  }
}

/** The other side needs the secret too, so it is shown once. */
function madeFor(
  asker: Asker,
  question: SetupQuestion,
  { fresh, showsLater }: Collecting,
): string | undefined {
  const before = fresh?.get(question.key)
  const made = before ?? question.fresh?.()
  if (made === undefined) return undefined
  fresh?.set(question.key, made)
  const ask = oneLine(question.ask)
  const words = wordsIn().setup.answers
  if (!showsLater)
    asker.note(before === undefined ? words.made({ ask, secret: made }) : words.madeBefore({ ask }))
  return made
}

export interface KnownFlags {
  readonly known: readonly string[]
  /** What a flag is called for the person. Absent: by its name. */
  readonly called?: (flag: string) => string
  /** Whose flags they are: ` for connector llm`. */
  readonly of?: string
  /** What to do when no known flag is near. */
  readonly hint: string
}

/** Throws for the first flag that answers no question. */
export function refuseUnknown(flags: ReadonlyMap<string, string>, wish: KnownFlags): void {
  const { known, called = (flag) => `--${flag}`, of = '' } = wish
  const unknown = [...flags.keys()].find((flag) => !known.includes(flag))
  if (unknown === undefined) return
  const meant = nearest(unknown, known)
  const hint = meant === null ? wish.hint : `did you mean "${called(meant)}"?`
  throw usage(`unknown option "${oneLine(called(unknown))}"${of}`, hint)
}

function missing({ ask, flag, secret }: SetupQuestion, called: (flag: string) => string) {
  const how = secret === true ? 'type it at a terminal, or pipe it in' : `give it with ${called(flag)} VALUE`
  return usage(`${called(flag)} is missing: ${oneLine(ask)}`, `${how}; nothing was kept`)
}
