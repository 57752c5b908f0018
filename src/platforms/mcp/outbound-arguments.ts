// Finds the arguments of a server's outbound tool for text, target and thread: by the configured map, else by the
// tool's schema. A target without an argument is refused, because the message could reach another conversation and
// still count as sent. `unnamed: 'omit'` leaves it out, for a server with a single conversation.
import { type OutboundArguments, type ServerTool, SwitchboardError } from '../../contract/index.ts'
import { type ChannelPlace, namedPlace } from './thread.ts'

const TARGET_ARGUMENTS = ['channel', 'chat_id', 'channel_id', 'conversation_id', 'room_id', 'to', 'target']
const BODY_ARGUMENTS = ['text', 'content', 'message', 'body']
const THREAD_ARGUMENTS = ['thread_ts', 'thread_id', 'thread', 'message_thread_id', 'topic_id']

export interface Said {
  readonly text: string
  readonly place: ChannelPlace
}

/** What to do with a target or thread for which the tool has no argument. */
export type Unnamed = 'refuse' | 'omit'

/** Throws `platform_rejected` if the tool has no argument for the target, or for the requested thread. */
export function outboundArguments(
  said: Said,
  tool: ServerTool,
  mapped: OutboundArguments | null,
  unnamed: Unnamed = 'refuse',
): Readonly<Record<string, unknown>> {
  const target = namedPlace(said.place.conversation)
  const thread = namedPlace(said.place.thread ?? '')
  return mapped === null
    ? bySchema(said.text, [target, thread], tool, unnamed)
    : byConfiguration(said.text, target, thread, { mapped, tool, unnamed })
}

type Named = ReturnType<typeof namedPlace>

function byConfiguration(
  text: string,
  target: Named,
  thread: Named,
  { mapped, tool, unnamed }: { mapped: OutboundArguments; tool: ServerTool; unnamed: Unnamed },
): Readonly<Record<string, unknown>> {
  const argumentsFor = (what: OutboundArguments[string]) =>
    Object.keys(mapped).filter((name) => mapped[name] === what)
  const filled = (names: readonly string[], value: string) => names.map((name) => [name, value] as const)
  const unmapped = (named: NonNullable<Named>) =>
    noArgument(named.value, tool, 'outbound_arguments maps none')
  const targets = argumentsFor('target')
  const threads = argumentsFor('thread')
  const bodies = argumentsFor('body')
  // A thread without a chat is a conversation of its own, so the thread arguments name it.
  const [goal, goalNames] = target?.of === 'thread' ? [target, threads] : [target, targets]
  if (unnamed === 'refuse') {
    if (goal !== null && goalNames.length === 0) throw unmapped(goal)
    if (thread !== null && threads.length === 0) throw unmapped(thread)
  }
  return Object.fromEntries([
    ...filled(bodies.length === 0 ? ['text'] : bodies, text),
    ...(goal === null ? [] : filled(goalNames, goal.value)),
    ...(thread === null ? [] : filled(threads, thread.value)),
  ])
}

function bySchema(
  text: string,
  places: readonly Named[],
  tool: ServerTool,
  unnamed: Unnamed,
): Readonly<Record<string, unknown>> {
  const known = tool.arguments
  /** Returns the place's own key if the tool has it or its schema is open, else the first matching argument. */
  const argumentFor = (named: NonNullable<Named>): string | null => {
    if (named.key !== null && (known === null || known.includes(named.key))) return named.key
    const names = named.of === 'thread' ? THREAD_ARGUMENTS : TARGET_ARGUMENTS
    const found = known === null ? undefined : names.find((name) => known.includes(name))
    if (found !== undefined) return found
    if (unnamed === 'omit') return null
    // A thread key of the server itself is passed as it came. The chat is named anyway.
    if (named.of === 'thread' && named.key !== null) return named.key
    throw noArgument(named.value, tool, `it takes: ${shown(known)}`)
  }
  const body = BODY_ARGUMENTS.find((name) => known?.includes(name)) ?? 'text'
  return Object.fromEntries([
    [body, text],
    ...places.flatMap((named) => {
      const name = named && argumentFor(named)
      return name ? [[name, named.value]] : []
    }),
  ])
}

function noArgument(value: string, tool: ServerTool, why: string): SwitchboardError {
  return new SwitchboardError(
    'platform_rejected',
    `the tool "${tool.name}" has no argument that can name "${value.slice(0, 80)}" (${why})`,
    { hint: 'map it in channels.approved: outbound_arguments: { channel: target, text: body }' },
  )
}

function shown(names: readonly string[] | null): string {
  return names === null ? 'nothing that it says' : names.slice(0, 20).join(', ').slice(0, 300) || 'nothing'
}
