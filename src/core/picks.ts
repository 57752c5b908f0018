// Choices for a model's question, as buttons: their values, and the agent's input for a tap.
import type { Choice, PickList } from '../contract/index.ts'

const VALUE = /^pick:([A-Za-z0-9_-]{1,40}):([1-9]\d?)$/
const MOST_BUTTONS = 10
const LABEL_CHARS = 60

/** Returns the buttons. Empty: there are too many choices for buttons, and the text lists them. */
export function pickButtons({ of, labels }: PickList): readonly Choice[] {
  if (labels.length > MOST_BUTTONS) return []
  return labels.map((label, at) => {
    const whole = `${at + 1}. ${label}`
    const shown =
      [...whole].length > LABEL_CHARS ? `${[...whole].slice(0, LABEL_CHARS - 1).join('')}…` : whole
    return { label: shown, value: `pick:${of}:${at + 1}` }
  })
}

/** Returns the picked choice; null: another button. */
export function pickInTap(value: string): { readonly of: string; readonly number: string } | null {
  const [, of, number] = VALUE.exec(value) ?? []
  return of === undefined || number === undefined ? null : { of, number }
}
