// Where text, target and thread stand among the arguments of a server's outbound tool: as the configuration maps them,
// else as the tool's own schema names them. A target that can be named nowhere is refused: without it the message would
// go somewhere else, and be told as sent.
import { type OutboundArguments, type ServerTool, SwitchboardError } from '../../contract/index.ts'
import { type ChannelPlace, namedPlace } from './thread.ts'

const TARGET_ARGUMENTS = ['channel', 'chat_id', 'channel_id', 'conversation_id', 'room_id', 'to', 'target']
const BODY_ARGUMENTS = ['text', 'content', 'message', 'body']
const THREAD_ARGUMENTS = ['thread_ts', 'thread_id', 'thread', 'message_thread_id', 'topic_id']

export interface Said {
  readonly text: string
  readonly place: ChannelPlace
}

/** Throws `platform_rejected` when the tool has no argument for the target, or for a thread that was asked for. */
export function outboundArguments(
  said: Said,
  tool: ServerTool,
  mapped: OutboundArguments | null,
): Readonly<Record<string, unknown>> {
  const target = namedPlace(said.place.conversation)
  const thread = namedPlace(said.place.thread ?? '')
  return mapped === null
    ? bySchema(said.text, target, thread, tool)
    : byConfiguration(said.text, target, thread, mapped, tool)
}

type Named = ReturnType<typeof namedPlace>

function byConfiguration(
  text: string,
  target: Named,
  thread: Named,
  mapped: OutboundArguments,
  tool: ServerTool,
): Readonly<Record<string, unknown>> {
  const argumentsFor = (what: OutboundArguments[string]) =>
    Object.keys(mapped).filter((name) => mapped[name] === what)
  const filled = (names: readonly string[], value: string) => names.map((name) => [name, value] as const)
  const targets = argumentsFor('target')
  const threads = argumentsFor('thread')
  const bodies = argumentsFor('body')
  // A thread of no chat is a conversation of its own: it is named by what names threads.
  const [goal, goalNames] = target?.of === 'thread' ? [target, threads] : [target, targets]
  if (goal !== null && goalNames.length === 0) throw unnamed(goal.value, tool, 'outbound_arguments maps none')
  if (thread !== null && threads.length === 0)
    throw unnamed(thread.value, tool, 'outbound_arguments maps none')
  return Object.fromEntries([
    ...filled(bodies.length === 0 ? ['text'] : bodies, text),
    ...(goal === null ? [] : filled(goalNames, goal.value)),
    ...(thread === null ? [] : filled(threads, thread.value)),
  ])
}

function bySchema(
  text: string,
  target: Named,
  thread: Named,
  tool: ServerTool,
): Readonly<Record<string, unknown>> {
  const known = tool.arguments
  /** The place's own key where the tool has it, or says nothing of its arguments; else the first one that it has. */
  const argumentFor = (named: NonNullable<Named>): string => {
    if (named.key !== null && (known === null || known.includes(named.key))) return named.key
    const names = named.of === 'thread' ? THREAD_ARGUMENTS : TARGET_ARGUMENTS
    const found = known === null ? undefined : names.find((name) => known.includes(name))
    // A thread that the server named itself goes along as it came: its chat is named all the same.
    if (found === undefined && named.of === 'thread' && named.key !== null) return named.key
    if (found === undefined) throw unnamed(named.value, tool, `it takes: ${shown(known)}`)
    return found
  }
  const body = BODY_ARGUMENTS.find((name) => known?.includes(name)) ?? 'text'
  return Object.fromEntries([
    [body, text],
    ...[target, thread].flatMap((named) => (named === null ? [] : [[argumentFor(named), named.value]])),
  ])
}

function unnamed(value: string, tool: ServerTool, why: string): SwitchboardError {
  return new SwitchboardError(
    'platform_rejected',
    `the tool "${tool.name}" has no argument that can name "${value.slice(0, 80)}" (${why})`,
    { hint: 'map it in channels.approved: outbound_arguments: { channel: target, text: body }' },
  )
}

function shown(names: readonly string[] | null): string {
  return names === null ? 'nothing that it says' : names.slice(0, 20).join(', ').slice(0, 300) || 'nothing'
}
