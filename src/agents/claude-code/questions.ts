// A question of the model to the person (AskUserQuestion). It is shown as text with numbered choices, and as buttons
// where the platform has them. The person's next message is the answer: a number, a label, or free text.
import { wordsIn } from '../../words/index.ts'
import { type Fields, isFields, textOf } from './wire.ts'

export interface Question {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description: string }[]
  readonly several: boolean
}

const MOST_QUESTIONS = 10
const MOST_OPTIONS = 20
const MOST_CHARS = 2_000

export function questionsOf(input: Fields): readonly Question[] {
  const { questions } = input
  if (!Array.isArray(questions)) return []
  return questions
    .filter(isFields)
    .slice(0, MOST_QUESTIONS)
    .flatMap((one) => {
      const question = textOf(one.question)
      if (question === null) return []
      const options = (Array.isArray(one.options) ? one.options : []).filter(isFields).slice(0, MOST_OPTIONS)
      return [
        {
          question,
          options: options.flatMap(({ label, description }) => {
            const named = textOf(label)
            return named === null ? [] : [{ label: named, description: textOf(description) ?? '' }]
          }),
          several: one.multiSelect === true,
        },
      ]
    })
}

export function questionText({ question, options, several }: Question): string {
  if (options.length === 0) return `❓ ${question}`
  const lines = options.map(
    ({ label, description }, at) => `${at + 1}. **${label}**${description === '' ? '' : ` – ${description}`}`,
  )
  const { answerWithNumber, answerWithNumbers } = wordsIn().work
  const how = several ? answerWithNumbers : answerWithNumber
  return `❓ ${question}\n\n${lines.join('\n')}\n\n${how}`
}

/** Returns the tool's result: the chosen labels, or the person's own words. */
export function answerOf(text: string, { options, several }: Question): string {
  const said = text.trim().slice(0, MOST_CHARS)
  const byName = (one: string) =>
    options.find(({ label }) => label.toLowerCase() === one.toLowerCase())?.label
  const whole = byName(said)
  if (whole !== undefined) return whole
  const parts = said.split(/[\s,;]+/).filter((part) => part !== '')
  const picked = parts.map((part) =>
    /^\d{1,2}\.?$/.test(part) ? options[Number.parseInt(part, 10) - 1]?.label : undefined,
  )
  const known = picked.filter((label): label is string => label !== undefined)
  if (parts.length === 0 || known.length !== parts.length || (!several && known.length !== 1)) return said
  return [...new Set(known)].join(', ')
}
