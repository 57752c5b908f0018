// The messages that the Cloud API accepts, and how people see them. The limits are those on Meta's pages.

import { type Answer, refuse } from './graph-errors.ts'
import type { Shown, World } from './world.ts'

type Fields = Readonly<Record<string, unknown>>
type Seen = Pick<Shown, 'type' | 'text' | 'choices'>

const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : [])
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= most

/** Returns the message as people see it, or the refusal. */
export function checkMessage(body: Fields, world: World): Seen | Answer {
  const { type } = body
  if (body.messaging_product !== 'whatsapp')
    return refuse(100, 'The parameter messaging_product is required.')
  if (typeof body.biz_opaque_callback_data === 'string' && body.biz_opaque_callback_data.length > 512)
    return refuse(100, 'biz_opaque_callback_data is longer than 512 characters')
  const context = fields(body.context).message_id
  if (context !== undefined && world.find(String(context)) === undefined)
    return refuse(131009, 'context.message_id names no message')
  switch (type) {
    case undefined:
    case 'text': {
      const text = fields(body.text).body
      if (!isText(text, 4_096)) return refuse(100, "Param text['body'] must be at most 4096 characters long.")
      return { type: 'text', text, choices: [] }
    }
    case 'interactive':
      return checkInteractive(fields(body.interactive))
    case 'template':
      return checkTemplate(fields(body.template), world)
    case 'reaction': {
      const { message_id, emoji } = fields(body.reaction)
      if (world.find(String(message_id)) === undefined)
        return refuse(131009, 'reaction.message_id names no message')
      if (typeof emoji !== 'string') return refuse(131008, 'reaction.emoji is missing')
      return { type: 'reaction', text: emoji, choices: [] }
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'document':
    case 'sticker': {
      const { id, link, caption } = fields(body[type])
      const known = typeof id === 'string' && world.media.has(id)
      if (!known && typeof link !== 'string') return refuse(131053, 'media id not found')
      if (caption !== undefined && (type === 'audio' || !isText(caption, 1_024)))
        return refuse(100, `${type}.caption is not valid`)
      return { type, text: typeof caption === 'string' ? caption : '', choices: [] }
    }
    default:
      return refuse(131051, `type ${String(type)} is not supported`)
  }
}

function checkInteractive({ type, body, action }: Fields): Seen | Answer {
  const text = fields(body).text
  const given = fields(action)
  if (type === 'button') {
    const buttons = list(given.buttons).map(({ reply }) => fields(reply))
    if (!isText(text, 1_024)) return refuse(131009, 'interactive.body.text: 1 to 1024 characters')
    if (buttons.length < 1 || buttons.length > 3) return refuse(131009, 'interactive: 1 to 3 buttons')
    if (!buttons.every(({ id, title }) => isText(id, 256) && isText(title, 20)))
      return refuse(
        131009,
        'interactive: a button has an id of at most 256 and a title of at most 20 characters',
      )
    if (new Set(buttons.map(({ title }) => title)).size < buttons.length)
      return refuse(131009, 'interactive: titles of buttons are unique')
    return { type: 'interactive', text, choices: buttons.map(choice) }
  }
  if (type === 'list') {
    const rows = list(given.sections).flatMap(({ rows: of }) => list(of))
    if (!isText(text, 4_096)) return refuse(131009, 'interactive.body.text: 1 to 4096 characters')
    if (!isText(given.button, 20)) return refuse(131009, 'interactive.action.button: 1 to 20 characters')
    if (rows.length < 1 || rows.length > 10)
      return refuse(131009, 'interactive: 1 to 10 rows in all sections')
    const fits = rows.every(
      ({ id, title, description }) =>
        isText(id, 200) && isText(title, 24) && (description === undefined || isText(description, 72)),
    )
    return fits
      ? { type: 'interactive', text, choices: rows.map(choice) }
      : refuse(131009, 'interactive: a row is too long')
  }
  return refuse(131009, `interactive.type ${String(type)} is not supported`)
}

function choice({ id, title }: Fields): { readonly id: string; readonly title: string } {
  return { id: String(id), title: String(title) }
}

function checkTemplate({ name, language, components }: Fields, world: World): Seen | Answer {
  const template = world.templates.get(String(name))
  const code = fields(language).code
  if (template === undefined || template.language !== code)
    return refuse(132001, `template name (${String(name)}) does not exist in ${String(code)}`, 404)
  const given = list(components)
    .filter(({ type }) => type === 'body')
    .flatMap(({ parameters }) => list(parameters))
    .map(({ text }) => String(text))
  const wanted = new Set([...template.body.matchAll(/\{\{(\d+)\}\}/g)].map(([, at]) => at)).size
  if (given.length !== wanted)
    return refuse(
      132000,
      `body: number of localizable_params (${given.length}) does not match the expected number of params (${wanted})`,
    )
  const text = template.body.replaceAll(/\{\{(\d+)\}\}/g, (_, at) => given[Number(at) - 1] ?? '')
  return { type: 'template', text, choices: [] }
}
