// `channel_send` of the library: the seed's rules and words. Only conversations that spoke can be written to.
import {
  type ChannelServers,
  createBoundedMap,
  defined,
  type ServerTool,
  type ServerToolResult,
  SwitchboardError,
} from '../contract/index.ts'
import { destinationsIn } from '../platforms/mcp/destinations.ts'
import { outboundArguments } from '../platforms/mcp/outbound-arguments.ts'
import { type ChannelPlace, placeOf } from '../platforms/mcp/thread.ts'
import type { HostedAgent, Registrations } from './registrations.ts'
import type { SendOrder, SendResult } from './types.ts'

const MAX_CONTENT_BYTES = 65_536
const CALL_TIMEOUT_MS = 30_000
const MOST_PLACES = 10_000

/** The conversations and threads that spoke through a server to an agent, in this process. */
export interface Spoken {
  note(agent: string, server: string, meta: Readonly<Record<string, string>>): void
  /** Whether the server has shown only this place, to any agent. */
  isOnly(server: string, place: ChannelPlace): boolean
  /** `place`: a conversation or thread as `placeOf` names it. */
  knows(agent: string, server: string, place: string): boolean
}

export function createSpoken(): Spoken {
  // The longest silent place is dropped first.
  const places = createBoundedMap<string, true>(MOST_PLACES)
  // Up to two places of each server, because one and several are all that matters.
  const shown = new Map<string, readonly string[]>()
  const named = (...parts: readonly string[]) => JSON.stringify(parts)
  const whole = ({ conversation, thread = '' }: ChannelPlace) => named(conversation, thread)
  return {
    note(agent, server, meta) {
      const { conversation, thread } = placeOf(meta)
      const known = shown.get(server) ?? []
      const place = whole({ conversation, ...defined({ thread }) })
      if (known.length < 2 && !known.includes(place)) shown.set(server, [...known, place])
      for (const place of [conversation, ...(thread === undefined ? [] : [thread])])
        places.set(named(agent, server, place), true)
    },
    isOnly: (server, place) => shown.get(server)?.length === 1 && shown.get(server)?.[0] === whole(place),
    knows: (agent, server, place) => places.has(named(agent, server, place)),
  }
}

export interface SendDeps {
  readonly pool: ChannelServers
  readonly registrations: Registrations
  readonly spoken: Spoken
}

interface ReplyOrder {
  readonly agent: string
  readonly server: string
  readonly place: ChannelPlace
  readonly text: string
}

/** Throws `input_invalid` or `forbidden` before anything is sent, and `outcome_unknown` when it may have arrived. */
export async function sendThrough(order: SendOrder, deps: SendDeps): Promise<SendResult> {
  const agent = deps.registrations.agent(order.agent)
  const server = typeof order.server === 'string' ? order.server.trim() : ''
  if (server === '') throw invalid("channel_send: 'server' must be a non-empty string")
  const tool = registered(server, agent, deps)
  const input = inputOf(order)
  for (const { value, places } of destinationsIn(input)) {
    const listed = [`${server}:${value}`, `${server}:*`, '*'].some((entry) =>
      agent.messagingAllow.includes(entry),
    )
    if (listed || places.some((place) => deps.spoken.knows(agent.id, server, place))) continue
    throw new SwitchboardError(
      'forbidden',
      `channel_send: '${value.slice(0, 80)}' never spoke through server '${server}'`,
      {
        hint: `it has to have spoken first, or be listed under ${agent.origin}.messaging.allow`,
      },
    )
  }
  return call(server, { agent, tool }, deps, () => input)
}

/**
 * Sends to the place that spoke, named as in the gateway: by `outbound_arguments`, else by the tool's own schema.
 * Throws `platform_rejected` if no argument can name the place and the server has shown others.
 */
export async function replyThrough(
  { agent, server, place, text }: ReplyOrder,
  deps: SendDeps,
): Promise<SendResult> {
  const now = deps.registrations.agent(agent)
  const tool = registered(server, now, deps)
  checkLength(text)
  const approved = now.channels?.approved.find((one) => one.server === server)
  const isOnly = approved?.singleConversation ?? deps.spoken.isOnly(server, place)
  const mapped = approved?.outboundArguments ?? null
  return call(server, { agent: now, tool }, deps, (offered) =>
    outboundArguments({ text, place }, offered, mapped, isOnly ? 'omit' : 'refuse'),
  )
}

/** Returns the name of the outbound tool. Throws if the server does not pass the gates now. */
function registered(server: string, agent: HostedAgent, { registrations }: SendDeps): string {
  const { registration } = registrations.standing(server, agent)
  if (registration !== null) return registration.outboundToolName
  throw invalid(
    `channel_send: server '${server}' is not registered for binding '${registrations.bindingOf(agent)}' (run channel_list to see what's available)`,
  )
}

async function call(
  server: string,
  { agent, tool }: { readonly agent: HostedAgent; readonly tool: string },
  deps: SendDeps,
  input: (offered: ServerTool) => Readonly<Record<string, unknown>>,
): Promise<SendResult> {
  const live = deps.pool.get(server)
  const tools = (await live?.tools()) ?? []
  const offered = tools.find(({ name }) => name === tool)
  if (offered === undefined) {
    const names = tools.map(({ name }) => name)
    throw new SwitchboardError(
      'platform_rejected',
      `server ${server} has no tool "${tool}" (outbound_tool_name); it offers: ${names.slice(0, 50).join(', ').slice(0, 500) || 'none'}`,
    )
  }
  // While its tools were listed, a gate may have closed, or another server may have taken its place.
  if (registered(server, deps.registrations.agent(agent.id), deps) !== tool || deps.pool.get(server) !== live)
    throw new SwitchboardError('platform_unavailable', `server ${server} was replaced`)
  const result = await live?.call(tool, input(offered), { timeoutMs: CALL_TIMEOUT_MS })
  return shown(server, tool, result as ServerToolResult)
}

function inputOf({ content, arguments: given }: SendOrder): Readonly<Record<string, unknown>> {
  if (given !== undefined && given !== null && (typeof given !== 'object' || Array.isArray(given)))
    throw invalid("channel_send: 'arguments' must be an object")
  if (content !== undefined && typeof content !== 'string')
    throw invalid("channel_send: 'content' must be a string")
  checkLength(content ?? '')
  const filled = given ?? {}
  return content === undefined || 'text' in filled || 'content' in filled
    ? filled
    : { ...filled, text: content }
}

function checkLength(content: string): void {
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES)
    throw invalid(`channel_send: 'content' exceeds ${MAX_CONTENT_BYTES} bytes`)
}

function shown(server: string, tool: string, result: ServerToolResult): SendResult {
  return {
    server,
    tool_name: tool,
    is_error: result.isError,
    content: result.content,
    structured_content: result.structured,
  }
}

function invalid(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}
