// The fake Web API: finds the method and checks its scopes and rate limits.
import { AGENT_METHODS } from './agent-methods.ts'
import { CHAT_METHODS } from './chat-methods.ts'
import { type Answer, fail, type Method, type MethodContext } from './method.ts'
import { OTHER_METHODS } from './other-methods.ts'
import { READING_METHODS } from './reading-methods.ts'

const METHODS: Readonly<Record<string, Method>> = {
  ...READING_METHODS,
  ...CHAT_METHODS,
  ...OTHER_METHODS,
  ...AGENT_METHODS,
}

/** Runs a method. Returns the refusal if the token lacks a scope, or the answer of the method. */
export function runMethod(name: string, context: MethodContext): Answer {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (method === undefined) return fail('unknown_method', { req_method: name })
  const { scopes = [], run } = method
  if (scopes.length > 0 && !scopes.some((scope) => context.scopes.has(scope)))
    return fail('missing_scope', { needed: scopes[0], provided: [...context.scopes].join(',') })
  return run(context)
}

/** Requests per minute in Slack's tiers. Posting has its own rule. */
const TIERS = { two: 20, three: 50, four: 100 } as const
const TIER_OF: Readonly<Record<string, keyof typeof TIERS>> = {
  'chat.update': 'three',
  'chat.delete': 'three',
  'conversations.history': 'three',
  'conversations.replies': 'three',
  'conversations.open': 'three',
  'conversations.info': 'three',
  'reactions.add': 'three',
  'reactions.remove': 'two',
  'chat.startStream': 'two',
  'chat.stopStream': 'two',
  'chat.appendStream': 'four',
  'chat.postEphemeral': 'four',
  'users.info': 'four',
}
const POST_BURST = 5
const POST_EVERY_MS = 1_000

/** Returns the seconds to wait for a call over the limit, or null. */
export function createTiers(now: () => number): (method: string, channel: string) => number | null {
  const calls = new Map<string, number[]>()
  const recent = (key: string, withinMs: number) => {
    const kept = (calls.get(key) ?? []).filter((at) => at > now() - withinMs)
    calls.set(key, kept)
    return kept
  }
  return (method, channel) => {
    const posting = method === 'chat.postMessage'
    const tier = TIER_OF[method]
    if (!posting && tier === undefined) return null
    const [key, withinMs, most] = posting
      ? [`${method} ${channel}`, POST_BURST * POST_EVERY_MS, POST_BURST]
      : [method, 60_000, TIERS[tier ?? 'four']]
    const times = recent(key, withinMs)
    const first = times[0]
    if (first !== undefined && times.length >= most) return Math.ceil((first + withinMs - now()) / 1_000)
    times.push(now())
    return null
  }
}
