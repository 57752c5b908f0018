// The tool calls of attached hosts: what each proves is written first, then the tool runs at the daemon's desk. The same
// call again, by its key, is the same call: it is run once, and both get its result.
import {
  type AgentOutput,
  type Clock,
  createBoundedMap,
  type Delivery,
  type HostAnswer,
  type HostCall,
  type Logger,
  type ToolDesk,
} from '../../contract/index.ts'
import { callTool, failedOutcome, type Tool, toolByName } from '../../tools/index.ts'
import { answeredWith, coveredBy, filesOf, type Held, namedBy, provedBy } from './evidence.ts'
import type { Host } from './hosts.ts'

export interface CallDeskDeps {
  readonly agent: string
  readonly clock: Clock
  readonly log: Logger
  readonly tools: () => ToolDesk
  readonly accept: (output: AgentOutput) => Promise<void>
  /** The host gave evidence. */
  readonly prove: (host: Host) => void
  readonly hosts: () => readonly Host[]
  /** A host holds less than before. */
  readonly freed: () => void
}

export interface CallDesk {
  call(host: Host, call: HostCall, proves: (turn: string | null) => void): Promise<HostAnswer>
  /** A turn came that a host already has: it is not handed over a second time. */
  takeUp(held: Held, delivery: Delivery): Promise<void>
  /** It was in flight all the time, as far as the store knows: nothing is told. */
  goOn(held: Held, delivery: Delivery, seen: boolean): void
}

const CALLS_AT_ONCE = 64
const CALLS_REMEMBERED = 1_000
/** Acknowledged turns of one host that a reply may still be about. */
const ACKED_REMEMBERED = 500
/** How long a call waits for a turn that it proves to be in flight again. */
const FLIGHT_MS = 5_000

export function createCallDesk(deps: CallDeskDeps): CallDesk {
  const known = createBoundedMap<string, Promise<Omit<HostAnswer, 'proven'>>>(CALLS_REMEMBERED)
  const takenUp: (() => void)[] = []
  /** Replies under way: two hosts may hold one turn, and answer it at once. */
  const replying = new Set<{ readonly turn: string; readonly host: string; readonly over: Promise<void> }>()

  const evidence = async (host: Host, proved: Held): Promise<readonly string[]> => {
    deps.prove(host)
    host.current = { session: proved.session, turn: proved.turn }
    if (!proved.flying && !proved.elsewhere && !proved.acked) await inFlight(proved)
    const covered = coveredBy(host.held, proved)
    for (const one of covered) {
      one.seen = true
      await deps.accept({ kind: 'evidence', turn: one.turn, of: 'seen' })
    }
    return covered.map(({ turn }) => turn)
  }

  /** The turn went back to the queue while the host was busy with it; proven now, the host gets it again by name. */
  const inFlight = async (held: Held) => {
    let late = false
    const cancel = deps.clock.after(FLIGHT_MS, () => {
      late = true
      for (const wake of takenUp.splice(0)) wake()
    })
    while (!held.flying && !late) await new Promise<void>((resolve) => takenUp.push(resolve))
    cancel()
  }

  const fly = (held: Held) => {
    held.flying = true
    for (const wake of takenUp.splice(0)) wake()
  }

  const answered = async (host: Host, proved: Held): Promise<readonly string[]> => {
    const covered = answeredWith(host.held, proved)
    for (const one of covered)
      if (!one.elsewhere)
        await deps.accept({ kind: 'evidence', turn: one.turn, of: 'answered', covered: true })
    const done = [...covered, proved]
    const turns = forget(host, done)
    for (const other of deps.hosts())
      for (const one of other.held)
        if (turns.includes(one.turn)) {
          one.elsewhere = true
          one.seen = true
        }
    return turns
  }

  const forget = (host: Host, done: readonly Held[]): readonly string[] => {
    host.held = host.held.filter((one) => !done.includes(one))
    deps.freed()
    return done.map(({ turn }) => turn)
  }

  /** The host need not name it any more; here it is kept for a while, for an answer may still come. */
  const acknowledged = (host: Host, proved: Held): readonly string[] => {
    proved.acked = true
    proved.flying = false
    const acked = host.held.filter((one) => one.acked)
    const forgotten = acked.length > ACKED_REMEMBERED ? acked[0] : undefined
    host.held = host.held.filter((one) => one !== forgotten)
    deps.freed()
    return [proved.turn]
  }

  /** The first goes; another host's waits for its outcome, and is sent only if that one failed. */
  const myTurnToReply = async ({ key }: Host, held: Held): Promise<() => void> => {
    for (;;) {
      const other = [...replying].find(({ turn, host }) => turn === held.turn && host !== key)
      if (other === undefined || held.elsewhere) break
      await other.over
    }
    let end: () => void = () => undefined
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    const own = { turn: held.turn, host: key, over }
    replying.add(own)
    return () => {
      replying.delete(own)
      end()
    }
  }

  const run = async (host: Host, call: HostCall, proves: (turn: string | null) => void) => {
    const tool = toolByName(call.tool)
    if (tool === undefined) {
      proves(null)
      return { ...failedOutcome('not_found', `Unknown tool: ${call.tool}`), done: [], seen: [] }
    }
    const { provedBefore } = call
    const proved =
      provedBefore === undefined
        ? provedBy(host.held, namedBy(tool.name, call.input))
        : (host.held.find((one) => one.turn === provedBefore) ?? null)
    proves(proved?.turn ?? provedBefore ?? null)
    const replies = tool.name === 'reply'
    if (proved && replies) proved.answering = true
    const seen = proved ? await evidence(host, proved) : []
    const over = proved && replies ? await myTurnToReply(host, proved) : null
    try {
      return { ...(await perform(host, call, { tool, proved })), seen }
    } finally {
      over?.()
    }
  }

  const perform = async (
    host: Host,
    call: HostCall,
    { tool, proved }: { readonly tool: Tool; readonly proved: Held | null },
  ) => {
    const replies = tool.name === 'reply'
    const acks = tool.name === 'ack'
    // It was busy when the turn moved on: the people there have their answer.
    if (proved?.elsewhere && replies) {
      const text = 'this message was answered by another host meanwhile'
      return { ...failedOutcome('conflict', text), done: forget(host, [proved]) }
    }
    const turn = proved?.turn ?? call.provedBefore ?? null
    const outcome = await callTool(tool, {
      desk: deps.tools(),
      caller: {
        agent: deps.agent,
        session: null,
        user: null,
        turn,
        idempotencyKey: call.key,
        local: host.link.local,
      },
      // Message ids are unique per chat only: the turn itself is not to be mistaken.
      input: acks && turn ? { message_id: turn } : call.input,
      log: deps.log,
    })
    if (proved && outcome.isError) proved.answering = false
    if (!proved || outcome.isError || !(acks || replies)) return { ...outcome, done: [] }
    return { ...outcome, done: acks ? acknowledged(host, proved) : await answered(host, proved) }
  }

  return {
    async call(host, call, proves) {
      let outcome = known.get(call.key)
      if (outcome === undefined) {
        if (host.calls >= CALLS_AT_ONCE) {
          const text = `too many tool calls at once: ${CALLS_AT_ONCE} are under way`
          return { ...failedOutcome('rate_limited', text), proven: host.proven, done: [], seen: [] }
        }
        host.calls += 1
        outcome = run(host, call, proves)
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
      return { ...(await outcome), proven: host.proven }
    },
    async takeUp(held, delivery) {
      const { turn } = delivery
      const { seen } = held
      held.files = filesOf(delivery)
      if (held.counted) await deps.accept({ kind: 'kept', turn, seen })
      else if (seen) await deps.accept({ kind: 'evidence', turn, of: 'seen' })
      fly(held)
    },
    goOn(held, delivery, seen) {
      held.files = filesOf(delivery)
      held.seen = held.seen || seen
      fly(held)
    },
  }
}
