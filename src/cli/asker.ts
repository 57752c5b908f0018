// Who answers the questions of a set-up: a person at the terminal, or at the wizard's prompts.
import { defined } from '../contract/index.ts'
import type { Asker, Prompts } from '../setup/asker.ts'
import { wordsIn } from '../words/index.ts'
import type { Context } from './context.ts'

/** One line for each question. In a script nothing is asked, and secrets are piped in. */
export function askerAt({ terminal, json, note, warn }: Context): Asker {
  return {
    isPerson: terminal.inputIsTty && !json,
    prompts: null,
    ask({ text, hidden = false, fallback, canBeMade = false }) {
      const words = wordsIn().setup.question
      const ask = { ask: text }
      const question = canBeMade
        ? words.hiddenOrFresh(ask)
        : hidden
          ? words.hidden(ask)
          : fallback === undefined
            ? words.plain(ask)
            : words.withDefault({ ...ask, fallback })
      return terminal.ask(question, { hidden })
    },
    readInput: async () => (terminal.inputIsTty ? '' : terminal.readInput()),
    note,
    warn,
    env: terminal.env,
    cwd: terminal.cwd(),
  }
}

/** Notes go to the prompts too, so that everything stands in one column. They clear colours away. */
export function askerWith(context: Context, prompts: Prompts | null): Asker {
  const asker = askerAt(context)
  if (prompts === null) return asker
  const words = wordsIn().setup.prompt
  return {
    ...asker,
    prompts,
    ask: ({ text, hidden, fallback, canBeMade }) =>
      hidden
        ? prompts.secret((canBeMade ? words.secretOrFresh : words.secret)({ ask: text }))
        : prompts.text(text, defined({ fallback })),
    note: (text) => prompts.say(text),
    warn: (text) => prompts.say(words.warning({ text })),
  }
}
