// channel_list, channel_send and channel_status: the channel servers of an agent as its tools see them. A send goes
// through the outlet. Its target must have written through that server, or be on the allowlist.
import {
  type Address,
  address,
  type ChannelRegistration,
  type ChannelView,
  type Destination,
  everyRow,
  type SendResult,
  type ServerToolResult,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
  withoutNulls,
} from '../../contract/index.ts'
import type { Links } from '../links.ts'
import type { Outlet } from '../outbound/outlet.ts'
import { sentText } from '../outbound/send-result.ts'
import { type Admission, admissionOf } from '../people/channel-admission.ts'
import { allowedTargets, denial, isAllowedTarget } from '../people/targets.ts'
import { toolOutcome } from './tool-outcome.ts'

type ChannelTools = Pick<ToolActions, 'channelList' | 'channelSend' | 'channelStatus'>

export interface ChannelToolsDeps {
  readonly store: StoreBesideOutlet
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Outlet
}

interface Registered {
  readonly integration: string
  readonly view: ChannelView
  readonly registration: ChannelRegistration
}

const MAX_CONTENT_BYTES = 65_536

export function createChannelTools(deps: ChannelToolsDeps): ChannelTools {
  const { store, settings, links } = deps

  const registered = (agent: string, { servers }: Admission): readonly Registered[] =>
    links.all().flatMap(({ integration, adapter: { channel: view } }) => {
      if (view?.agent !== agent || servers?.includes(view.server) === false) return []
      const registration = view.registration()
      return registration ? [{ integration, view, registration }] : []
    })

  /** The conversation that the arguments name. Throws a denial for one that neither wrote before nor is allowed. */
  const destination = async (caller: ToolCaller, { integration, view }: Registered, input: Input) => {
    const entries = allowedTargets(settings(), caller.agent)
    const named = view.destinations(input)
    const allowed: { platform: string; target: string }[] = []
    let to: Address | null = null
    for (const one of named) {
      // A thread belongs to its chat. If the chat is named, only the chat counts.
      if (one.of === 'thread' && named.some(({ of }) => of === 'conversation')) continue
      const known = await spoke(integration, caller.agent, one)
      if (!known) {
        if (!isAllowedTarget(entries, view.server, one.value)) throw denial(entries, view.server, one.value)
        allowed.push({ platform: view.server, target: one.value })
      }
      to ??= known ?? address(integration, one.places[0] ?? view.wholeServer)
    }
    return { to: to ?? address(integration, view.wholeServer), allowed }
  }

  const spoke = async (integration: string, agent: string, one: Destination): Promise<Address | null> => {
    // A thread without a chat is itself a conversation.
    for (const conversation of one.places) {
      const said = await store.transcript(integration, { conversation, direction: 'in', limit: 1 })
      if (said.some((entry) => entry.state !== 'refused')) return address(integration, conversation)
    }
    if (one.of !== 'thread') return null
    for (const thread of one.places) {
      for await (const turn of everyRow((page) => store.turns({ integration, agent, thread, ...page })))
        if (turn.state !== 'refused') return address(integration, turn.conversation, thread)
    }
    return null
  }

  return {
    channelList: (caller) =>
      toolOutcome(async () => {
        const binding = await admissionOf(caller, deps)
        const servers = registered(caller.agent, binding).map(({ registration }) => ({
          server_name: registration.server,
          plugin_source: registration.stamp.source,
          permission_relay: registration.permissionRelay,
        }))
        return shown({ binding_id: binding.id, count: servers.length, servers })
      }),

    channelStatus: (caller, { server }) =>
      toolOutcome(async () => {
        const binding = await admissionOf(caller, deps)
        const rows = registered(caller.agent, binding).map(({ registration }) =>
          statusRow(binding.id, registration),
        )
        if (server === undefined) return shown({ binding_id: binding.id, count: rows.length, servers: rows })
        const name = server.trim()
        if (name === '') throw wrong("channel_status: 'server' must be non-empty")
        const row = rows.find((one) => one.server_name === name)
        return shown(row ?? { binding_id: binding.id, server_name: name, registered: false })
      }),

    channelSend: (caller, { server, content, arguments: given = {} }) =>
      toolOutcome(async () => {
        const name = server.trim()
        if (name === '') throw wrong("channel_send: 'server' must be a non-empty string")
        if (content !== undefined && Buffer.byteLength(content) > MAX_CONTENT_BYTES)
          throw wrong(`channel_send: 'content' exceeds ${MAX_CONTENT_BYTES} bytes`)
        const input = inputOf(content, given)
        const { maxBodyBytes } = settings().tunables
        if (Buffer.byteLength(JSON.stringify(input)) > maxBodyBytes)
          throw wrong(`channel_send: 'arguments' exceeds ${maxBodyBytes} bytes`)
        const binding = await admissionOf(caller, deps)
        const found = registered(caller.agent, binding).find((one) => one.view.server === name)
        if (!found)
          throw wrong(
            `channel_send: server '${name}' is not registered for binding '${binding.id}' (run channel_list to see what's available)`,
          )
        const { to, allowed } = await destination(caller, found, input)
        const tool = found.registration.outboundToolName
        const text = typeof input.text === 'string' ? input.text : (content ?? JSON.stringify(input))
        const { platform } = deps.outlet.running(to.integration)
        const send = {
          to,
          platform,
          op: { kind: 'call' as const, tool, input, text, ...(allowed.length === 0 ? {} : { allowed }) },
          cause: 'channel_send' as const,
          agent: caller.agent,
          session: caller.session,
          turn: caller.turn,
          ...withoutNulls({ idempotencyKey: caller.idempotencyKey }),
        }
        const { result } = await deps.outlet.post([send])
        const answer = result.outbox_id === null ? null : found.view.answered(result.outbox_id)
        return answered(name, tool, result, answer)
      }),
  }
}

type Input = Readonly<Record<string, unknown>>

/** `arguments` is passed on unchanged. `content` becomes its text unless it has one. */
function inputOf(content: string | undefined, given: Input): Input {
  const full = Object.hasOwn(given, 'text') || Object.hasOwn(given, 'content')
  if (content !== undefined && !full) return { ...given, text: content }
  if (Object.keys(given).length === 0) throw wrong("channel_send: 'content' is required")
  return given
}

function answered(
  server: string,
  tool: string,
  result: SendResult,
  answer: ServerToolResult | null,
): ToolOutcome {
  const { ok, status, outbox_id, code, error } = result
  const structured = {
    server,
    tool_name: tool,
    is_error: answer?.isError ?? !ok,
    content: answer?.content ?? [],
    structured_content: answer?.structured ?? null,
    ok,
    status,
    outbox_id,
    ...withoutNulls({ code, error }),
  }
  return {
    text: answer?.text || sentText(result, `sent through ${server}`),
    isError: structured.is_error,
    structured,
  }
}

function statusRow(binding: string, registration: ChannelRegistration) {
  return {
    binding_id: binding,
    server_name: registration.server,
    registered: true,
    plugin_source: registration.stamp.source,
    outbound_tool_name: registration.outboundToolName,
    permission_relay: registration.permissionRelay,
    registered_at_ms: registration.registeredAt,
  }
}

function shown(structured: Readonly<Record<string, unknown>>): ToolOutcome {
  return { text: JSON.stringify(structured), isError: false, structured }
}

function wrong(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}
