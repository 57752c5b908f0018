// The meaning of a closed gateway connection: resume the session, begin a new one, or stop and report what must be
// fixed.

export type Next = 'resume' | 'identify' | 'refused'

/** Outside of the standard codes, so that Discord keeps the session: 1000 and 1001 would end it. */
export const LEAVING = 4_000

export interface Ending {
  readonly next: Next
  /** For people. */
  readonly why: string
  /** The least delay. */
  readonly delayMs?: number
  /** Discord was not reached, which says nothing about the session. */
  readonly offline?: true
}

const PORTAL = 'discord.com/developers/applications, Bot'

const REFUSED: Readonly<Record<number, string>> = {
  4004: `4004: Discord does not take the token; copy it again at ${PORTAL}, Reset Token`,
  4010: '4010: Discord does not take the shard',
  4011: '4011: the bot is in too many servers for one connection; it is started with more of them',
  4012: '4012: Discord no longer speaks this version of its gateway; a newer Switchboard is needed',
  4013: '4013: Discord does not know an intent that was asked for',
  4014: `4014: the Message Content intent is not switched on; switch it on at ${PORTAL}, Privileged Gateway Intents, or write message_content: false`,
}
const NEW_SESSION: ReadonlySet<number> = new Set([1000, 1001, 4003, 4005, 4007, 4009])

export function endingOf(code: number): Ending {
  const refused = REFUSED[code]
  if (refused !== undefined) return { next: 'refused', why: refused }
  // A resume would bring the same large frame again.
  if (code === 1009) return { next: 'identify', why: '1009: a frame was too large' }
  if (NEW_SESSION.has(code)) return { next: 'identify', why: `Discord closed the connection with ${code}` }
  if (code === 4008) return { next: 'resume', why: '4008: Discord asks to send less', delayMs: 5_000 }
  return { next: 'resume', why: `Discord closed the connection with ${code}` }
}
