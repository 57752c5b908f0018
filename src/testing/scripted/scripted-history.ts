// A scripted platform with a history. The history keeps every message, whether or not the live link brings it. On
// demand the reader lies, pages, asks to wait or forgets. The platform outlives a gateway that crashes.
import {
  type HistoryEntry,
  type HistoryPlace,
  type HistoryQuery,
  type HistoryReader,
  type InboundEvent,
  type InboundMessage,
  type KnownConversation,
  type Received,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'

export interface SaidOptions {
  readonly thread?: string
  readonly messageId?: string
  readonly chat?: 'direct' | 'group'
  readonly mentioned?: boolean
  /** The id of the message that it replies to. */
  readonly replyTo?: string
  /** The time of the message. The default is now. */
  readonly at?: number
}

/** What a reader does instead of a correct answer. */
export type ReadFault =
  /** A correct answer, so that only a later read fails. */
  | { readonly kind: 'none' }
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'forbidden' | 'gone'; readonly detail: string }
  /** Repeats the last page of the place and says that there is more. */
  | { readonly kind: 'repeats' }

export interface ScriptedHistory {
  /** Writes a message. Returns null if the live link did not bring it. */
  says(conversation: string, sender: string, text: string, options?: SaidOptions): Promise<Received | null>
  /** Replaces the text of a message. */
  edits(messageId: string, text: string): Promise<Received | null>
  /** Removes a message. */
  deletes(messageId: string): Promise<Received | null>
  /** Makes the link say that it is up, while it brings nothing. A new link works again. */
  deafen(): void
  /** Makes the link go down, and report that, until `connect`. */
  disconnect(): void
  /** Makes a new connection. */
  connect(): void
  isDeaf(): boolean
  /** Sets the places that the platform lists. Null lists every place with a message. */
  list(places: readonly HistoryPlace[] | null): void
  /** Makes the next reads of a place, or of any place, fail like this, one each. */
  failReads(faults: readonly ReadFault[], place?: string): void
  /** Makes every read of the place fail like this. Null ends that. */
  failAlways(fault: ReadFault | null, place?: string): void
  pageSize(entries: number): void
  /** Forgets older messages. The reader says so. */
  forgetBefore(at: number): void
  readonly reads: readonly HistoryQuery[]
  readonly listings: readonly { readonly since: number }[]
  readonly renewals: readonly string[]
  /** The reader for the platform with this history. */
  readonly reader: HistoryReader
  attach(gateway: {
    readonly receive: (event: InboundEvent) => Promise<Received>
    readonly connected: () => void
  }): void
  readonly link: () => { readonly state: 'up' | 'down'; readonly since?: number }
  readonly renew: (cause: string) => void
  readonly probe: () => Promise<'hears' | 'deaf'>
}

interface Said {
  readonly position: number
  event: InboundMessage & { readonly kind: 'message'; readonly messageId: string }
}

/** `now` reads the driven clock. */
export function createScriptedHistory(now: () => number): ScriptedHistory {
  const said: Said[] = []
  const reads: HistoryQuery[] = []
  const listings: { since: number }[] = []
  const renewals: string[] = []
  const faults: { fault: ReadFault; place: string | undefined }[] = []
  const always = new Map<string | undefined, ReadFault>()
  let gateway: Parameters<ScriptedHistory['attach']>[0] | null = null
  let deaf = false
  let down = false
  let upSince = now()
  let counter = 0
  let pages = 100
  let listed: readonly HistoryPlace[] | null = null
  let begins: number | null = null

  const placeId = (at: KnownConversation) =>
    at.thread === undefined ? at.conversation : `${at.conversation}/${at.thread}`

  const brought = async (event: InboundEvent): Promise<Received | null> =>
    deaf || down || !gateway ? null : gateway.receive(event)

  const connect = () => {
    deaf = false
    down = false
    upSince = now()
    gateway?.connected()
  }

  const nextFault = (place: string): ReadFault | undefined => {
    const at = faults.findIndex((one) => one.place === undefined || one.place === place)
    if (at >= 0) return faults.splice(at, 1)[0]?.fault
    return always.get(place) ?? always.get(undefined)
  }

  const entriesOf = (place: string): readonly HistoryEntry[] =>
    said
      .filter(({ event }) => placeId(event) === place)
      .toSorted((one, other) => one.event.at - other.event.at || one.position - other.position)
      .map(({ position, event }) => ({
        position: `${String(event.at).padStart(15, '0')}.${String(position).padStart(9, '0')}`,
        at: event.at,
        event,
      }))

  const reader: HistoryReader = {
    async places(query) {
      listings.push({ since: query.since })
      const found =
        listed ??
        [...new Set(said.filter(({ event }) => !event.thread).map(({ event }) => event.conversation))].map(
          (id) => ({ id }),
        )
      const from = query.page === undefined ? 0 : Number(query.page)
      const next = from + 1_000
      return {
        places: found.slice(from, next),
        ...(next < found.length ? { next: String(next) } : {}),
      }
    },
    placeOf: (known) => ({ id: placeId(known) }),
    livePlace: (at) => ({ id: placeId(at) }),
    async read(query) {
      reads.push(query)
      const fault = nextFault(query.place.id)
      switch (fault?.kind) {
        case 'busy':
          throw new SwitchboardError('rate_limited', 'slow down', { retryAfterMs: fault.retryAfterMs })
        case 'unavailable':
          throw new SwitchboardError('platform_unavailable', 'the platform is away')
        case 'hang':
          return new Promise(() => undefined)
        case 'forbidden':
        case 'gone':
          return { unreadable: fault.kind, detail: fault.detail }
        case 'repeats':
          return { entries: entriesOf(query.place.id).slice(0, pages), more: true }
        default: {
          const { after, since } = query
          const rest = entriesOf(query.place.id).filter((one) =>
            after === null ? one.at >= since : one.position > after,
          )
          const size = Math.min(pages, query.limit)
          const forgotten = withoutNulls({ begins })
          return { entries: rest.slice(0, size), more: rest.length > size, ...forgotten }
        }
      }
    },
  }

  return {
    async says(conversation, sender, text, { at = now(), chat = 'direct', replyTo, ...more } = {}) {
      const position = ++counter
      const event = {
        ...{ kind: 'message' as const, conversation, chat, sender: { id: sender }, at, text, ...more },
        ...(replyTo === undefined ? {} : { replyTo: { messageId: replyTo } }),
        messageId: more.messageId ?? `h${position}`,
      }
      said.push({ position, event })
      return brought(event)
    },
    async edits(messageId, text) {
      const one = said.find(({ event }) => event.messageId === messageId)
      if (!one) throw new Error(`there is no message ${messageId}`)
      one.event = { ...one.event, text, editVersion: (one.event.editVersion ?? 0) + 1 }
      return brought({ ...one.event, kind: 'edit' })
    },
    async deletes(messageId) {
      const at = said.findIndex(({ event }) => event.messageId === messageId)
      const [one] = said.splice(at, at < 0 ? 0 : 1)
      if (!one) throw new Error(`there is no message ${messageId}`)
      const { conversation, chat, sender } = one.event
      return brought({ kind: 'delete', conversation, chat, sender, messageId, at: now() })
    },
    deafen() {
      deaf = true
    },
    disconnect() {
      down = true
    },
    connect,
    isDeaf: () => deaf,
    list(places) {
      listed = places
    },
    failReads(list, place) {
      for (const fault of list) faults.push({ fault, place })
    },
    failAlways(fault, place) {
      if (fault === null) always.delete(place)
      else always.set(place, fault)
    },
    pageSize(entries) {
      pages = entries
    },
    forgetBefore(at) {
      begins = at
      const left = said.filter(({ event }) => event.at >= at)
      said.splice(0, said.length, ...left)
    },
    reads,
    listings,
    renewals,
    reader,
    attach(given) {
      gateway = given
      connect()
    },
    link: () => (down ? { state: 'down' } : { state: 'up', since: upSince }),
    renew(cause) {
      renewals.push(cause)
      connect()
    },
    probe: async () => (deaf ? 'deaf' : 'hears'),
  }
}
