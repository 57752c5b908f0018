// The state of the fake Discord: one server and direct chats, with people, channels, threads and messages. It is plain
// data and the few functions that change it, without HTTP.

export interface FakeUser {
  readonly id: string
  readonly username: string
  readonly global_name: string | null
  readonly bot?: true
}

export interface FakeRole {
  readonly id: string
  readonly name: string
  permissions: string
}

export interface FakeGuild {
  readonly id: string
  readonly name: string
  readonly owner_id: string
  readonly roles: FakeRole[]
  /** The roles of each member, by user id. */
  readonly members: Map<string, readonly string[]>
  readonly nicks: Map<string, string>
  premium_tier: number
}

export interface FakeChannel {
  readonly id: string
  readonly type: number
  readonly guild_id?: string
  name: string
  readonly parent_id: string | null
  /** The person of a direct chat. */
  readonly recipient?: string
  last_message_id: string | null
  permission_overwrites: { id: string; type: number; allow: string; deny: string }[]
  thread_metadata?: { archived: boolean; locked: boolean; auto_archive_duration: number }
  readonly owner_id?: string
}

/** A message as Discord shows it. */
export interface FakeMessage {
  readonly id: string
  readonly channel_id: string
  readonly author: FakeUser
  readonly timestamp: string
  type: number
  content: string
  edited_timestamp: string | null
  mentions: readonly FakeUser[]
  mention_roles: readonly string[]
  attachments: readonly Record<string, unknown>[]
  embeds: readonly Record<string, unknown>[]
  components: readonly Record<string, unknown>[]
  reactions?: { readonly emoji: string; readonly users: string[] }[]
  [field: string]: unknown
}

export interface Call {
  readonly name: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly status: number
}

export interface World {
  readonly bot: FakeUser
  readonly appId: string
  readonly guild: FakeGuild
  /** Every call of the API with its answer, in order. */
  readonly calls: Call[]
  readonly files: Map<string, { readonly name: string; readonly mime: string; readonly bytes: Buffer }>
  /** Messages that only one person sees. */
  readonly ephemerals: { readonly channel: string; readonly user: string; readonly text: string }[]
  /** The mentions with which messages of the bot pinged people. */
  readonly pinged: string[]
  readonly commands: Map<string, Record<string, unknown>>
  /** People who accept no direct messages from the bot. */
  readonly closed: Set<string>
  /** Whether the bot was removed from the server. */
  kicked: boolean
  user(id: string): FakeUser | undefined
  addUser(user: Partial<FakeUser> & { readonly id: string }): FakeUser
  channel(id: string): FakeChannel | undefined
  channels(): readonly FakeChannel[]
  addChannel(channel: Partial<FakeChannel> & { readonly id: string; readonly type: number }): FakeChannel
  removeChannel(id: string): void
  /** Returns the direct chat of a person with the bot. Creates it if needed. */
  direct(user: string): FakeChannel
  /** The messages of a channel, oldest first. */
  messages(channel: string): readonly FakeMessage[]
  find(channel: string, id: string): FakeMessage | undefined
  put(channel: string, message: NewMessage): FakeMessage
  remove(channel: string, id: string): void
  /** The permissions of the bot in a channel, as bits. */
  rights(channel: FakeChannel): bigint
  nextId(): string
}

export type NewMessage = Partial<Omit<FakeMessage, 'author'>> & {
  readonly author: FakeUser
  readonly content: string
}

const EPOCH_MS = 1_420_070_400_000
const BOT_ID = '900000000000000001'
export const APP_ID = '900000000000000001'
export const GUILD_ID = '910000000000000001'
export const GENERAL_ID = '920000000000000001'
export const FORUM_ID = '920000000000000002'
const VOICE_ID = '920000000000000003'
export const KATE_ID = '930000000000000001'
const OWNER_ID = '930000000000000009'
const BOT_ROLE_ID = '940000000000000001'
/** The permissions of the default invitation: the eight that the adapter asks for. */
const INVITED = 309_237_763_136n
const VIEW = 1n << 10n

export function createWorld(options: { readonly now: () => number; readonly botName: string }): World {
  const users = new Map<string, FakeUser>()
  const channels = new Map<string, FakeChannel>()
  const messages = new Map<string, FakeMessage[]>()
  let lastId = 0n

  const nextId = () => {
    const at = BigInt(Math.max(0, Math.floor(options.now()) - EPOCH_MS)) << 22n
    lastId = at > lastId ? at : lastId + 1n
    return String(lastId)
  }
  const addUser: World['addUser'] = (user) => {
    const known = users.get(user.id)
    if (known) return known
    const username = user.username ?? `user${user.id.slice(-4)}`
    const whole: FakeUser = { global_name: null, ...user, username }
    users.set(user.id, whole)
    return whole
  }
  const addChannel: World['addChannel'] = (channel) => {
    const known = channels.get(channel.id)
    if (known) return known
    const made: FakeChannel = {
      name: `channel-${channel.id.slice(-4)}`,
      parent_id: null,
      last_message_id: null,
      permission_overwrites: [],
      ...(channel.type === 1 ? {} : { guild_id: GUILD_ID }),
      ...channel,
    }
    channels.set(made.id, made)
    messages.set(made.id, [])
    return made
  }

  const bot: FakeUser = { id: BOT_ID, username: options.botName, global_name: null, bot: true }
  addUser(bot)
  const guild: FakeGuild = {
    id: GUILD_ID,
    name: 'Emulated',
    owner_id: OWNER_ID,
    roles: [
      { id: GUILD_ID, name: '@everyone', permissions: '0' },
      { id: BOT_ROLE_ID, name: options.botName, permissions: String(INVITED) },
    ],
    members: new Map([[BOT_ID, [BOT_ROLE_ID]]]),
    nicks: new Map(),
    premium_tier: 0,
  }
  addChannel({ id: GENERAL_ID, type: 0, name: 'general' })
  addChannel({ id: FORUM_ID, type: 15, name: 'forum' })
  addChannel({ id: VOICE_ID, type: 2, name: 'voice' })
  let directs = 0

  const rights: World['rights'] = (channel) => {
    if (channel.type === 1) return ~0n
    if (world.kicked) return 0n
    const holder = channel.thread_metadata ? (channels.get(channel.parent_id ?? '') ?? channel) : channel
    const mine = guild.members.get(BOT_ID) ?? []
    let bits = 0n
    for (const role of guild.roles)
      if (role.id === guild.id || mine.includes(role.id)) bits |= BigInt(role.permissions)
    for (const who of [[guild.id], mine, [BOT_ID]])
      for (const one of holder.permission_overwrites.filter(({ id }) => who.includes(id)))
        bits = (bits & ~BigInt(one.deny)) | BigInt(one.allow)
    // Without the right to view a channel, all other rights are void.
    return (bits & VIEW) === 0n ? 0n : bits
  }

  const world: World = {
    bot,
    appId: APP_ID,
    guild,
    calls: [],
    files: new Map(),
    ephemerals: [],
    pinged: [],
    commands: new Map(),
    closed: new Set(),
    kicked: false,
    user: (id) => users.get(id),
    addUser,
    channel: (id) => channels.get(id),
    channels: () => [...channels.values()],
    addChannel,
    removeChannel(id) {
      channels.delete(id)
      messages.delete(id)
    },
    direct(user) {
      const known = [...channels.values()].find(({ recipient }) => recipient === user)
      if (known) return known
      directs += 1
      const id = `95000000000000${String(directs).padStart(4, '0')}`
      return addChannel({ id, type: 1, name: user, recipient: user })
    },
    messages: (channel) => messages.get(channel) ?? [],
    find: (channel, id) => messages.get(channel)?.find((message) => message.id === id),
    put(channel, message) {
      const whole: FakeMessage = {
        type: 0,
        edited_timestamp: null,
        mentions: mentionsIn(message.content, users),
        mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id = '']) => id),
        mention_everyone: false,
        attachments: [],
        embeds: [],
        components: [],
        pinned: false,
        tts: false,
        flags: 0,
        timestamp: new Date(options.now()).toISOString(),
        ...message,
        id: typeof message.id === 'string' ? message.id : nextId(),
        channel_id: channel,
      }
      messages.get(channel)?.push(whole)
      const place = channels.get(channel)
      if (place) place.last_message_id = whole.id
      return whole
    },
    remove(channel, id) {
      const list = messages.get(channel) ?? []
      const at = list.findIndex((message) => message.id === id)
      if (at !== -1) list.splice(at, 1)
    },
    rights,
    nextId,
  }
  return world
}

function mentionsIn(content: string, users: ReadonlyMap<string, FakeUser>): readonly FakeUser[] {
  const ids = new Set([...content.matchAll(/<@!?(\d+)>/g)].map(([, id = '']) => id))
  return [...ids].flatMap((id) => users.get(id) ?? [])
}

export function isThreadChannel({ type }: Pick<FakeChannel, 'type'>): boolean {
  return type === 10 || type === 11 || type === 12
}

/** The channel as GET /channels/{id} and the gateway show it. */
export function channelFacts(channel: FakeChannel, world: World): Record<string, unknown> {
  const { recipient, ...facts } = channel
  if (channel.type !== 1) return { ...facts, position: 0, nsfw: false, flags: 0 }
  const { id, type, last_message_id } = channel
  return { id, type, last_message_id, flags: 0, recipients: [world.user(recipient ?? '')] }
}

export function guildFacts({ members: _, nicks: __, ...guild }: FakeGuild): Record<string, unknown> {
  return { ...guild, features: [], preferred_locale: 'en-US' }
}

/** The server member of a user, as a gateway message carries it. */
export function memberFacts(guild: FakeGuild, user: string): Record<string, unknown> {
  return {
    nick: guild.nicks.get(user) ?? null,
    roles: guild.members.get(user) ?? [],
    joined_at: '2024-01-01T00:00:00.000000+00:00',
    deaf: false,
    mute: false,
  }
}

/** The server as a session receives it at its start. */
export function wholeGuild(world: World): Readonly<Record<string, unknown>> {
  const all = world.channels().filter(({ guild_id }) => guild_id !== undefined)
  return {
    ...guildFacts(world.guild),
    member_count: world.guild.members.size,
    large: false,
    channels: all.filter((one) => !isThreadChannel(one)).map((one) => channelFacts(one, world)),
    threads: all
      .filter((one) => isThreadChannel(one) && one.thread_metadata?.archived !== true)
      .map((one) => channelFacts(one, world)),
    members: [{ user: world.bot, ...memberFacts(world.guild, world.bot.id) }],
    presences: [],
    voice_states: [],
  }
}
