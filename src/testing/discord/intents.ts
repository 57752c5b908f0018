// Decides by the intents of a session which events it receives, and how much of a message.

export interface Scope {
  /** Absent for a direct chat. */
  readonly guild?: string
}

const GUILDS = 1 << 0
const BITS: Readonly<Record<string, { readonly guild: number; readonly direct: number }>> = {
  MESSAGE_CREATE: { guild: 1 << 9, direct: 1 << 12 },
  MESSAGE_UPDATE: { guild: 1 << 9, direct: 1 << 12 },
  MESSAGE_DELETE: { guild: 1 << 9, direct: 1 << 12 },
  MESSAGE_DELETE_BULK: { guild: 1 << 9, direct: 1 << 12 },
  MESSAGE_REACTION_ADD: { guild: 1 << 10, direct: 1 << 13 },
}
const CONTENT = 1 << 15

export function wantsEvent(
  type: string,
  { guild }: Scope,
  session: { readonly intents: number; readonly shard: readonly [number, number] },
): boolean {
  const [shard, of] = session.shard
  const home = guild === undefined ? 0 : Number(BigInt(guild) >> 22n) % of
  if (home !== shard) return false
  // Interactions need no intent.
  if (type === 'INTERACTION_CREATE') return true
  const bits = BITS[type]
  const needed = bits === undefined ? GUILDS : guild === undefined ? bits.direct : bits.guild
  return (session.intents & needed) !== 0
}

/** Removes the content if the intent is off. Direct chats, the bot's own messages and mentions keep theirs. */
export function blanked(
  data: Readonly<Record<string, unknown>>,
  { guild }: Scope,
  intents: number,
  botId: string,
): Readonly<Record<string, unknown>> {
  if (guild === undefined || (intents & CONTENT) !== 0 || typeof data.content !== 'string') return data
  return blankedMessage(data, botId)
}

export function blankedMessage(
  data: Readonly<Record<string, unknown>>,
  botId: string,
): Readonly<Record<string, unknown>> {
  const author = data.author as { readonly id?: unknown } | undefined
  const mentions = Array.isArray(data.mentions) ? (data.mentions as readonly { readonly id?: unknown }[]) : []
  if (author?.id === botId || mentions.some(({ id }) => id === botId)) return data
  const { poll: _, ...rest } = data
  return { ...rest, content: '', embeds: [], attachments: [], components: [] }
}
