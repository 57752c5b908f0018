// Finds the destinations among the arguments of a tool call. Servers choose the names of their fields, so the list is
// wide. Every value that may be a chat, a person or a thread must have spoken before, or be allowed.
import type { Destination } from '../../contract/index.ts'
import { CONVERSATION_KEYS, THREAD_KEYS } from './thread.ts'

// Compared without case, `_`, `-` and `.`, and without a plural s.
const CONVERSATION_NAMES = new Set([
  ...[
    'chat',
    'chatid',
    'conversation',
    'conversationid',
    'room',
    'roomid',
    'channel',
    'channelid',
    'channelname',
  ],
  ...[
    'to',
    'cc',
    'bcc',
    'recipient',
    'recipientid',
    'receiver',
    'receiverid',
    'sendto',
    'toid',
    'touser',
    'touserid',
    'tochat',
    'tochatid',
    'tochannel',
    'tonumber',
    'toemail',
    'toaddres',
    'target',
    'targetid',
    'destination',
    'peer',
    'peerid',
    'jid',
  ],
  ...['group', 'groupid', 'guild', 'guildid', 'space', 'spaceid', 'workspace', 'team', 'teamid'],
  ...[
    'user',
    'userid',
    'username',
    'member',
    'memberid',
    'contact',
    'contactid',
    'address',
    'addresse',
    'email',
  ],
  ...[
    'emailaddress',
    'phone',
    'phonenumber',
    'number',
    'handle',
    'mailbox',
    'topic',
    'webhook',
    'webhookurl',
  ],
])
const THREAD_NAMES = new Set(['threadts', 'threadid', 'thread', 'messagethreadid', 'topicid'])
const DEEPEST = 8
/** Stands for a value that is nested too deeply. It is refused unless everything is allowed. */
const HIDDEN: Destination = { of: 'conversation', value: '(nested too deeply)', places: [] }

export function destinationsIn(input: Readonly<Record<string, unknown>>): readonly Destination[] {
  const found: Destination[] = []
  /** `around` is the kind that an outer key names. The value in `chat: {id: …}` is a chat, whatever its own key. */
  const visit = (key: string, value: unknown, depth: number, around: Destination['of'] | null): void => {
    const of = kindOf(key) ?? around
    if (typeof value === 'object' && value !== null) {
      if (depth >= DEEPEST) {
        found.push(HIDDEN)
        return
      }
      for (const [inner, one] of Object.entries(value))
        visit(Array.isArray(value) ? key : inner, one, depth + 1, of)
      return
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return
    if (of !== null && value !== '')
      found.push({ of, value: String(value), places: placesOf(of, key, String(value)) })
  }
  for (const [key, value] of Object.entries(input)) visit(key, value, 0, null)
  return found
}

function kindOf(key: string): Destination['of'] | null {
  const name = key.toLowerCase().replace(/[_.-]/g, '')
  const singular = name.length > 2 ? name.replace(/s$/, '') : name
  if (THREAD_NAMES.has(name)) return 'thread'
  return CONVERSATION_NAMES.has(name) || CONVERSATION_NAMES.has(singular) ? 'conversation' : null
}

function placesOf(of: Destination['of'], key: string, value: string): readonly string[] {
  const keys: readonly string[] = of === 'thread' ? THREAD_KEYS : CONVERSATION_KEYS
  const own = keys.includes(key) ? [key] : []
  return [...own, ...keys.filter((one) => one !== key)].map((one) => `${one}=${value}`)
}
