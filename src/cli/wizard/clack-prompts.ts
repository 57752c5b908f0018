// The wizard's questions in a real terminal, by clack. It is loaded only when something is asked. Questions go to standard
// error, so that `switchboard init > log` still asks.
import * as clack from '@clack/prompts'
import { defined } from '../../contract/index.ts'
import { type Choice, cancelled, type Prompts } from '../../setup/asker.ts'
import { wordsIn } from '../../words/index.ts'
import { safeLines } from '../output/text.ts'

export function createClackPrompts(): Prompts {
  const output = process.stderr
  const place = { output, input: process.stdin }
  const answered = <T>(answer: T | symbol): T => {
    if (clack.isCancel(answer)) throw cancelled()
    return answer as T
  }
  const options = (choices: readonly Choice[]) =>
    choices.map(({ value, label, hint }) => ({ value, label, ...(hint ? { hint } : {}) }))
  return {
    begin: (title) => clack.intro(title, { output }),
    end: (text) => clack.outro(safeLines(text), { output }),
    say(text, tone = 'info') {
      const line = safeLines(text)
      if (tone === 'good') clack.log.success(line, { output })
      else if (tone === 'warning') clack.log.warn(line, { output })
      else clack.log.info(line, { output })
    },
    // Without a frame, because people copy these lines.
    show(title, lines) {
      clack.log.step(safeLines(title), { output })
      output.write(`${lines.map(safeLines).join('\n')}\n`)
    },
    one: async (message, choices, first) =>
      answered<string>(
        await clack.select<string>({
          ...place,
          message,
          options: options(choices),
          ...defined({ initialValue: first }),
        }),
      ),
    several: async (message, choices, first) =>
      answered<string[]>(
        await clack.multiselect<string>({
          ...place,
          message: wordsIn().setup.prompt.several({ ask: message }),
          options: options(choices),
          initialValues: [...first],
          required: true,
        }),
      ),
    text: async (message, { fallback, check } = {}) =>
      answered<string>(
        await clack.text({
          ...place,
          message,
          ...(fallback === undefined ? {} : { placeholder: fallback, defaultValue: fallback }),
          validate: (value) => check?.(value || fallback || '') ?? undefined,
        }),
      ),
    // No mask either: it would show the length of the secret.
    secret: async (message) =>
      answered<string>((await clack.password({ ...place, message, mask: '' })) ?? ''),
    yes: async (message) => answered<boolean>(await clack.confirm({ ...place, message })),
  }
}
