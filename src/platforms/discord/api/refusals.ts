// What Discord's error codes mean, and what a person can do about them.
import {
  type ApiError,
  createRefusals,
  type Failure,
  type FailureTable,
  failures,
  isRefusal,
  isStatus,
} from '../../../kit/index.ts'

export { isRefusal, isStatus }

/** The token is no longer accepted. Waiting messages are sent once it is right. */
const TOKEN: Failure = {
  code: 'platform_unavailable',
  meaning: 'Discord does not take the token',
  hint: 'copy the token again at discord.com/developers/applications, Bot, Reset Token',
  retryAfterMs: 30_000,
}
/** A temporary refusal. Nothing was done, and the same request may be repeated. */
const PASSING: Failure = { code: 'platform_unavailable', retryAfterMs: 10_000 }
/** The webhook of an interaction expires after a quarter of an hour. */
const EXPIRED_HOOK = 50027

const FAILURES: FailureTable = {
  40001: TOKEN,
  50014: TOKEN,
  20016: PASSING,
  20028: PASSING,
  40003: PASSING,
  40062: PASSING,
  40333: PASSING,
  130000: PASSING,
  ...failures(
    { code: 'platform_rejected', placeGone: true },
    {
      10003: 'the channel does not exist any more',
      10004: 'the server does not exist, or the bot is no longer in it',
      10013: 'there is no such person',
      50001: 'the bot cannot see this channel: let it in, or give it View Channel there',
      50007: 'this person takes no direct messages from the bot',
      50033: 'there is no such recipient',
      50278: 'the bot shares no server with this person',
    },
  ),
  ...failures(
    { code: 'platform_rejected' },
    {
      10008: 'the message does not exist any more',
      10014: 'Discord does not know this emoji',
      10062: 'the interaction has expired',
      20009: 'the content is not allowed there',
      30007: 'the server has reached its limit of webhooks',
      30010: 'the message has as many reactions as it can have',
      30046: 'the message is too old to be changed so often',
      40005: 'the file is larger than this place takes',
      40060: 'the interaction was answered already',
      40067: 'the forum wants a tag on each post',
      50005: 'the message was written by somebody else',
      50006: 'the message is empty',
      50008: 'nothing can be written in a channel of this kind',
      50013: 'the bot lacks a permission',
      50021: 'nothing can be done to a message of Discord’s own',
      50027: 'the interaction has expired',
      50035: 'Discord does not take the form of the message',
      50045: 'the file is larger than this place takes',
      50083: 'the thread is archived',
      160002: 'to answer a message the bot needs Read Message History there',
      160004: 'the message has a thread already',
      160005: 'the thread is locked',
      200000: 'AutoMod of the server blocked the message',
      200001: 'AutoMod of the server blocked the title',
      240000: 'the message has links that Discord blocks',
    },
  ),
}

const refusal = createRefusals('Discord', FAILURES)

export function refusalOf(
  status: number,
  answer: { readonly code?: unknown; readonly message?: unknown; readonly errors?: unknown },
): ApiError {
  const key = typeof answer.code === 'number' ? answer.code : 0
  const said = typeof answer.message === 'string' ? answer.message.slice(0, 200) : ''
  const isToken = status === 401 && key !== EXPIRED_HOOK
  return refusal({
    key,
    status,
    said,
    label: String(key || status),
    detail: formProblem(answer.errors),
    failure: isToken ? TOKEN : undefined,
  })
}

/** Returns the place of the first fault in the form, from Discord's tree of errors. */
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
