// What is known of channels, threads and servers: from gateway events, and from requests where events were missing. All
// of it can be forgotten safely.
import { type Clock, createBoundedMap } from '../../../contract/index.ts'
import type { DiscordAnswer, DiscordClient } from './client.ts'
import { bitsOf, type GuildRights, type Overwrite } from './permissions.ts'
import { isRefusal, isStatus } from './refusals.ts'
import { isSnowflake } from './snowflakes.ts'

export interface ChannelFacts {
  readonly id: string
  readonly type: number
  /** For a thread: its channel or forum. */
  readonly parent: string | null
  readonly guild: string | null
  readonly name: string | null
  readonly lastMessage: string | null
  readonly overwrites: readonly Overwrite[]
}

export interface GuildFacts extends GuildRights {
  readonly name: string
  /** The largest file that is allowed there. */
  readonly mostBytes: number
  readonly roleNames: ReadonlyMap<string, string>
}

/** The conversation of a channel. A thread belongs to its parent. */
export interface Place {
  readonly conversation: string
  readonly thread?: string
  readonly chat: 'direct' | 'group'
}

const CHANNELS_REMEMBERED = 50_000
const GUILDS_REMEMBERED = 2_500
const FRESH_MS = 5 * 60_000
const MIB = 1_048_576
const MOST_ROLES = 500
/**
 * A larger file is not sent anywhere. Discord changed this limit four times, and not for all bots at once. Smaller
 * files that Discord refuses get its own answer (40005).
 */
export const DEFAULT_BYTES = 20 * MIB
/** By the boost level of a server. */
const TIER_BYTES: Readonly<Record<number, number>> = { 2: 50 * MIB, 3: 100 * MIB }

const DIRECT = 1
export const FORUMS: ReadonlySet<number> = new Set([15, 16])
const THREADS: ReadonlySet<number> = new Set([10, 11, 12])
/** Types in which text can be written: text, voice, announcements, stages. */
const TALK: ReadonlySet<number> = new Set([0, 2, 5, 13])

export const isThread = ({ type }: Pick<ChannelFacts, 'type'>) => THREADS.has(type)
export const isTalk = ({ type }: Pick<ChannelFacts, 'type'>) => TALK.has(type)

export interface ChannelCache {
  /** Throws as the client does. A missing or hidden channel is a refusal. */
  channel(id: string): Promise<ChannelFacts>
  known(id: string): ChannelFacts | undefined
  learn(channel: unknown, guild?: string): ChannelFacts | null
  forget(channel: string): void
  guild(id: string): Promise<GuildFacts>
  learnGuild(guild: unknown): void
  /** It changed, so it is requested again when needed. */
  forgetGuild(id: string): void
  /**
   * Returns the conversation of a channel's messages. Throws only errors that pass, after which the caller asks again.
   */
  placeOf(channel: string, hints?: { readonly guild?: unknown; readonly type?: unknown }): Promise<Place>
}

export function createChannelCache(
  client: DiscordClient,
  deps: { readonly clock: Pick<Clock, 'now'>; readonly self: () => Promise<{ readonly userId: string }> },
): ChannelCache {
  const channels = createBoundedMap<string, ChannelFacts>(CHANNELS_REMEMBERED)
  const guilds = createBoundedMap<string, { readonly facts: Promise<GuildFacts>; readonly until: number }>(
    GUILDS_REMEMBERED,
  )

  const learn: ChannelCache['learn'] = (given, guild) => {
    const facts = channelFacts(given, guild)
    if (facts === null) return null
    const before = channels.get(facts.id)
    // An event with fewer fields does not remove known ones.
    const whole = before === undefined ? facts : { ...facts, guild: facts.guild ?? before.guild }
    channels.set(facts.id, whole)
    return whole
  }

  const channel: ChannelCache['channel'] = async (id) => {
    const known = channels.get(id)
    if (known !== undefined) return known
    const answer = await client.call('GET', `/channels/${id}`, { repeatable: true })
    // The requested id counts, because a compatible server may return another one.
    return learn({ ...answer, id }) ?? nothingKnown(id)
  }

  const askGuild = async (id: string): Promise<GuildFacts> => {
    const { userId } = await deps.self()
    const [guild, member] = await Promise.all([
      client.call('GET', `/guilds/${id}`, { repeatable: true }),
      client.call('GET', `/guilds/${id}/members/${userId}`, { repeatable: true }),
    ])
    return guildFacts({ ...guild, id }, member)
  }

  const keepGuild = (id: string, facts: Promise<GuildFacts>) => {
    guilds.set(id, { facts, until: deps.clock.now() + FRESH_MS })
    facts.catch(() => guilds.delete(id))
    return facts
  }

  return {
    channel,
    known: (id) => channels.get(id),
    learn,
    forget: (id) => void channels.delete(id),
    guild(id) {
      const known = guilds.get(id)
      if (known !== undefined && known.until > deps.clock.now()) return known.facts
      return keepGuild(id, askGuild(id))
    },
    learnGuild(given) {
      const { id, channels: list, threads } = (given ?? {}) as Record<string, unknown>
      if (!isSnowflake(id)) return
      for (const one of [list, threads]) if (Array.isArray(one)) for (const each of one) learn(each, id)
    },
    forgetGuild: (id) => void guilds.delete(id),

    async placeOf(id, hints = {}) {
      const guild = isSnowflake(hints.guild) ? hints.guild : null
      const known = channels.get(id)
      if (known !== undefined) return placeOfFacts({ ...known, guild: known.guild ?? guild })
      const type = typeof hints.type === 'number' ? hints.type : null
      if (type !== null && (TALK.has(type) || type === DIRECT))
        return { conversation: id, chat: type === DIRECT ? 'direct' : 'group' }
      // The gateway names the server of every message in one. A message without a server is in a direct chat.
      if (guild === null && 'guild' in hints) return { conversation: id, chat: 'direct' }
      try {
        const facts = await channel(id)
        return placeOfFacts({ ...facts, guild: facts.guild ?? guild })
      } catch (thrown) {
        // It is gone, or hidden from the bot. It counts as a conversation of its own.
        if (!isRefusal(thrown, 10003, 50001) && !isStatus(thrown, 403, 404)) throw thrown
        return { conversation: id, chat: guild === null ? 'direct' : 'group' }
      }
    },
  }
}

export function placeOfFacts(facts: ChannelFacts): Place {
  const { id, type, parent, guild } = facts
  if (type === DIRECT || (guild === null && !THREADS.has(type))) return { conversation: id, chat: 'direct' }
  if (THREADS.has(type) && parent !== null) return { conversation: parent, thread: id, chat: 'group' }
  return { conversation: id, chat: 'group' }
}

function nothingKnown(id: string): ChannelFacts {
  return { id, type: 0, parent: null, guild: null, name: null, lastMessage: null, overwrites: [] }
}

export function channelFacts(given: unknown, guild?: string): ChannelFacts | null {
  const value = (given ?? {}) as Record<string, unknown>
  const { id, type, parent_id, guild_id, name, last_message_id } = value
  if (!isSnowflake(id) || typeof type !== 'number') return null
  const overwrites = Array.isArray(value.permission_overwrites) ? value.permission_overwrites : []
  return {
    id,
    type,
    parent: isSnowflake(parent_id) ? parent_id : null,
    guild: isSnowflake(guild_id) ? guild_id : (guild ?? null),
    name: typeof name === 'string' ? name.slice(0, 100) : null,
    lastMessage: isSnowflake(last_message_id) ? last_message_id : null,
    overwrites: overwrites.flatMap((one: Record<string, unknown> | null) =>
      isSnowflake(one?.id) ? [{ id: one.id, allow: bitsOf(one.allow), deny: bitsOf(one.deny) }] : [],
    ),
  }
}

function guildFacts(guild: DiscordAnswer, member: DiscordAnswer): GuildFacts {
  const roles = (Array.isArray(guild.roles) ? (guild.roles as readonly DiscordAnswer[]) : []).slice(
    0,
    MOST_ROLES,
  )
  const mine = Array.isArray(member.roles) ? member.roles.filter(isSnowflake) : []
  const named = roles.filter((role) => isSnowflake(role?.id))
  return {
    guildId: String(guild.id),
    name: typeof guild.name === 'string' ? guild.name.slice(0, 100) : String(guild.id),
    ownerId: isSnowflake(guild.owner_id) ? guild.owner_id : null,
    roles: new Map(named.map(({ id, permissions }) => [String(id), bitsOf(permissions)])),
    roleNames: new Map(named.map(({ id, name }) => [String(id), String(name)])),
    myRoles: new Set(mine),
    mostBytes: TIER_BYTES[Number(guild.premium_tier)] ?? DEFAULT_BYTES,
  }
}
