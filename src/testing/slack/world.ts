// The state of the fake Slack: one workspace with people, channels, messages and files. It is plain data and the few
// functions that change it, without HTTP.
import { createHash } from 'node:crypto'

export interface FakeUser {
  readonly id: string
  readonly name: string
  readonly real_name: string
  readonly is_bot: boolean
  readonly team_id: string
  /** True for a person of another workspace (Slack Connect). `users.info` does not return them. */
  readonly hidden?: true
}

export interface FakeChannel {
  readonly id: string
  readonly name: string
  readonly kind: 'im' | 'mpim' | 'channel' | 'group'
  readonly members: Set<string>
  archived: boolean
  /** Whether the channel is shared with another workspace. */
  readonly shared: boolean
}

/** A message as Slack shows it. */
export interface FakeMessage {
  readonly type: 'message'
  readonly ts: string
  readonly user?: string
  text: string
  thread_ts?: string
  blocks?: readonly Record<string, unknown>[]
  metadata?: { readonly event_type: string; readonly event_payload: Record<string, unknown> }
  edited?: { readonly user: string; readonly ts: string }
  files?: readonly Record<string, unknown>[]
  reactions?: { readonly name: string; readonly users: string[] }[]
  [field: string]: unknown
}

/** The input of `put`. The world sets the ts. */
export interface NewMessage {
  readonly text: string
  readonly user: string
  readonly [field: string]: unknown
}

export interface FakeFile {
  readonly id: string
  readonly name: string
  readonly mimetype: string
  bytes: Buffer
  uploaded: boolean
  /** Whether the upload is complete. Before that the file is not available. */
  complete: boolean
  /** The messages that show the file. */
  readonly shares: { readonly channel: string; readonly ts: string; readonly isPublic: boolean }[]
  /** A request for the file is redirected to this URL. */
  redirect?: string
}

export interface Call {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface World {
  readonly team: { readonly id: string; readonly domain: string; readonly name: string }
  readonly appId: string
  readonly bot: FakeUser & { readonly bot_id: string }
  /** Every call of the Web API that a method answered or refused, in order. */
  readonly calls: Call[]
  readonly files: Map<string, FakeFile>
  /** Messages that only one person sees. */
  readonly ephemerals: { readonly channel: string; readonly user: string; readonly text: string }[]
  /** The status lines of threads, newest last. */
  readonly statuses: { readonly channel: string; readonly thread: string; readonly status: string }[]
  readonly titles: Map<string, string>
  readonly prompts: { readonly channel: string; readonly prompts: unknown }[]
  readonly views: Map<string, Record<string, unknown>>
  user(id: string): FakeUser | undefined
  addUser(user: Partial<FakeUser> & { readonly id: string }): FakeUser
  channel(idOrName: string): FakeChannel | undefined
  addChannel(
    channel: Partial<Omit<FakeChannel, 'members'>> & { readonly id: string },
    members?: readonly string[],
  ): FakeChannel
  channels(): readonly FakeChannel[]
  /** Returns the direct chat of a person with the bot. Creates it if needed. */
  direct(user: string): FakeChannel
  /** The messages of a channel, oldest first. */
  messages(channel: string): readonly FakeMessage[]
  find(channel: string, ts: string): FakeMessage | undefined
  put(channel: string, message: NewMessage): FakeMessage
  remove(channel: string, ts: string): void
  addFile(file: { readonly name: string; readonly mimetype?: string; readonly bytes: Buffer }): FakeFile
  /** A unique, growing timestamp of this moment. */
  nextTs(): string
  nextId(prefix: string): string
}

const TEAM_ID = 'T0SWBTEAM'
export const APP_ID = 'A0SWBAPP1'
const BOT_USER_ID = 'U0SWBBOT1'
const BOT_ID = 'B0SWBBOT1'
export const KATE_ID = 'U0KATE001'
export const GENERAL_ID = 'C0GENERAL'

export function createWorld(options: { readonly now: () => number; readonly botName: string }): World {
  const users = new Map<string, FakeUser>()
  const channels = new Map<string, FakeChannel>()
  const messages = new Map<string, FakeMessage[]>()
  const files = new Map<string, FakeFile>()
  let lastMicros = 0
  let counter = 0

  const team = { id: TEAM_ID, domain: 'emulated', name: 'Emulated' }
  const bot = {
    id: BOT_USER_ID,
    bot_id: BOT_ID,
    name: options.botName,
    real_name: options.botName,
    is_bot: true,
    team_id: team.id,
  }

  const nextTs = () => {
    lastMicros = Math.max(lastMicros + 1, Math.floor(options.now()) * 1_000)
    const text = String(lastMicros)
    return `${text.slice(0, -6)}.${text.slice(-6)}`
  }
  const nextId = (prefix: string) => {
    counter += 1
    return `${prefix}${createHash('sha1').update(`${prefix}${counter}`).digest('hex').slice(0, 8).toUpperCase()}`
  }
  const addUser: World['addUser'] = (user) => {
    const known = users.get(user.id)
    if (known) return known
    const name = user.name ?? user.id.toLowerCase()
    const whole = { name, real_name: user.real_name ?? name, is_bot: false, team_id: team.id, ...user }
    users.set(user.id, whole)
    return whole
  }
  const addChannel: World['addChannel'] = (channel, members = [bot.id]) => {
    const known = channels.get(channel.id)
    if (known) {
      for (const member of members) known.members.add(member)
      return known
    }
    const made: FakeChannel = {
      name: channel.id.toLowerCase(),
      kind: 'channel',
      archived: false,
      shared: false,
      ...channel,
      members: new Set(members),
    }
    channels.set(made.id, made)
    messages.set(made.id, [])
    return made
  }

  addUser(bot)
  return {
    team,
    appId: APP_ID,
    bot,
    calls: [],
    files,
    ephemerals: [],
    statuses: [],
    titles: new Map(),
    prompts: [],
    views: new Map(),
    user: (id) => users.get(id),
    addUser,
    channel: (given) =>
      channels.get(given) ??
      [...channels.values()].find(({ name, kind }) => kind !== 'im' && name === given.replace(/^#/, '')),
    addChannel,
    channels: () => [...channels.values()],
    direct: (user) => addChannel({ id: `D${user.slice(1)}`, kind: 'im', name: user }, [bot.id, user]),
    messages: (channel) => messages.get(channel) ?? [],
    find: (channel, ts) => messages.get(channel)?.find((message) => message.ts === ts),
    put(channel, message) {
      const whole: FakeMessage = { ...message, type: 'message', ts: nextTs() }
      messages.get(channel)?.push(whole)
      return whole
    },
    remove(channel, ts) {
      const list = messages.get(channel) ?? []
      const at = list.findIndex((message) => message.ts === ts)
      if (at !== -1) list.splice(at, 1)
    },
    addFile({ name, mimetype = 'application/octet-stream', bytes }) {
      const file: FakeFile = {
        id: nextId('F'),
        name,
        mimetype,
        bytes,
        uploaded: true,
        complete: true,
        shares: [],
      }
      files.set(file.id, file)
      return file
    },
    nextTs,
    nextId,
  }
}

/** The channel as `conversations.info` and lists show it. */
export function channelFacts(channel: FakeChannel): Record<string, unknown> {
  const { id, name, kind, archived, shared, members } = channel
  return {
    id,
    ...(kind === 'im'
      ? { user: [...members].find((member) => member !== BOT_USER_ID) }
      : { name, name_normalized: name }),
    is_channel: kind === 'channel',
    is_group: kind === 'group',
    is_im: kind === 'im',
    is_mpim: kind === 'mpim',
    is_private: kind !== 'channel',
    is_archived: archived,
    is_member: members.has(BOT_USER_ID),
    is_shared: shared,
    is_ext_shared: shared,
    num_members: members.size,
  }
}

/** The fields of a file in a message. */
export function fileFacts(file: FakeFile, base: string, user: string): Record<string, unknown> {
  const type = file.name.split('.').at(-1) ?? 'text'
  return {
    id: file.id,
    name: file.name,
    title: file.name,
    mimetype: file.mimetype,
    filetype: type,
    pretty_type: type,
    user,
    size: file.bytes.length,
    mode: 'hosted',
    is_external: false,
    is_public: false,
    url_private: `${base}/files-pri/${TEAM_ID}-${file.id}/${encodeURIComponent(file.name)}`,
    url_private_download: `${base}/files-pri/${TEAM_ID}-${file.id}/download/${encodeURIComponent(file.name)}`,
    permalink: `${base}/files/${user}/${file.id}/${encodeURIComponent(file.name)}`,
  }
}

/** The messages with this file, in the form of `files.info`. */
export function sharesOf({ shares }: FakeFile): Record<string, Record<string, { readonly ts: string }[]>> {
  const told: Record<string, Record<string, { readonly ts: string }[]>> = {}
  for (const { channel, ts, isPublic } of shares) {
    told[isPublic ? 'public' : 'private'] ??= {}
    const places = told[isPublic ? 'public' : 'private'] ?? {}
    places[channel] = [...(places[channel] ?? []), { ts }]
  }
  return told
}
