// What an integration is set up with: the flags of its module's questions, what a person types, and what is piped in.
// Secrets are kept apart: the definition gets a reference, and nobody prints them.
import { nearest } from '../config/schema/nearest.ts'
import { isSecretReference } from '../config/secrets/secret-reference.ts'
import {
  type ModuleSetup,
  type PlatformModule,
  type SetupQuestion,
  SwitchboardError,
} from '../contract/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'

export type Definition = Record<string, unknown>

/** Values by the key that they fill, `out.secret` for a nested one. */
export type SecretAnswers = ReadonlyMap<string, string>

interface Wish {
  readonly questions: ModuleSetup['questions']
  /** By name, without the dashes. */
  readonly flags: ReadonlyMap<string, string>
  /** False: what was not given is left out, and the schema judges. */
  readonly asks: boolean
  /** Defaults are taken without asking. */
  readonly yes: boolean
  /** The value that a text means for a key: a number where the schema wants one. */
  readonly read: (key: string, written: string) => unknown
  /** What a flag is called before the person; absent: by its name alone. */
  readonly called?: (flag: string) => string
  /** Secrets that are there already, by key. */
  readonly known?: SecretAnswers
  /** Not to be asked for, nor looked for in what is piped in: left out, or made. */
  readonly leaves?: (question: SetupQuestion) => boolean
  /** Where several share what is piped in; absent: it is all for these questions. */
  readonly pipe?: SecretPipe
  /** What was made, by key: asked once more, the same is given again. */
  readonly fresh?: Map<string, string>
  /** Told of what was made, in place of the person. */
  readonly made?: (question: SetupQuestion) => void
}

/** All that answers the questions: a flag each, and for a secret the file that it is in. */
export function flagsOf(questions: ModuleSetup['questions']): readonly string[] {
  return questions.flatMap(({ flag, secret }) => (secret === true ? [flag, `${flag}-file`] : [flag]))
}

const GLOBAL = ['json', 'config', 'data', 'name', 'color']

/** What a command's help names of the questions, as it was typed: `baseUrl` is `base-url`. `own` are its other options. */
export function typedFlags(options: object, own: readonly string[]): ReadonlyMap<string, string> {
  const answers = Object.entries(options).filter(([key]) => !own.includes(key) && !GLOBAL.includes(key))
  return new Map(
    answers.map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]),
  )
}

/** What is pasted to get at the credentials; what only makes sense afterwards (a webhook's URL) is shown at the end. */
export function isPastedBefore({ setup }: Pick<PlatformModule, 'setup'>): boolean {
  return setup?.try !== undefined && setup.pasteLast !== true && setup.questions.some(({ secret }) => secret)
}

/** `--token 1:a --label=x telegram` → the flags and the words between them. */
export function readFlags(words: readonly string[]): {
  readonly flags: ReadonlyMap<string, string>
  readonly rest: readonly string[]
} {
  const flags = new Map<string, string>()
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!word.startsWith('--')) {
      if (word.startsWith('-')) throw usage('a flag begins with two dashes', 'see what it takes with --help')
      rest.push(word)
      continue
    }
    const cut = word.indexOf('=')
    const name = cut < 0 ? word.slice(2) : word.slice(2, cut)
    const value = cut < 0 ? words[++at] : word.slice(cut + 1)
    if (value === undefined) throw usage(`--${oneLine(name)} needs a value`)
    if (flags.has(name)) throw usage(`--${oneLine(name)} is given twice`)
    flags.set(name, value)
  }
  return { flags, rest }
}

/** Fills the definition. Throws `input_invalid` naming what is missing or not known, never a value. */
export async function gatherAnswers(
  context: Context,
  definition: Definition,
  wish: Wish,
): Promise<SecretAnswers> {
  const { questions, flags, asks, yes, read, leaves = () => false, called = (flag) => `--${flag}` } = wish
  refuseUnknown(flags, questions, called)
  const secrets = new Map(wish.known)
  const take = ({ key, secret }: SetupQuestion, value: string) => {
    if (secret === true && !isSecretReference(value)) secrets.set(key, value)
    else putAt(definition, key, secret === true ? value : read(key, value))
  }
  for (const question of questions) {
    const given = flags.get(question.flag)
    if (given === undefined) continue
    if (question.secret === true && !isSecretReference(given)) {
      context.note(
        `${context.paint.yellow('warning:')} ${called(question.flag)} can be seen by others on this machine and stays in the shell's history`,
      )
    }
    take(question, given)
  }
  const open = questions.filter(
    ({ key, flag }) => !flags.has(flag) && !secrets.has(key) && readAt(definition, key) === undefined,
  )
  if (!asks || open.length === 0) return secrets
  const typed = isTyped(context)
  const fresh = (question: SetupQuestion) => freshOf(context, question, wish)
  const wanted = open.filter((question) => question.secret === true && !leaves(question))
  const pipe = wish.pipe ?? createSecretPipe(context, { isForOne: wanted.length === 1 })
  for (const question of open) {
    if (question.when && !question.when(definition)) continue
    if (leaves(question)) {
      const made = fresh(question)
      if (made !== undefined) take(question, made)
      continue
    }
    const asked = typed && !(yes && question.default !== undefined)
    const piped = !typed && question.secret === true ? await pipe.next() : undefined
    const given = piped ?? question.default
    const answer = asked
      ? await askFor(context, question, definition, fresh)
      : (given ?? (yes ? fresh(question) : undefined))
    if (answer !== undefined) take(question, answer)
    else if (!question.optional?.(definition)) throw missing(question, called(question.flag))
  }
  return secrets
}

/** Somebody sits there and can be asked. */
export const isTyped = ({ terminal, json }: Context) => terminal.inputIsTty && !json

/** Secrets that are piped in. */
export interface SecretPipe {
  /** The next one; undefined: an empty line, or none is left. */
  next(): Promise<string | undefined>
}

/** One secret is the whole input; several are a line each, in the order in which they are asked for. */
export function createSecretPipe(
  { terminal }: Context,
  { isForOne }: { readonly isForOne: boolean },
): SecretPipe {
  let lines: string[] | null = null
  return {
    async next() {
      if (terminal.inputIsTty) return undefined
      if (lines === null) {
        const input = (await terminal.readInput()).replace(/\r?\n$/, '')
        lines = isForOne ? [input] : input.split(/\r?\n/)
      }
      return lines.shift() || undefined
    },
  }
}

async function askFor(
  context: Context,
  question: SetupQuestion,
  before: Definition,
  freshOne: (question: SetupQuestion) => string | undefined,
): Promise<string | undefined> {
  const { ask, secret = false, default: fallback } = question
  const more = question.fresh
    ? ' (hidden; empty: a fresh one)'
    : secret
      ? ' (hidden)'
      : fallback === undefined
        ? ''
        : ` [${fallback}]`
  for (;;) {
    const typed = await context.terminal.ask(`${oneLine(ask)}${oneLine(more)}: `, { hidden: secret })
    if (typed === null) throw new SwitchboardError('input_invalid', 'nothing was kept: the input ended')
    const answer = typed.trim() === '' ? (fallback ?? freshOne(question)) : typed.trim()
    if (answer !== undefined || question.optional?.(before)) return answer
    context.note('an answer is needed')
  }
}

/** Whoever is on the other side has to be given it: shown this once, and kept encrypted. */
function freshOf(
  context: Context,
  question: SetupQuestion,
  { made: tell, fresh }: Pick<Wish, 'made' | 'fresh'>,
): string | undefined {
  const before = fresh?.get(question.key)
  const made = before ?? question.fresh?.()
  if (made === undefined) return undefined
  fresh?.set(question.key, made)
  if (tell) tell(question)
  else if (before !== undefined)
    context.note(`the one that was made before is taken (${oneLine(question.ask)})`)
  else context.note(`made one, shown this once (${oneLine(question.ask)}): ${made}`)
  return made
}

function refuseUnknown(
  flags: ReadonlyMap<string, string>,
  questions: ModuleSetup['questions'],
  called: (flag: string) => string,
): void {
  const known = questions.map(({ flag }) => flag)
  const stranger = [...flags.keys()].find((flag) => !known.includes(flag))
  if (stranger === undefined) return
  const meant = nearest(stranger, known)
  throw usage(
    `unknown option "${oneLine(called(stranger))}"`,
    meant === null
      ? `its own: ${known.map(called).join(', ') || 'none'}; other keys with --set KEY=VALUE`
      : `did you mean: ${called(meant)}`,
  )
}

function missing({ ask, secret }: SetupQuestion, flag: string): SwitchboardError {
  const how = secret === true ? 'type it at a terminal, or pipe it in' : `give it with ${flag} VALUE`
  return usage(`${flag} is missing: ${oneLine(ask)}`, `${how}; nothing was kept`)
}

/** What stands at `out.url`; undefined: nothing. */
export function readAt(place: unknown, key: string): unknown {
  let at = place
  for (const part of key.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined
    at = (at as Definition)[part]
  }
  return at
}

export function putAt(definition: Definition, key: string, value: unknown): void {
  const path = key.split('.')
  const last = path.pop() ?? ''
  let place = definition
  for (const part of path) {
    const inner = Object.hasOwn(place, part) ? place[part] : undefined
    const next: Definition = typeof inner === 'object' && inner !== null ? (inner as Definition) : {}
    place[part] = next
    place = next
  }
  place[last] = value
}

/** The answers as the module sees them: with the secrets themselves. */
export function withSecrets(definition: Definition, secrets: SecretAnswers): Definition {
  const whole = structuredClone(definition)
  for (const [key, value] of secrets) putAt(whole, key, value)
  return whole
}
