// Receives from the gateway. Dispatches wait in order. All that wait are stored in one commit with the session's
// position, and count as heard after it. If they cannot be stored, they are dropped, and the session is resumed at the
// stored position. Discord then sends them again.
import {
  type Clock,
  defined,
  type InboundEvent,
  type Logger,
  type PlatformIntake,
  type Received,
} from '../../contract/index.ts'
import type { ChannelCache, Place } from './api/channel-cache.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { isSnowflake } from './api/snowflakes.ts'
import type { DiscordConfig } from './config.ts'
import { eventOf, type Interaction, readInteraction } from './interactions.ts'
import type { Dispatch, Session } from './link/gateway-socket.ts'
import { type GuildNews, guildNews } from './link/guild-events.ts'
import type { InteractionEndpoint } from './link/interaction-endpoint.ts'
import {
  type DiscordMessage,
  editVersionOf,
  isBlank,
  type ParseContext,
  spoken,
  unparsable,
} from './parse.ts'

export interface ReceiverDeps {
  readonly config: DiscordConfig
  readonly self: () => Promise<Self>
  readonly cache: ChannelCache
  readonly door: InteractionEndpoint
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly log: Logger
  /** Fetches a message, for updates that contain only a part of it. */
  readonly fetchMessage: (channel: string, id: string) => Promise<DiscordMessage>
  /** Returns the sessions of all shards for the cursor. */
  readonly cursor: (reached: ReadonlyMap<Session, number>) => string
  /** Drops everything of this session after the stored position, and resumes it there. */
  readonly again: (session: Session, cause: string) => void
  /** Our own message came back, perhaps with its nonce. */
  readonly echoed: (message: DiscordMessage) => void
  /** The bot cannot read the content of messages. */
  readonly blank: () => void
  readonly context: (place: Place, message: DiscordMessage) => Promise<ParseContext>
  /** A person wrote in their direct chat. */
  readonly spoke: (person: string, channel: string) => void
  /** Remembered for the name of a thread. */
  readonly said: (message: DiscordMessage) => void
}

export interface Receiver {
  take(dispatch: Dispatch): void
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>
  stop(): void
}

interface Waiting extends Dispatch {
  readonly interaction: Interaction | null
  readonly problem?: unknown
}

interface Read {
  readonly events: readonly InboundEvent[]
  readonly interaction: Interaction | null
}

const MOST_AT_ONCE = 100
/** Beyond this, dispatches are dropped and resumed later. */
const MOST_WAITING = 5_000
/** An update with an older edit time is about something else: a pin, a preview. */
const EDIT_AGE_MS = 15 * 60_000
const NOTHING: readonly InboundEvent[] = []

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { cache, intake, clock, log } = deps
  let waiting: Waiting[] = []
  let running: Promise<void> | null = null
  let stopped = false

  const placeOf = ({ channel_id, guild_id, channel_type }: DiscordMessage): Promise<Place> => {
    if (!isSnowflake(channel_id)) throw new Error('a message without a channel')
    return cache.placeOf(channel_id, { guild: guild_id, type: channel_type })
  }

  const created = async (message: DiscordMessage): Promise<readonly InboundEvent[]> => {
    const place = await placeOf(message)
    const { userId } = await deps.self()
    const { id: author, bot } = (message.author ?? {}) as { readonly id?: unknown; readonly bot?: unknown }
    if (author === userId) deps.echoed(message)
    else if (place.chat === 'group' && bot !== true && isBlank(message)) deps.blank()
    else if (place.chat === 'direct' && isSnowflake(author)) deps.spoke(author, place.conversation)
    deps.said(message)
    const event = spoken(message, await deps.context(place, message))
    return event === null ? NOTHING : [event]
  }

  const updated = async (given: DiscordMessage): Promise<readonly InboundEvent[]> => {
    const version = editVersionOf(given)
    if (version === 0 || Math.abs(clock.now() - version) > EDIT_AGE_MS) return NOTHING
    let message = given
    if (given.author === undefined || given.content === undefined) {
      if (!isSnowflake(given.channel_id) || !isSnowflake(given.id)) throw new Error('an edit of nothing')
      const whole = await deps.fetchMessage(given.channel_id, given.id).catch((thrown: unknown) => {
        if (isRefusal(thrown, 10003, 10008, 50001) || isStatus(thrown, 403, 404)) return null
        throw thrown
      })
      if (whole === null) return NOTHING
      message = {
        ...whole,
        guild_id: given.guild_id ?? whole.guild_id,
        edited_timestamp: given.edited_timestamp,
      }
    }
    const event = spoken(message, await deps.context(await placeOf(message), message), { edit: version })
    return event === null ? NOTHING : [event]
  }

  const deleted = async (data: Readonly<Record<string, unknown>>): Promise<readonly InboundEvent[]> => {
    const ids = (Array.isArray(data.ids) ? data.ids : [data.id]).filter(isSnowflake).slice(0, 200)
    if (ids.length === 0) throw new Error('a deletion names no message')
    const place = await placeOf(data)
    const opens = deps.config.options.threads === 'each' && place.chat === 'group'
    return ids.map((messageId) => ({
      kind: 'delete',
      conversation: place.conversation,
      ...threadOf(place, opens ? messageId : undefined),
      chat: place.chat,
      // Discord does not say who did it.
      sender: { id: '' },
      at: clock.now(),
      messageId,
    }))
  }

  const reacted = async (data: Readonly<Record<string, unknown>>): Promise<readonly InboundEvent[]> => {
    const { user_id, message_id, emoji, member } = data
    const { name, id } = (emoji ?? {}) as { readonly name?: unknown; readonly id?: unknown }
    if (!isSnowflake(user_id) || !isSnowflake(message_id))
      throw new Error('a reaction of nobody, or to nothing')
    if (user_id === (await deps.self()).userId || typeof name !== 'string' || name === '') return NOTHING
    const place = await placeOf(data)
    const shown = isSnowflake(id) ? `:${name.slice(0, 60)}:` : name.slice(0, 60)
    const { user } = (member ?? {}) as { readonly user?: { readonly bot?: unknown } }
    return [
      {
        kind: 'reaction',
        conversation: place.conversation,
        ...threadOf(place, undefined),
        chat: place.chat,
        sender: { id: user_id, ...(user?.bot === true ? { isBot: true } : {}) },
        at: clock.now(),
        messageId: `reaction:${message_id}:${shown}:${user_id}`,
        on: message_id,
        emoji: shown,
      },
    ]
  }

  const interacted = async (interaction: Interaction): Promise<readonly InboundEvent[]> => {
    const { channel, guild } = interaction
    if (interaction.channelObject !== undefined && cache.known(channel) === undefined)
      cache.learn(interaction.channelObject, guild ?? undefined)
    const event = eventOf(interaction, await cache.placeOf(channel, { guild }), clock.now())
    return event === null ? NOTHING : [event]
  }

  const read = async ({ type, data, interaction, problem }: Waiting): Promise<Read> => {
    try {
      if (problem !== undefined) throw problem
      if (interaction !== null) return { events: await interacted(interaction), interaction }
      const news = guildNews(type, data)
      if (news !== null) tell(news)
      const fields = (typeof data === 'object' && data !== null ? data : {}) as DiscordMessage
      const by: Readonly<Record<string, () => Promise<readonly InboundEvent[]>>> = {
        MESSAGE_CREATE: () => created(fields),
        MESSAGE_UPDATE: () => updated(fields),
        MESSAGE_DELETE: () => deleted(fields as Readonly<Record<string, unknown>>),
        MESSAGE_DELETE_BULK: () => deleted(fields as Readonly<Record<string, unknown>>),
        MESSAGE_REACTION_ADD: () => reacted(fields as Readonly<Record<string, unknown>>),
      }
      const reader = Object.hasOwn(by, type) ? by[type] : undefined
      return { events: reader === undefined ? NOTHING : await reader(), interaction: null }
    } catch (thrown) {
      // A passing error is repeated. An unreadable message is recorded.
      if (thrown instanceof Error && 'code' in thrown) throw thrown
      return { events: [unparsable(data, clock.now(), thrown)], interaction: null }
    }
  }

  const tell = (news: GuildNews) => {
    for (const channel of news.channels) cache.learn(channel.facts, channel.guild)
    for (const id of news.gone) cache.forget(id)
    if (news.guild !== null) cache.learnGuild(news.guild)
    if (news.changed !== null) cache.forgetGuild(news.changed)
    if (news.left !== null) log.warn({ guild: news.left }, 'the bot is no longer in a server')
  }

  const store = async (batch: readonly Waiting[]) => {
    const reads: Read[] = []
    for (const one of batch) reads.push(await read(one))
    const events = reads.flatMap((one) => one.events)
    // The position after this commit. Until then a resume uses the previous one.
    const reached = new Map(batch.map(({ session }) => [session, session.stored]))
    for (const { session, seq } of batch) reached.set(session, Math.max(reached.get(session) ?? 0, seq))
    const isNew = batch.some(({ type }) => type === 'READY' || type === 'RESUMED')
    const isNothing = events.length === 0 && !isNew
    const results = isNothing ? [] : await intake.receive(events, { cursor: deps.cursor(reached) })
    for (const [session, seq] of reached) session.stored = Math.max(session.stored, seq)
    settle(reads, results)
  }

  const settle = (reads: readonly Read[], results: readonly Received[]) => {
    let at = 0
    for (const { events, interaction } of reads) {
      const result = results[at]
      at += events.length
      if (interaction !== null) deps.door.close(interaction, events.length === 0 ? null : (result ?? null))
    }
  }

  /** Events after a gap must not be stored as if there were none. */
  const breakOff = (session: Session, cause: string) => {
    session.broken = true
    deps.again(session, cause)
  }

  const pump = async () => {
    while (waiting.length > 0 && !stopped) {
      const batch = waiting.splice(0, MOST_AT_ONCE)
      try {
        await store(batch)
      } catch (thrown) {
        const sessions = new Set([...batch, ...waiting].map(({ session }) => session))
        waiting = []
        const problem = thrown instanceof Error ? thrown.message : 'it failed'
        log.warn({ problem }, 'what Discord sent could not be stored, and is asked for again')
        for (const session of sessions) breakOff(session, `not stored: ${problem}`)
      }
    }
    running = null
  }

  return {
    take(dispatch) {
      if (stopped || dispatch.session.broken === true) return
      if (waiting.length >= MOST_WAITING) return breakOff(dispatch.session, 'too much waits to be stored')
      waiting.push({ ...dispatch, ...interactionIn(dispatch, deps.door) })
      running ??= pump()
    },
    idle: () => running ?? Promise.resolve(),
    stop() {
      stopped = true
      waiting = []
    },
  }
}

/** Discord waits three seconds for the first answer, so it is sent before anything else. */
function interactionIn(
  { type, data }: Dispatch,
  door: InteractionEndpoint,
): { readonly interaction: Interaction | null; readonly problem?: unknown } {
  if (type !== 'INTERACTION_CREATE') return { interaction: null }
  try {
    const interaction = readInteraction(data)
    if (interaction !== null) door.open(interaction)
    return { interaction }
  } catch (problem) {
    return { interaction: null, problem }
  }
}

function threadOf({ thread }: Place, opened: string | undefined): { readonly thread?: string } {
  const found = thread ?? opened
  return defined({ thread: found })
}
