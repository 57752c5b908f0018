// Where the arguments of a tool call lead. The names of tools' fields are the servers' own, so the list is wide: whatever
// may be a chat, a person or a thread has to be one that spoke, or be allowed.
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
/** Names nothing: what hides so deep is refused unless everything is allowed. */
const HIDDEN: Destination = { of: 'conversation', value: '(nested too deeply)', places: [] }

export function destinationsIn(input: Readonly<Record<string, unknown>>): readonly Destination[] {
  const found: Destination[] = []
  /** `of`: what the keys around it already name. A leaf of `chat: {id: …}` is the chat, whatever its own name. */
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
