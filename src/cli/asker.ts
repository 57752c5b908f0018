// Who answers the questions of a set-up: a person at the terminal, or at the wizard's prompts.
import { defined } from '../contract/index.ts'
import type { Asker, Prompts } from '../setup/asker.ts'
import type { Context } from './context.ts'

/** One line for each question. In a script nothing is asked, and secrets are piped in. */
export function askerAt({ terminal, json, note, paint }: Context): Asker {
  return {
    isPerson: terminal.inputIsTty && !json,
    prompts: null,
    ask({ text, hidden = false, fallback, canBeMade = false }) {
      const more = canBeMade
        ? ' (hidden; empty: a fresh one)'
        : hidden
          ? ' (hidden)'
          : fallback === undefined
            ? ''
            : ` [${fallback}]`
      return terminal.ask(`${text}${more}: `, { hidden })
    },
    readInput: async () => (terminal.inputIsTty ? '' : terminal.readInput()),
    note,
    warn: (text) => note(`${paint.yellow('warning:')} ${text}`),
    env: terminal.env,
    cwd: terminal.cwd(),
  }
}

/** Notes go to the prompts too, so that everything stands in one column. They clear colours away. */
export function askerWith(context: Context, prompts: Prompts | null): Asker {
  const asker = askerAt(context)
  if (prompts === null) return asker
  return {
    ...asker,
    prompts,
    ask: ({ text, hidden, fallback, canBeMade }) =>
      hidden
        ? prompts.secret(`${text} (not shown${canBeMade ? '; empty: a fresh one' : ''})`)
        : prompts.text(text, defined({ fallback })),
    note: (text) => prompts.say(text),
    warn: (text) => prompts.say(`warning: ${text}`),
  }
}
