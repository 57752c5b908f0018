// Discord's permissions: those that the bot uses, what fails without each, and which ones the bot has in a channel.
import type { Options } from '../../../contract/index.ts'

export interface Permission {
  readonly bit: bigint
  /** Its name in Discord's settings. */
  readonly name: string
  /** What does not work without it, for people. */
  readonly without: string
  readonly when?: (options: Options) => boolean
}

const of = (bit: bigint, name: string, without: string): Permission => ({ bit: 1n << bit, name, without })

const ADMINISTRATOR = 1n << 3n
export const VIEW_CHANNEL = of(10n, 'View Channels', 'channels are not heard')
export const SEND_MESSAGES = of(11n, 'Send Messages', 'nothing can be said in channels')
export const ADD_REACTIONS = of(6n, 'Add Reactions', 'the acknowledging reaction cannot be set')
const EMBED_LINKS = of(14n, 'Embed Links', 'how urgent a message is cannot be shown')
export const ATTACH_FILES = of(15n, 'Attach Files', 'files cannot be sent, nor long questions shown whole')
export const READ_HISTORY = of(16n, 'Read Message History', 'missed messages are not found')
export const CREATE_THREADS = of(35n, 'Create Public Threads', 'no threads can be made for answers')
export const SEND_IN_THREADS = of(38n, 'Send Messages in Threads', 'nothing can be said in threads')

/** The permissions in the invitation: exactly these. */
export const PERMISSIONS: readonly Permission[] = [
  ADD_REACTIONS,
  VIEW_CHANNEL,
  SEND_MESSAGES,
  EMBED_LINKS,
  ATTACH_FILES,
  READ_HISTORY,
  CREATE_THREADS,
  SEND_IN_THREADS,
]

export const INVITE_BITS: bigint = PERMISSIONS.reduce((sum, { bit }) => sum | bit, 0n)

export function inviteUrl(appId: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${appId}&scope=bot+applications.commands&permissions=${INVITE_BITS}`
}

export interface Overwrite {
  readonly id: string
  readonly allow: bigint
  readonly deny: bigint
}

export interface GuildRights {
  readonly guildId: string
  readonly ownerId: string | null
  /** Bits of each role. The server's own id is the role of everybody. */
  readonly roles: ReadonlyMap<string, bigint>
  readonly myRoles: ReadonlySet<string>
}

/** Returns what a member with these roles may do in a channel with these overwrites. */
export function permissionsIn(guild: GuildRights, userId: string, overwrites: readonly Overwrite[]): bigint {
  const all = ~0n
  if (guild.ownerId === userId) return all
  let bits = guild.roles.get(guild.guildId) ?? 0n
  for (const role of guild.myRoles) bits |= guild.roles.get(role) ?? 0n
  if ((bits & ADMINISTRATOR) !== 0n) return all
  const everybody = overwrites.filter(({ id }) => id === guild.guildId)
  const ofRoles = overwrites.filter(({ id }) => id !== guild.guildId && guild.myRoles.has(id))
  const own = overwrites.filter(({ id }) => id === userId)
  for (const group of [everybody, ofRoles, own]) {
    for (const { deny } of group) bits &= ~deny
    for (const { allow } of group) bits |= allow
  }
  return bits
}

/** Reads bits in Discord's notation; 0 for anything else. */
export function bitsOf(value: unknown): bigint {
  return typeof value === 'string' && /^\d{1,40}$/.test(value) ? BigInt(value) : 0n
}
