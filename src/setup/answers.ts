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
  const { questions, flags, yes, leaves = () => false, called = (flag) => `--${flag}` } = wish
  const known = questions.map(({ flag }) => flag)
  const own = known.map(called).join(', ') || 'none'
  refuseUnknown(flags, { known, called, hint: `its own: ${own}; other keys with --set KEY=VALUE` })
  const secrets = new Map(wish.known)
  const take = ({ key, secret }: SetupQuestion, value: string) => {
    if (secret === true && !isSecretReference(value)) secrets.set(key, value)
    else putAt(definition, key, secret === true ? value : wish.read(key, value))
  }
  for (const question of questions) {
    const given = flags.get(question.flag)
    if (given === undefined) continue
    if (question.secret === true && !isSecretReference(given))
      asker.warn(wordsIn().setup.answers.visible({ flag: called(question.flag) }))
    take(question, given)
  }
  const open = questions.filter(
    ({ key, flag }) => !flags.has(flag) && !secrets.has(key) && readAt(definition, key) === undefined,
  )
  if (!wish.asks || open.length === 0) return secrets
  const wanted = open.filter((question) => question.secret === true && !leaves(question))
  const pipe = wish.pipe ?? createSecretPipe(asker, wanted.length === 1)
  const make = (question: SetupQuestion) => madeFor(asker, question, wish)

  const answerOf = async (question: SetupQuestion): Promise<string | undefined> => {
    if (leaves(question)) return make(question)
    const takesDefault = yes && question.default !== undefined
    if (asker.isPerson && !takesDefault) return askUntilAnswered(asker, question, definition, make)
    const piped = !asker.isPerson && question.secret === true ? await pipe.next() : undefined
    return piped ?? question.default ?? (yes ? make(question) : undefined)
  }
  for (const question of open) {
    if (question.when && !question.when(definition)) continue
    const answer = await answerOf(question)
    if (answer !== undefined) take(question, answer)
    else if (!leaves(question) && !question.optional?.(definition)) throw missing(question, called)
  }
  return secrets
}

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
