// Where answers come from: a person at a terminal, a person at the wizard's prompts, or a script that is asked nothing.
import { SwitchboardError } from '../contract/index.ts'

export interface Asker {
  /** A person can be asked. Otherwise secrets may be piped in. */
  readonly isPerson: boolean
  /** The wizard's prompts, which offer choices. Null: choices come from flags. */
  readonly prompts: Prompts | null
  /** Null: the input ended. */
  ask(question: OpenQuestion): Promise<string | null>
  /** All of standard input. Empty when it is a terminal. */
  readInput(): Promise<string>
  note(text: string): void
  warn(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative paths of flags start here. */
  readonly cwd: string
}

export interface OpenQuestion {
  readonly text: string
  /** The answer is not shown. */
  readonly hidden?: boolean
  /** Taken for an empty answer. */
  readonly fallback?: string
  /** An empty answer makes a new secret. */
  readonly canBeMade?: boolean
}

export interface Choice {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

/** The wizard's way to ask. Every question ends with an answer or throws `cancelled`. */
export interface Prompts {
  begin(title: string): void
  end(text: string): void
  say(text: string, tone?: 'info' | 'good' | 'warning'): void
  /** Shows lines to read or to paste. */
  show(title: string, lines: readonly string[]): void
  one(ask: string, choices: readonly Choice[], first?: string): Promise<string>
  /** Returns at least one. */
  several(ask: string, choices: readonly Choice[], first: readonly string[]): Promise<readonly string[]>
  text(
    ask: string,
    options?: { readonly fallback?: string; check?(value: string): string | null },
  ): Promise<string>
  /** Shows nothing of what is typed. An empty text is an answer. */
  secret(ask: string): Promise<string>
  yes(ask: string): Promise<boolean>
}

const GIVEN_UP = 'given up: nothing was written'
const INPUT_ENDED = 'nothing was kept: the input ended'

/** Ctrl-C, Escape, or an input that ended. */
export function cancelled(): SwitchboardError {
  return new SwitchboardError('execution_failed', GIVEN_UP, {
    hint: 'run the same again when you like; every question is also a flag: switchboard init --help',
  })
}

export const inputEnded = () => new SwitchboardError('input_invalid', INPUT_ENDED)

/** For questions after the file is written: there its words are wrong. */
export const isCancelled = (thrown: unknown): boolean =>
  thrown instanceof SwitchboardError && thrown.message === GIVEN_UP

/** Whether the person gave up at any question. */
export const hasGivenUp = (thrown: unknown): boolean =>
  isCancelled(thrown) || (thrown instanceof SwitchboardError && thrown.message === INPUT_ENDED)
