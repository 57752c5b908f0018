// The content of one message by its type: readable text, and media as references that are fetched after the gate.
import { type Attachment, defined } from '../../contract/index.ts'
import { safeFileName, safeMime } from '../../kit/index.ts'
import { type Fields, fieldsOf, listOf, textOf } from './fields.ts'

export interface Content {
  readonly text: string
  readonly attachments?: readonly Attachment[]
  readonly meta?: Readonly<Record<string, string>>
}

const MEDIA = {
  image: 'image',
  sticker: 'image',
  video: 'video',
  audio: 'audio',
  voice: 'audio',
  document: 'file',
} as const satisfies Record<string, Attachment['kind']>
const MOST_LISTED = 20
const MOST_META = 256
const MOST_LINE = 500

/** Null: the type is unknown, or the expected field is missing. */
export function contentOf(message: Fields): Content | null {
  const type = textOf(message.type) ?? ''
  const inside = fieldsOf(message[type])
  if (Object.hasOwn(MEDIA, type)) return mediaOf(type as keyof typeof MEDIA, inside)
  switch (type) {
    case 'text': {
      const body = textOf(inside.body)
      return body === undefined ? null : { text: body }
    }
    case 'location':
      return locationOf(inside)
    case 'contacts':
      return contactsOf(message.contacts)
    case 'button':
      return buttonOf(inside)
    case 'interactive':
      return interactiveOf(inside)
    case 'order':
      return orderOf(inside)
    case 'unsupported':
      return unsupportedOf(message, inside)
    default:
      return null
  }
}

function mediaOf(type: keyof typeof MEDIA, media: Fields): Content | null {
  const id = textOf(media.id)
  if (id === undefined) return null
  const name = textOf(media.filename)
  const mime = textOf(media.mime_type)
  const size = typeof media.file_size === 'number' ? media.file_size : undefined
  const attachment: Attachment = {
    id: id.slice(0, 200),
    kind: MEDIA[type],
    ...(name === undefined ? {} : { name: safeFileName(name) }),
    // `audio/ogg; codecs=opus`
    ...(mime === undefined ? {} : { mime: safeMime(mime.split(';')[0] ?? mime) }),
    ...defined({ size }),
    ref: JSON.stringify({ id: id.slice(0, 200), ...defined({ sha256: textOf(media.sha256) }) }),
  }
  const meta = {
    ...(media.voice === true ? { voice: 'true' } : {}),
    ...(type === 'sticker' ? { sticker: 'true' } : {}),
  }
  return {
    text: textOf(media.caption) ?? '',
    attachments: [attachment],
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  }
}

function locationOf({ latitude, longitude, name, address }: Fields): Content | null {
  const [lat, long] = [Number(textOf(latitude)), Number(textOf(longitude))]
  if (!Number.isFinite(lat) || !Number.isFinite(long)) return null
  const place = [textOf(name), textOf(address)].filter((part) => part !== undefined).join(', ')
  return {
    text: `📍 ${place === '' ? '' : `${line(place)} `}(${lat}, ${long})`,
    meta: { latitude: String(lat), longitude: String(long) },
  }
}

function contactsOf(contacts: unknown): Content | null {
  const cards = listOf(contacts).slice(0, MOST_LISTED).map(fieldsOf)
  if (cards.length === 0) return null
  const told = cards.map(({ name, phones, emails, org }) => {
    const whole = fieldsOf(name)
    const called = textOf(whole.formatted_name) ?? textOf(whole.first_name) ?? 'somebody'
    const numbers = listOf(phones).map((one) => textOf(fieldsOf(one).phone) ?? textOf(fieldsOf(one).wa_id))
    const mails = listOf(emails).map((one) => textOf(fieldsOf(one).email))
    const facts = [...numbers, ...mails, textOf(fieldsOf(org).company)].filter((one) => one !== undefined)
    return line(`👤 ${called}${facts.length === 0 ? '' : `: ${facts.slice(0, MOST_LISTED).join(', ')}`}`)
  })
  return { text: told.join('\n') }
}

/** The quick reply of a template. It is not one of our buttons, so its text is a message. */
function buttonOf({ text, payload }: Fields): Content | null {
  const words = textOf(text) ?? textOf(payload)
  const given = textOf(payload)
  return words === undefined
    ? null
    : { text: words, ...(given === undefined ? {} : { meta: { payload: given.slice(0, MOST_META) } }) }
}

/** The result of a form (a flow). A reply to a button or list comes here only if its question is unknown. */
function interactiveOf(interactive: Fields): Content | null {
  const type = textOf(interactive.type) ?? ''
  const inside = fieldsOf(interactive[type])
  if (type === 'nfm_reply') {
    const words = [textOf(inside.body), textOf(inside.response_json)].filter((part) => part !== undefined)
    return words.length === 0 ? null : { text: words.join('\n') }
  }
  const title = textOf(inside.title)
  const id = textOf(inside.id)
  if (title === undefined) return null
  const more = textOf(inside.description)
  return {
    text: more === undefined ? title : `${title}\n${more}`,
    ...(id === undefined ? {} : { meta: { payload: id.slice(0, MOST_META) } }),
  }
}

function orderOf({ catalog_id, text, product_items }: Fields): Content | null {
  const items = listOf(product_items).slice(0, MOST_LISTED).map(fieldsOf)
  if (items.length === 0) return null
  const lines = items.map(({ quantity, product_retailer_id, item_price, currency }) =>
    line(
      `${textOf(quantity) ?? '1'} × ${textOf(product_retailer_id) ?? 'a product'}${item_price === undefined ? '' : ` at ${textOf(item_price)} ${textOf(currency) ?? ''}`}`.trimEnd(),
    ),
  )
  const said = textOf(text)
  const catalog = textOf(catalog_id)
  return {
    text: [`🛒 ${said === undefined ? 'an order' : line(said)}`, ...lines].join('\n'),
    ...(catalog === undefined ? {} : { meta: { catalog_id: catalog.slice(0, MOST_META) } }),
  }
}

/** WhatsApp says that something was sent, and not what. It is recorded. */
function unsupportedOf(message: Fields, { type }: Fields): Content {
  const [error] = listOf(message.errors).map(fieldsOf)
  const kind = textOf(type)
  const why = textOf(fieldsOf(error?.error_data).details) ?? textOf(error?.title) ?? textOf(error?.message)
  const told = [kind, why].filter((part) => part !== undefined).join(': ')
  return {
    text: `(a message that WhatsApp does not pass on${told === '' ? '' : `: ${line(told)}`})`,
    meta: { unsupported: (kind ?? 'true').slice(0, MOST_META) },
  }
}

function line(text: string): string {
  return text.replaceAll(/(?<!\s)\s*\n\s*/g, ' ').slice(0, MOST_LINE)
}
