// Who speaks and where. A person is known by the phone number, or if WhatsApp hides it, by a user id (BSUID). A signed
// post may contain both. Later posts with only the user id are then assigned to the number.
import { type BoundedMap, createBoundedMap, defined } from '../../contract/index.ts'
import { type Fields, fieldsOf, listOf, textOf } from './fields.ts'

const REMEMBERED = 20_000
const NUMBER = /^\d{1,20}$/
/** A country code, sometimes `ENT`, and up to 128 letters and digits. */
const USER_ID = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

export interface Person {
  readonly id: string
  readonly name?: string
  readonly waId?: string
  readonly userId?: string
}

export interface People {
  /** Null: no sender is named. */
  of(message: Fields, contacts: unknown): Person | null
}

export function createPeople(): People {
  const numbers: BoundedMap<string, string> = createBoundedMap(REMEMBERED)
  return {
    of(message, contacts) {
      const from = textOf(message.from)
      const userId = textOf(message.from_user_id)
      const contact = contactOf(contacts, from, userId)
      const waId = numberOf(from) ?? numberOf(textOf(contact.wa_id))
      const bsuid = userId ?? textOf(contact.user_id)
      if (waId !== undefined && bsuid !== undefined) numbers.set(bsuid, waId)
      const known = waId ?? (bsuid === undefined ? undefined : numbers.get(bsuid))
      const id = known ?? bsuid ?? from
      if (id === undefined) return null
      const profile = fieldsOf(contact.profile)
      const name = textOf(profile.name) ?? textOf(profile.username)
      return {
        id: id.slice(0, 200),
        ...(name === undefined ? {} : { name: name.slice(0, 200) }),
        ...defined({ waId: known }),
        ...(bsuid === undefined ? {} : { userId: bsuid.slice(0, 200) }),
      }
    },
  }
}

function contactOf(contacts: unknown, from: string | undefined, userId: string | undefined): Fields {
  const all = listOf(contacts).map(fieldsOf)
  const found = all.find(
    ({ wa_id, user_id }) =>
      (from !== undefined && textOf(wa_id) === from) || (userId !== undefined && textOf(user_id) === userId),
  )
  // One message and one contact belong together in any case.
  return found ?? (all.length === 1 ? fieldsOf(all[0]) : {})
}

function numberOf(value: string | undefined): string | undefined {
  return value !== undefined && NUMBER.test(value) ? value : undefined
}

/** Names a conversation in a request: a number, a user id, or a group. */
export function recipientOf(conversation: string): Fields {
  const digits = conversation.replace(/^\+/, '')
  if (NUMBER.test(digits)) return { recipient_type: 'individual', to: digits }
  if (USER_ID.test(conversation)) return { recipient_type: 'individual', recipient: conversation }
  return { recipient_type: 'group', to: conversation }
}

export function isGroup(conversation: string): boolean {
  return recipientOf(conversation).recipient_type === 'group'
}
