// The tool calls of attached hosts. First the evidence of a call is stored, then the tool runs in the daemon. A call
// that is repeated with the same key runs once, and both repeats get the same result.
import {
  type AgentOutput,
  type Clock,
  createBoundedMap,
  type HostAnswer,
  type HostCall,
  type Logger,
  type ToolActions,
  type ToolOutcome,
} from '../../contract/index.ts'
import { callTool, failedOutcome, type Tool, toolByName } from '../../tools/index.ts'
import { openAt } from './asks.ts'
import { type Held, isUnseen, type Named, namedBy, provedBy } from './evidence.ts'
import type { Host, Line } from './hosts.ts'
import { createReplyOrder } from './reply-order.ts'
import { createTakenUp, type TakenUp } from './taken-up.ts'
import { withWaiting } from './waiting.ts'

export interface HostCallsDeps {
  readonly agent: string
  readonly clock: Clock
  readonly log: Logger
  readonly tools: () => ToolActions
  readonly accept: (output: AgentOutput) => Promise<void>
  /** Called when a host was proven. */
  readonly proven: () => void
  readonly hosts: () => readonly Host[]
  /** Called when a host holds fewer turns than before. */
  readonly freed: () => void
}

export interface HostCalls extends Pick<TakenUp, 'takeUp' | 'resumeInFlight'> {
  call(host: Host, line: Line, call: HostCall, proves: (turn: string | null) => void): Promise<HostAnswer>
}

const CALLS_AT_ONCE = 64
const CALLS_REMEMBERED = 1_000
/** Evidence stored in one commit. A larger commit would delay others. */
const MOST_TOGETHER = 500
/** Acknowledged turns of one host that a later reply can still answer. */
const ACKED_REMEMBERED = 500

export function createHostCalls(deps: HostCallsDeps): HostCalls {
  const known = createBoundedMap<string, Promise<Omit<HostAnswer, 'proven'>>>(CALLS_REMEMBERED)
  const { takeUp, resumeInFlight, inFlight } = createTakenUp(deps)
  const replyOrder = createReplyOrder()

  const evidence = async (
    host: Host,
    proved: Held,
    { messages, file }: Named,
  ): Promise<readonly string[]> => {
    // `pending_messages` also shows the names of chats. A call that names only such a chat does not prove that the host
    // hears pushed events.
    const byChat = messages.length === 0 && file === null
    if (!proved.fetched && !(byChat && host.learned.has(proved.chatId))) prove(host, proved)
    host.current = { session: proved.session, turn: proved.turn }
    if (proved.phase === 'brought') await inFlight(proved)
    // Evidence for a later message covers the earlier ones handed to the same host.
    return saw(host, host.held.unprovenUpTo(proved))
  }

  const saw = async (host: Host, held: readonly Held[]): Promise<readonly string[]> => {
    for (const one of held) {
      host.held.change(one, { seen: true })
      one.delivery = null
      host.oneWay.delete(one)
    }
    const turns = held.map(({ turn }) => turn)
    await together(held.map(seenOf))
    // One-way turns wait for no answer. A later `ack` or `reply` still finds them.
    for (const one of held) if (one.oneWay && one.phase === 'open') rest(host, one)
    if (held.some(({ oneWay }) => oneWay)) deps.freed()
    return turns
  }

  /** A host that calls a tool is working, and its pipe took these turns. One-way turns can have no better evidence. */
  const sawOneWay = async (host: Host): Promise<readonly string[]> => {
    const taken = [...host.oneWay].filter((one) => one.confirmed && one.phase === 'open')
    const slid = [...host.slid].map(([turn]) => turn)
    for (const turn of slid) host.slid.delete(turn)
    await together(slid.map((turn) => seenOf({ turn, oneWay: true })))
    return [...slid, ...(taken.length === 0 ? [] : await saw(host, taken))]
  }

  /** Outputs of one event-loop turn share a commit. Resolves when all are stored. */
  const together = async (outputs: readonly AgentOutput[]): Promise<void> => {
    for (let from = 0; from < outputs.length; from += MOST_TOGETHER) {
      const some = outputs.slice(from, from + MOST_TOGETHER)
      const told = await Promise.allSettled(some.map((output) => deps.accept(output)))
      const failed = told.find((one) => one.status === 'rejected')
      if (failed) throw failed.reason
    }
  }

  /** A turn that was written to two lines may have been heard on either. It proves the host, but neither line. */
  const prove = (host: Host, { lines }: Held) => {
    const [only, ...more] = lines
    const known = host.proven && (only?.proven ?? true)
    host.proven = true
    host.silent = false
    host.heard = more.at(-1) ?? only ?? null
    if (only && more.length === 0) only.proven = true
    if (!known) deps.proven()
  }

  /**
   * A turn that a tool result just showed proves nothing when the host names it: the host may not hear pushed events.
   */
  const shown = async (host: Host, tool: Tool, chatId: string | null, outcome: ToolOutcome) => {
    if (outcome.isError) return []
    if (tool.name === 'fetch_messages' && !host.proven)
      for (const one of host.held.inChat(chatId ?? '')) host.held.change(one, { fetched: true })
    if (tool.name !== 'pending_messages') return []
    const found = listed(outcome).flatMap(({ chat_id, message_id }) =>
      host.held
        .named([String(message_id)])
        .filter((one) => isUnseen(one) && one.chatId === chat_id && one.messageId === message_id),
    )
    for (const one of found) {
      host.held.change(one, { fetched: true })
      if (!host.proven) host.learned.set(one.chatId, true)
    }
    return saw(host, found)
  }

  const answered = async (host: Host, proved: Held): Promise<readonly string[]> => {
    // An answer covers the earlier messages of the same chat at the same host.
    const covered = host.held.beforeInChat(proved)
    const open = covered.filter((one) => one.phase !== 'elsewhere')
    await together(open.map(({ turn }) => ({ kind: 'evidence', turn, of: 'answered', covered: true })))
    const done = [...covered, proved]
    const turns = forget(host, done)
    for (const other of deps.hosts())
      for (const turn of turns) {
        const one = other.held.get(turn)
        if (!one) continue
        other.held.change(one, { phase: 'elsewhere', seen: true })
        other.oneWay.delete(one)
        one.delivery = null
      }
    return turns
  }

  const forget = (host: Host, done: readonly Held[]): readonly string[] => {
    for (const one of done) {
      host.held.remove(one)
      host.oneWay.delete(one)
    }
    deps.freed()
    return done.map(({ turn }) => turn)
  }

  /** The shim may forget the turn. The daemon keeps it for a while, because an answer may still come. */
  const acknowledged = async (host: Host, proved: Held): Promise<readonly string[]> => {
    // It covers the earlier messages of the same chat, except those whose answer is being sent now.
    const before = host.held.beforeInChat(proved).filter((one) => one.phase === 'open' && !one.answering)
    await together(before.map(({ turn }) => ({ kind: 'evidence', turn, of: 'seen', rests: 'acknowledged' })))
    for (const one of [...before, proved]) {
      host.oneWay.delete(one)
      rest(host, one)
    }
    deps.freed()
    return [...before, proved].map(({ turn }) => turn)
  }

  const rest = (host: Host, held: Held) => {
    host.held.change(held, { phase: 'acked', seen: true })
    const [oldest] = host.held.acked
    if (oldest && host.held.acked.size > ACKED_REMEMBERED) host.held.remove(oldest)
  }

  const run = async (host: Host, line: Line, call: HostCall, proves: (turn: string | null) => void) => {
    const tool = toolByName(call.tool)
    if (tool === undefined) {
      proves(null)
      return { ...failedOutcome('not_found', `unknown tool: ${call.tool}`), done: [], seen: [] }
    }
    const noticed = host.oneWay.size === 0 && host.slid.size === 0 ? [] : await sawOneWay(host)
    const { provedBefore } = call
    const named = namedBy(tool.name, call.input)
    const proved =
      provedBefore === undefined
        ? provedBy(host.held, named)
        : ((provedBefore === null ? undefined : host.held.get(provedBefore)) ?? null)
    proves(proved?.turn ?? provedBefore ?? null)
    const replies = tool.name === 'reply'
    if (proved && replies) proved.answering = true
    const seen = proved ? await evidence(host, proved, named) : []
    const over = proved && replies ? await replyOrder.myTurn(host, proved) : null
    try {
      const outcome = await perform(host, line, call, { tool, proved })
      // One-way turns wait for no answer, so the shim need not remember them.
      const done = [...outcome.done, ...noticed]
      return {
        ...outcome,
        done,
        seen: [...noticed, ...seen, ...(await shown(host, tool, named.chatId, outcome))],
      }
    } finally {
      over?.()
    }
  }

  const perform = async (
    host: Host,
    line: Line,
    call: HostCall,
    { tool, proved }: { readonly tool: Tool; readonly proved: Held | null },
  ) => {
    const replies = tool.name === 'reply'
    const acks = tool.name === 'ack'
    // The host was busy when the turn moved to another host, which answered it.
    if (proved?.phase === 'elsewhere' && replies) {
      const text = 'this message was answered by another host meanwhile'
      return { ...failedOutcome('conflict', text), done: forget(host, [proved]) }
    }
    const turn = proved?.turn ?? call.provedBefore ?? null
    // The service does not know our key. A call that may have run before the restart is not run again.
    if (tool.name === 'call_service_tool' && call.provedBefore !== undefined) {
      const text =
        'the gateway was restarted while this call ran: it may have been done; look before you call it again'
      return { ...failedOutcome('outcome_unknown', text), done: [] }
    }
    const outcome = await callTool(tool, {
      actions: deps.tools(),
      caller: {
        agent: deps.agent,
        session: null,
        user: null,
        turn,
        idempotencyKey: call.key,
        local: line.link.local,
        ...(line.link.local && line.link.facts.folder !== undefined
          ? { folder: line.link.facts.folder }
          : {}),
        host: openAt(host),
      },
      // Message ids are unique only within a chat. The turn id is unambiguous.
      input: acks && turn ? { message_id: turn } : call.input,
      log: deps.log,
    })
    // A row in the outbox answers the turn, whatever becomes of the send.
    const refused = outcome.isError && !(replies && outcome.structured?.outbox_id)
    if (proved && refused) proved.answering = false
    // A person answers in the agent's place, so the host has nothing left to answer there.
    if (proved && replies && outcome.isError && outcome.structured.code === 'held')
      return { ...outcome, done: forget(host, [proved]) }
    if (!proved || refused || !(acks || replies)) return { ...outcome, done: [] }
    return { ...outcome, done: acks ? await acknowledged(host, proved) : await answered(host, proved) }
  }

  return {
    async call(host, line, call, proves) {
      let outcome = known.get(call.key)
      if (outcome === undefined) {
        if (host.calls >= CALLS_AT_ONCE) {
          const text = `too many tool calls at once: ${CALLS_AT_ONCE} are under way`
          const refused = { ...failedOutcome('rate_limited', text), proven: line.proven, done: [], seen: [] }
          return withWaiting(refused, host)
        }
        host.calls += 1
        outcome = run(host, line, call, proves)
          .catch((thrown) => {
            deps.log.error({ tool: call.tool, error: String(thrown) }, 'a tool call failed')
            return {
              ...failedOutcome('internal', 'an internal error; the log has the story'),
              done: [],
              seen: [],
            }
          })
          .finally(() => {
            host.calls -= 1
          })
        known.set(call.key, outcome)
      }
      return withWaiting({ ...(await outcome), proven: line.proven }, host)
    },
    takeUp,
    resumeInFlight,
  }
}

function seenOf({ turn, oneWay }: Pick<Held, 'turn' | 'oneWay'>): AgentOutput {
  return { kind: 'evidence', turn, of: 'seen', ...(oneWay ? { rests: 'one_way' as const } : {}) }
}

interface Listed {
  readonly chat_id?: unknown
  readonly message_id?: unknown
}

/** Returns the messages in a result of `pending_messages`. */
function listed({ structured }: ToolOutcome): readonly Listed[] {
  return Array.isArray(structured.messages) ? structured.messages : []
}
