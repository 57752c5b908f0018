// Finds out whether a post whose answer was lost arrived. Discord's history contains the nonce, but not always. So an
// own message with the same content that belongs to no other row counts too. While the nonce holds, no search is
// needed: a repeated post shows nothing twice.
import {
  type Clock,
  createBoundedMap,
  type PlatformAdapter,
  type PlatformDeps,
  type Receipt,
  type SendRequest,
} from '../../contract/index.ts'
import { type ChannelFacts, FORUMS } from './api/channel-cache.ts'
import type { DiscordClient } from './api/client.ts'
import { isRefusal } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { isSnowflake } from './api/snowflakes.ts'
import { ownPosts } from './own-posts.ts'
import { type DiscordMessage, sentAt } from './parse.ts'
import { cutOf, nonceOf } from './render.ts'
import type { Targets } from './targets.ts'
import type { Threads } from './threads.ts'

type Reconcile = NonNullable<PlatformAdapter['reconcile']>

const PAGE = 100
const MOST_PAGES = 5
const KNOWN_ROWS = 200
const REMEMBERED = 2_000
/** Discord suppresses a repeated nonce for some minutes. Switchboard relies on this much. */
const NONCE_HOLDS_MS = 60_000
/** Our clock may be this far ahead of Discord's. */
const CLOCKS_DIFFER_MS = 5 * 60_000
const DAY_MS = 86_400_000

export interface Reconciling {
  readonly reconcile: Reconcile
  /** The gateway brought our own message, with its nonce. */
  echoed(message: DiscordMessage): void
}

export interface ReconcileDeps extends Pick<PlatformDeps, 'transcript'> {
  readonly client: DiscordClient
  readonly targets: Targets
  readonly threads: Threads
  readonly self: () => Promise<Self>
  readonly clock: Clock
}

export function createReconcile(deps: ReconcileDeps): Reconciling {
  const { client, clock } = deps
  const echoes = createBoundedMap<string, string>(REMEMBERED)

  /** Older messages cannot be it, because rows are sent soon after they were made. */
  const sinceOf = ({ tried }: SendRequest) =>
    tried === undefined ? clock.now() - DAY_MS : tried.since - CLOCKS_DIFFER_MS

  /** Null: it is not there. Undefined: this cannot be known. */
  const find = async (channel: ChannelFacts, request: SendRequest): Promise<string | null | undefined> => {
    const nonce = nonceOf(request.key)
    const me = await deps.self()
    const others = await takenByOthers(deps, request)
    const shows = lookOf(request)
    const since = sinceOf(request)
    let before: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const path = `/channels/${channel.id}/messages?limit=${PAGE}${before === undefined ? '' : `&before=${before}`}`
      const messages: readonly DiscordMessage[] = await client.list(path)
      const own = messages.filter(({ author }) => (author as { id?: unknown } | undefined)?.id === me.userId)
      const marked = own.find((message) => String(message.nonce ?? '') === nonce)
      if (marked !== undefined) return String(marked.id)
      const same = own.filter(
        (message) =>
          sentAt(message) >= since &&
          !others.has(String(message.id)) &&
          isUnmarked(message) &&
          shows(message),
      )
      if (same.length === 1) return String(same[0]?.id)
      if (same.length > 1) return undefined
      const oldest = messages.at(-1)
      if (messages.length < PAGE || !isSnowflake(oldest?.id)) return null
      if (sentAt(oldest) < since) return null
      before = oldest.id
    }
    return undefined
  }

  const findPost = async (forum: ChannelFacts, request: SendRequest): Promise<string | null | undefined> => {
    const { posts, isWhole } = await ownPosts(forum, { client, self: deps.self })
    const others = await takenByOthers(deps, request)
    const shows = lookOf(request)
    const since = sinceOf(request)
    const same = posts.filter(
      (message) => sentAt(message) >= since && !others.has(String(message.id)) && shows(message),
    )
    if (same.length === 1) return String(same[0]?.id)
    return same.length > 1 || !isWhole ? undefined : null
  }

  return {
    echoed({ id, nonce }) {
      if (isSnowflake(id) && (typeof nonce === 'string' || typeof nonce === 'number'))
        echoes.set(String(nonce), id)
    },
    async reconcile(request) {
      const { to, op } = request
      // Repeating these shows the same.
      if (op.kind === 'edit' || op.kind === 'react') return { outcome: 'absent' }
      if (op.kind === 'call') return { outcome: 'unknown' }
      const target = await deps.targets.channelOf(to.conversation)
      const channel = await deps.threads.placeOf(request, target)
      const isForum = FORUMS.has(channel.type)
      const echoed = echoes.get(nonceOf(request.key))
      if (echoed !== undefined) return { outcome: 'sent', receipt: receipt(echoed, channel, request) }
      // A forum post has no nonce, and is a channel of its own.
      const until = (request.tried?.since ?? Number.NEGATIVE_INFINITY) + NONCE_HOLDS_MS
      if (!isForum && clock.now() < until) return { outcome: 'harmless', until }
      let found: string | null | undefined
      try {
        found = isForum ? await findPost(channel, request) : await find(channel, request)
      } catch (thrown) {
        if (isRefusal(thrown, 10003)) return { outcome: 'absent' }
        throw thrown
      }
      if (typeof found === 'string') return { outcome: 'sent', receipt: receipt(found, channel, request) }
      return { outcome: found === null ? 'absent' : 'unknown' }
    },
  }
}

/** Returns the messages of other rows of this conversation. */
async function takenByOthers(
  { transcript }: Pick<PlatformDeps, 'transcript'>,
  { to, key }: SendRequest,
): Promise<ReadonlySet<string>> {
  const rows = await transcript({ conversation: to.conversation, direction: 'out', limit: KNOWN_ROWS })
  return new Set(
    rows.flatMap(({ id, platformMessageId }) =>
      id === key || platformMessageId === undefined ? [] : [platformMessageId],
    ),
  )
}

/** A message with a nonce belongs to one row. */
function isUnmarked({ nonce }: DiscordMessage): boolean {
  return nonce === undefined || nonce === null || nonce === ''
}

/** Returns whether a message has the request's content. */
function lookOf({ op }: SendRequest): (message: DiscordMessage) => boolean {
  if (op.kind === 'file' || (op.kind === 'text' && op.asFile !== undefined)) {
    const name = op.kind === 'file' ? op.name : (op.asFile?.name ?? '')
    const plain = (text: unknown) => String(text).replace(/[^A-Za-z0-9]/g, '')
    return ({ attachments }) =>
      Array.isArray(attachments) &&
      attachments.some((one: { readonly filename?: unknown } | null) => plain(one?.filename) === plain(name))
  }
  const written = op.kind === 'text' || op.kind === 'prompt' ? cutOf(op).trim() : null
  return ({ content }) => typeof content === 'string' && content.trim() === written
}

function receipt(id: string, channel: ChannelFacts, { to }: SendRequest): Receipt {
  const isElsewhere = channel.guild === null && channel.id !== to.conversation && to.thread === undefined
  return { platformIds: [id], ...(isElsewhere ? { conversation: channel.id } : {}) }
}
