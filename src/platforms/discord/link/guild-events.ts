// Reads servers, channels and threads from gateway events, for the channel cache.
import { isSnowflake } from '../api/snowflakes.ts'

export interface GuildNews {
  readonly channels: readonly { readonly facts: unknown; readonly guild?: string }[]
  /** Deleted channels. */
  readonly gone: readonly string[]
  /** A server with its channels. */
  readonly guild: unknown
  /** The server whose roles or permissions may have changed. */
  readonly changed: string | null
  /** The server that the bot left. */
  readonly left: string | null
}

const NOTHING: GuildNews = { channels: [], gone: [], guild: null, changed: null, left: null }
const CHANNELS: ReadonlySet<string> = new Set([
  'CHANNEL_CREATE',
  'CHANNEL_UPDATE',
  'THREAD_CREATE',
  'THREAD_UPDATE',
])
const CHANGES: ReadonlySet<string> = new Set([
  'GUILD_UPDATE',
  'GUILD_ROLE_CREATE',
  'GUILD_ROLE_UPDATE',
  'GUILD_ROLE_DELETE',
  'GUILD_MEMBER_UPDATE',
])

/** Null: the event says none of this. */
export function guildNews(type: string, data: unknown): GuildNews | null {
  const { id, guild_id, threads, unavailable } = (data ?? {}) as Readonly<Record<string, unknown>>
  const guild = isSnowflake(guild_id) ? { guild: guild_id } : {}
  if (CHANNELS.has(type)) return { ...NOTHING, channels: [{ facts: data, ...guild }] }
  if (type === 'THREAD_LIST_SYNC')
    return {
      ...NOTHING,
      channels: (Array.isArray(threads) ? threads : []).map((facts) => ({ facts, ...guild })),
    }
  if (type === 'CHANNEL_DELETE' || type === 'THREAD_DELETE')
    return { ...NOTHING, gone: isSnowflake(id) ? [id] : [] }
  if (type === 'GUILD_CREATE') return { ...NOTHING, guild: data, changed: isSnowflake(id) ? id : null }
  // An outage of Discord looks the same, and says so.
  if (type === 'GUILD_DELETE' && isSnowflake(id))
    return { ...NOTHING, changed: id, left: unavailable === true ? null : id }
  if (CHANGES.has(type)) {
    const changed = type === 'GUILD_UPDATE' ? id : guild_id
    return { ...NOTHING, changed: isSnowflake(changed) ? changed : null }
  }
  return null
}
