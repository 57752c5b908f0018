// What is known of channels, threads and servers: learnt from what the gateway tells, and asked of Discord where it did not.
// All of it is safe to forget.
import { type Clock, createBoundedMap } from '../../../contract/index.ts'
import type { DiscordAnswer, DiscordClient } from './client.ts'
import { bitsOf, type GuildRights, type Overwrite } from './permissions.ts'
import { isRefusal, isStatus } from './refusals.ts'
import { isSnowflake } from './snowflakes.ts'

export interface ChannelFacts {
  readonly id: string
  readonly type: number
  /** Of a thread: the channel or forum that it is in. */
  readonly parent: string | null
  readonly guild: string | null
  readonly name: string | null
  readonly lastMessage: string | null
  readonly overwrites: readonly Overwrite[]
}

export interface GuildFacts extends GuildRights {
  readonly name: string
  /** How large a file may be there. */
  readonly mostBytes: number
  readonly roleNames: ReadonlyMap<string, string>
}

/** Where a channel stands in the river: a thread is a part of its parent. */
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
 * What no place takes is not sent. Discord has moved the first of these four times, and not for every bot at once: what it
 * refuses below them it says itself (40005).
 */
export const DEFAULT_BYTES = 20 * MIB
/** By the level of a server's boosts. */
const TIER_BYTES: Readonly<Record<number, number>> = { 2: 50 * MIB, 3: 100 * MIB }

const DIRECT = 1
export const FORUMS: ReadonlySet<number> = new Set([15, 16])
const THREADS: ReadonlySet<number> = new Set([10, 11, 12])
/** Text can be written in these: text, voice, announcements, stages. */
const TALK: ReadonlySet<number> = new Set([0, 2, 5, 13])

export const isThread = ({ type }: Pick<ChannelFacts, 'type'>) => THREADS.has(type)
export const isTalk = ({ type }: Pick<ChannelFacts, 'type'>) => TALK.has(type)

export interface ChannelCache {
  /** Throws as the client does; what does not exist, or may not be seen, is a refusal. */
  channel(id: string): Promise<ChannelFacts>
  known(id: string): ChannelFacts | undefined
  learn(channel: unknown, guild?: string): ChannelFacts | null
  forget(channel: string): void
  guild(id: string): Promise<GuildFacts>
  learnGuild(guild: unknown): void
  /** Something about it changed: it is asked anew. */
  forgetGuild(id: string): void
  /** Where a message of this channel belongs. Throws only what passes: it must be asked again then. */
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
    // Where it was told with less than before, what is known stays.
    const whole = before === undefined ? facts : { ...facts, guild: facts.guild ?? before.guild }
    channels.set(facts.id, whole)
    return whole
  }

  const channel: ChannelCache['channel'] = async (id) => {
    const known = channels.get(id)
    if (known !== undefined) return known
    const answer = await client.call('GET', `/channels/${id}`, { repeatable: true })
    // Its id is the one that was asked for, whatever a server of somebody else's writes.
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
      // The gateway tells the server of everything that is in one: what has none is a direct chat.
      if (guild === null && 'guild' in hints) return { conversation: id, chat: 'direct' }
      try {
        const facts = await channel(id)
        return placeOfFacts({ ...facts, guild: facts.guild ?? guild })
      } catch (thrown) {
        // It is gone already, or not for our eyes: it belongs to itself.
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
