// Choices under a message: up to three are buttons, up to ten a list. Their ids have a mark of ours, so that a reply to
// other buttons (a template, another program of the number) is taken as text.
import { type Choice, SwitchboardError } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Fields } from './fields.ts'

const OURS = 'swb:'
const BUTTON_BODY = 1_024
const BUTTON_TITLE = 20
const BUTTON_ID = 256
const MOST_BUTTONS = 3
const ROW_TITLE = 24
const ROW_MORE = 72
const ROW_ID = 200
const MOST_ROWS = 10

/** Null: it is not one of our choices. */
export function valueOfChoice(id: string | undefined): string | null {
  return id?.startsWith(OURS) && id.length > OURS.length ? id.slice(OURS.length) : null
}

/** Returns the message that shows `body` with its choices. Throws `platform_rejected` naming the limit. */
export function interactiveOf(body: string, choices: readonly Choice[]): Fields {
  if (choices.length > MOST_ROWS)
    throw new SwitchboardError('platform_rejected', `a message may have ${MOST_ROWS} choices`)
  const fits = choices.length <= MOST_BUTTONS && body.length <= BUTTON_BODY && differ(choices, BUTTON_TITLE)
  return fits ? buttons(body, choices) : list(body, choices)
}

function buttons(body: string, choices: readonly Choice[]): Fields {
  const made = choices.map(({ label, value }) => ({
    type: 'reply',
    reply: { id: idOf(label, value, BUTTON_ID), title: cut(label, BUTTON_TITLE) },
  }))
  return { type: 'button', body: { text: body }, action: { buttons: made } }
}

function list(body: string, choices: readonly Choice[]): Fields {
  const numbered = !differ(choices, ROW_TITLE)
  const rows = choices.map(({ label, value }, at) => {
    const title = cut(numbered ? `${at + 1}. ${label}` : label, ROW_TITLE)
    const whole = label.length > ROW_TITLE || numbered
    return {
      id: idOf(label, value, ROW_ID),
      title,
      ...(whole ? { description: cut(label, ROW_MORE) } : {}),
    }
  })
  return {
    type: 'list',
    body: { text: body },
    action: { button: wordsIn().platforms.whatsapp.choose, sections: [{ rows }] },
  }
}

function idOf(label: string, value: string, most: number): string {
  const id = OURS + value
  if (value !== '' && id.length <= most) return id
  throw new SwitchboardError(
    'platform_rejected',
    `the value of the choice "${cut(label, BUTTON_TITLE)}" is empty or over ${most - OURS.length} characters`,
  )
}

/** WhatsApp refuses two equal titles. */
function differ(choices: readonly Choice[], most: number): boolean {
  return new Set(choices.map(({ label }) => cut(label, most))).size === choices.length
}

/** Cuts no pair of surrogates, and leaves no title empty. */
function cut(text: string, most: number): string {
  const one = text.replaceAll(/\s+/g, ' ').trim() || '…'
  if (one.length <= most) return one
  const code = one.charCodeAt(most - 2)
  return `${one.slice(0, code >= 0xd800 && code <= 0xdbff ? most - 2 : most - 1)}…`
}
