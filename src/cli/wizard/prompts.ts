// What the wizard asks with: clack in a terminal, a script in a test. Every question ends by an answer or by `cancelled`.
import { SwitchboardError } from '../../contract/index.ts'

export interface Choice {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

export interface Prompts {
  begin(title: string): void
  end(text: string): void
  say(text: string, tone?: 'info' | 'good' | 'warning'): void
  /** Lines that are to be read or pasted. */
  show(title: string, lines: readonly string[]): void
  one(ask: string, choices: readonly Choice[], first?: string): Promise<string>
  /** At least one. */
  several(ask: string, choices: readonly Choice[], first: readonly string[]): Promise<readonly string[]>
  text(
    ask: string,
    options?: { readonly fallback?: string; check?(value: string): string | null },
  ): Promise<string>
  /** Shows nothing of what is typed. Empty is an answer. */
  secret(ask: string): Promise<string>
  yes(ask: string): Promise<boolean>
}

const GIVEN_UP = 'given up: nothing was written'

/** Ctrl-C, Escape, or an input that ended. */
export function cancelled(): SwitchboardError {
  return new SwitchboardError('execution_failed', GIVEN_UP, {
    hint: 'run the same again when you like; every question is also a flag: switchboard init --help',
  })
}

/** For questions that are asked when the file stands already: its words would be a lie there. */
export const isCancelled = (thrown: unknown): boolean =>
  thrown instanceof SwitchboardError && thrown.message === GIVEN_UP
