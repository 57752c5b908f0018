// What Discord's error codes mean, and what a person can do about them. The code itself stands first: people search for it.
import { type ErrorDetail, SwitchboardError } from '../../../contract/index.ts'

/** A refusal by Discord, known by the number of its error; 0: it gave none. */
class DiscordRefusal extends SwitchboardError {
  readonly discord: number
  readonly status: number
  constructor(
    code: 'platform_rejected' | 'platform_unavailable',
    discord: number,
    message: string,
    more: { readonly status: number } & Pick<ErrorDetail, 'hint' | 'retryAfterMs' | 'placeGone'>,
  ) {
    super(code, message, more)
    this.discord = discord
    this.status = more.status
  }
}

const MEANING: Readonly<Record<number, string>> = {
  10003: 'the channel does not exist any more',
  10004: 'the server does not exist, or the bot is no longer in it',
  10008: 'the message does not exist any more',
  10013: 'there is no such person',
  10014: 'Discord does not know this emoji',
  10062: 'the interaction has expired',
  20009: 'the content is not allowed there',
  30007: 'the server has reached its limit of webhooks',
  30010: 'the message has as many reactions as it can have',
  30046: 'the message is too old to be changed so often',
  40005: 'the file is larger than this place takes',
  40060: 'the interaction was answered already',
  40067: 'the forum wants a tag on each post',
  50001: 'the bot cannot see this channel: let it in, or give it View Channel there',
  50005: 'the message was written by somebody else',
  50006: 'the message is empty',
  50007: 'this person takes no direct messages from the bot',
  50008: 'nothing can be written in a channel of this kind',
  50013: 'the bot lacks a permission',
  50021: 'nothing can be done to a message of Discord’s own',
  50027: 'the interaction has expired',
  50033: 'there is no such recipient',
  50035: 'Discord does not take the form of the message',
  50045: 'the file is larger than this place takes',
  50083: 'the thread is archived',
  50278: 'the bot shares no server with this person',
  160002: 'to answer a message the bot needs Read Message History there',
  160004: 'the message has a thread already',
  160005: 'the thread is locked',
  200000: 'AutoMod of the server blocked the message',
  200001: 'AutoMod of the server blocked the title',
  240000: 'the message has links that Discord blocks',
}

/** Nothing can be said there any more. */
const GONE: ReadonlySet<number> = new Set([10003, 10004, 10013, 50001, 50007, 50033, 50278])
/** It will pass: nothing was done, and the same can be asked again. */
const PASSING: ReadonlySet<number> = new Set([20016, 20028, 40003, 40062, 40333, 130000])
/** The token counts no more. Nothing is lost for it: what waits goes out once it is right. */
const TOKEN: ReadonlySet<number> = new Set([40001, 50014])
/** Of an interaction, after a quarter of an hour. */
const EXPIRED_HOOK = 50027
const TOKEN_WAIT_MS = 30_000
const PASSING_WAIT_MS = 10_000

export function refusalOf(
  status: number,
  answer: { readonly code?: unknown; readonly message?: unknown; readonly errors?: unknown },
): DiscordRefusal {
  const code = typeof answer.code === 'number' ? answer.code : 0
  if ((status === 401 && code !== EXPIRED_HOOK) || TOKEN.has(code))
    return new DiscordRefusal(
      'platform_unavailable',
      code,
      `${code || 401}: Discord does not take the token`,
      {
        status,
        hint: 'copy the token again at discord.com/developers/applications, Bot, Reset Token',
        retryAfterMs: TOKEN_WAIT_MS,
      },
    )
  const said = typeof answer.message === 'string' ? answer.message.slice(0, 200) : ''
  const told = [MEANING[code] ?? said, formProblem(answer.errors)].filter((part) => part !== '').join('; ')
  const message = `${code || status}: ${told || 'Discord refuses'}`
  return PASSING.has(code)
    ? new DiscordRefusal('platform_unavailable', code, message, { status, retryAfterMs: PASSING_WAIT_MS })
    : new DiscordRefusal('platform_rejected', code, message, {
        status,
        ...(GONE.has(code) ? { placeGone: true } : {}),
      })
}

/** Where in the form the first fault is, from the tree that Discord gives. */
function formProblem(errors: unknown): string {
  let at = errors
  const path: string[] = []
  for (let depth = 0; depth < 12; depth++) {
    if (typeof at !== 'object' || at === null) return ''
    const { _errors } = at as { readonly _errors?: unknown }
    if (Array.isArray(_errors)) {
      const [first] = _errors as readonly { readonly message?: unknown }[]
      return `${path.join('.')}: ${String(first?.message ?? 'refused').slice(0, 200)}`
    }
    const [entry] = Object.entries(at)
    if (entry === undefined) return ''
    path.push(entry[0].slice(0, 60))
    at = entry[1]
  }
  return ''
}

export function isRefusal(thrown: unknown, ...codes: readonly number[]): thrown is DiscordRefusal {
  return thrown instanceof DiscordRefusal && codes.includes(thrown.discord)
}

/** Refused by its status, whatever the code: servers that others wrote give none. */
export function isStatus(thrown: unknown, ...statuses: readonly number[]): thrown is DiscordRefusal {
  return thrown instanceof DiscordRefusal && statuses.includes(thrown.status)
}
