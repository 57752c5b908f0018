// The agent's way back: say, status, ask, evidence and failure come through this one door. A reply goes to the
// conversation of the turn it answers, whatever the agent writes: no argument can rebind it.
import {
  type Accepted,
  type Address,
  type AgentOutlet,
  type AgentOutput,
  type Clock,
  defined,
  everyRow,
  heldByText,
  isResting,
  type Logger,
  type NewFile,
  type NewSend,
  OPEN_TURN_STATES,
  parseAddress,
  SCHEDULE_PLACE,
  type SessionRow,
  type Settings,
  type Store,
  SwitchboardError,
  type TurnRow,
  textEnd,
} from '../../contract/index.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { admissionOf } from '../channel-admission.ts'
import { givenUpText, incompleteText, NO_REPLY_TEXT, notice } from '../notices.ts'
import type { FileOp } from '../outbound/compose.ts'
import { canSpeak, isOneWay, type Links, ONE_WAY_HINT } from '../outbound/links.ts'
import type { Outlet } from '../outbound/outlet.ts'
import type { Streams } from '../outbound/streams.ts'
import type { Admission } from '../people/admission.ts'
import { pickButtons } from '../picks.ts'
import { rowAddress, type SignalSink } from '../signals.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Flight } from './lane-holds.ts'
import { noticeTarget } from './notice-target.ts'
import type { Roster } from './roster.ts'

export interface AgentOutletDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly links: Links
  readonly outlet: Pick<Outlet, 'rows' | 'put'>
  readonly dispatcher: Dispatcher
  readonly approvals: Approvals
  readonly signal: SignalSink
  readonly streams: Pick<Streams, 'partial' | 'begun' | 'ended'>
  /** What an agent does is shown only to whoever may still speak to it. */
  readonly admission: Pick<Admission, 'atOnce' | 'ofTurn'>
}

/** Longer than a lane's lease: by then the lane of a node that died is taken over. */
const BOARDING_MS = 20_000
const BOARDING_STEP_MS = 100
const MOST_STATUS = 500

/** A turn in flight, and its flight where that is here. */
interface Flying {
  readonly row: TurnRow
  readonly here: Flight | null
}

type Output<K extends AgentOutput['kind']> = Extract<AgentOutput, { kind: K }>

export function createAgentOutlet(agent: string, deps: AgentOutletDeps): AgentOutlet {
  const { store, dispatcher } = deps

  const say = async (output: Output<'say'>): Promise<Accepted> => {
    // Nothing would be shown: an answer without words is told as one.
    if (output.turn && output.final && isWordless(output))
      return evidence({ kind: 'evidence', turn: output.turn, of: 'answered' })
    if (output.turn && output.unlessReplied && (await hasAnsweredByTool(output.turn)))
      return endQuietly(output.turn, output.text)
    const place = await placeOf(output)
    // Nobody is there to hear it: the end of such a turn is told by notify_on, anything else by a tool.
    const oneWay = isOneWay(deps.links, place.to.integration)
    const unheard = place.to.integration === SCHEDULE_PLACE || oneWay
    if (oneWay && output.turn === undefined)
      throw new SwitchboardError(
        'execution_failed',
        `Integration "${place.to.integration}" cannot send: it is one-way`,
        { hint: ONE_WAY_HINT },
      )
    const files = unheard ? [] : await keptFiles(place.to.integration, output.files ?? [])
    const sends = unheard ? [] : finishing(rowsOf(output, place.to, files), output)
    const flying = output.turn ? await flightOf(output.turn) : null
    if (output.turn && dispatcher.wasLost(output.turn))
      throw new SwitchboardError('conflict', `turn ${output.turn} is another node's now`)
    const to = output.final ? ({ to: 'answered', text: output.text } as const) : ({ to: 'seen' } as const)
    const sole = output.sole ? { sole: true as const } : {}
    const settles = output.turn && (flying || output.sole) ? { turn: output.turn, ...to, ...sole } : undefined
    const ids = await deps.outlet.put(sends, settles)
    const held = ids ? null : await store.heldAgainst(place.to, output.turn ?? null)
    if (held) throw new SwitchboardError('held', `not sent: this conversation was ${heldByText(held)}`)
    if (!ids && output.sole)
      throw new SwitchboardError('conflict', 'this message was answered, or given up, before')
    if (!ids) throw new SwitchboardError('conflict', `turn ${output.turn} is no longer this node's`)
    if (output.turn && output.final) void deps.streams.ended(output.turn)
    return { id: ids[0] ?? null }
  }

  const hasAnsweredByTool = async (turn: string): Promise<boolean> => {
    const row = await store.turn(turn)
    return row?.agent === agent && row.state === 'seen' && row.reason === 'replied'
  }

  /** It was said by the tool: these words are for `notify_on` alone. */
  const endQuietly = async (turn: string, text: string): Promise<Accepted> => {
    await dispatcher.settle(turn, 'answered', { text })
    void deps.streams.ended(turn)
    return { id: null }
  }

  /** Where the beginning of it is shown, the final text takes its place. */
  const finishing = (rows: readonly NewSend[], { turn, final }: Output<'say'>): readonly NewSend[] => {
    const [first, ...others] = rows
    const isText =
      first?.op.kind === 'text' && deps.links.get(first.to.integration)?.adapter.streaming?.by === 'edits'
    return first && isText && turn && final ? [{ ...first, finishes: true }, ...others] : rows
  }

  const rowsOf = (output: Output<'say'>, to: Address, files: readonly FileOp[]): readonly NewSend[] => {
    const key = output.idempotencyKey
    const said = {
      ...({ to, cause: 'reply', agent, session: output.session, turn: output.turn ?? null } as const),
      ...defined({ urgency: output.urgency }),
      ...(output.afterMs === undefined ? {} : { dueAt: deps.clock.now() + output.afterMs }),
    }
    const keyed = (end: string) => (key === undefined ? {} : { idempotencyKey: key + end })
    const before = (output.before ?? []).flatMap((text, index) =>
      deps.outlet.rows({ ...said, text, ...keyed(`#before${index}`) }),
    )
    const { pick, text } = output
    const hasButtons = deps.links.get(to.integration)?.adapter.abilities.buttons === true
    const choices = pick && hasButtons ? pickButtons(pick) : []
    const picks = choices.length === 0 ? {} : { choices }
    return [...before, ...deps.outlet.rows({ ...said, text, files, ...picks, ...keyed('') })]
  }

  /** All of them are kept before anything is said. */
  const keptFiles = async (integration: string, files: readonly NewFile[]): Promise<readonly FileOp[]> => {
    if (files.length === 0) return []
    const adapter = deps.links.get(integration)?.adapter
    if (!adapter?.abilities.files || !adapter.keep)
      throw new SwitchboardError('execution_failed', `integration "${integration}" takes no files`)
    const ops: FileOp[] = []
    for (const file of files)
      ops.push({ kind: 'file', name: file.name, mime: file.mime, ref: await adapter.keep(file) })
    return ops
  }

  const holdsDecisions = () => deps.roster.get(agent)?.connector.holdsDecisions ?? true
  const waits = () => deps.roster.get(agent)?.connector.redelivery.handed === 'wait'

  /**
   * The flight of a turn. An agent that lives on without us may speak before we have its lane again (a restart), or
   * while its turn is about to be tried again: that is waited for, for a word must not be taken past its turn.
   */
  const flightOf = async (turn: string): Promise<Flying | null> => {
    for (let waitedMs = 0; ; waitedMs += BOARDING_STEP_MS) {
      const flying = dispatcher.flight(turn)
      // Ids can be guessed: whoever names the turn of another agent names none.
      if (flying && flying.flight.row.agent !== agent) return null
      if (flying) return { row: flying.flight.row, here: flying.flight }
      const row = await store.turn(turn)
      if (row?.agent === agent && isResting(row)) return { row, here: null }
      if (!waits()) return null
      if (row?.agent !== agent || !OPEN_TURN_STATES.some((state) => state === row.state)) return null
      // It is in flight at another node, or its node died: the row is settled from here.
      if (store.shared && row.state !== 'queued') return { row, here: null }
      if (waitedMs >= BOARDING_MS) {
        throw new SwitchboardError('store_unavailable', `turn ${turn} is being taken over`, {
          retryAfterMs: 5_000,
        })
      }
      await new Promise<void>((resolve) => deps.clock.after(BOARDING_STEP_MS, resolve))
    }
  }

  /** Where a reply goes: the turn's conversation, else the session's. Another agent's are not found. */
  const placeOf = async (output: Output<'say' | 'ask'>): Promise<{ to: Address; row: TurnRow | null }> => {
    const row = output.turn
      ? (dispatcher.flight(output.turn)?.flight.row ?? (await store.turn(output.turn)))
      : null
    if (row) {
      if (row.agent !== agent) throw new SwitchboardError('not_found', `${agent} has no turn ${output.turn}`)
      return { to: rowAddress(row), row }
    }
    const session = await ownSession(output.session)
    return { to: parseAddress(session.address), row: null }
  }

  const ownSession = async (id: string): Promise<SessionRow> => {
    const session = await store.session(id)
    if (session?.agent !== agent) throw new SwitchboardError('not_found', `${agent} has no session ${id}`)
    return session
  }

  const evidence = async (output: Output<'evidence'>): Promise<Accepted> => {
    const flying = await flightOf(output.turn)
    if (!flying) return { id: null }
    const { row } = flying
    const said = flying.here?.said ?? (await hasReplied(row))
    const silent = output.of === 'answered' && !output.covered && !said
    const trouble = silent ? await reportedTrouble(output.turn) : null
    if (trouble !== null)
      return failed({ kind: 'failed', turn: output.turn, reason: 'agent_failed', ...trouble })
    const told = silent && canSpeak(deps.links, row.integration)
    const sends: readonly NewSend[] = told ? [notice(noticeTarget(row), NO_REPLY_TEXT)] : []
    const working = output.of === 'seen' && output.working
    await dispatcher.settle(output.turn, output.of, { sends, ...(working ? { reason: 'working' } : {}) })
    return { id: null }
  }

  /** The last trouble that the agent told of a turn, to this process or to one before it. */
  const reportedTrouble = async (turn: string): Promise<{ detail: string; code?: string } | null> => {
    const last = (await store.turnEvents(turn)).findLast((one) => one.kind === 'error')
    if (!last || last.text === null) return null
    return last.name === null ? { detail: last.text } : { detail: last.text, code: last.name }
  }

  /** What was said for a turn at another node is found in the outbox. */
  const hasReplied = async (row: TurnRow): Promise<boolean> => {
    const { integration, conversation, id: turn, receivedAt: sinceMs } = row
    const of = { integration, conversation, turn, sinceMs }
    for await (const { cause } of everyRow((page) => store.sends({ ...of, ...page })))
      if (cause === 'reply') return true
    return false
  }

  const failed = async (output: Output<'failed'>): Promise<Accepted> => {
    const row = (await flightOf(output.turn))?.row
    if (row && output.unlessWorking && (await store.turn(row.id))?.reason === 'working')
      return { id: null, working: true }
    if (!row) return (await isAnswered(output.turn)) ? { id: null, late: true } : { id: null }
    const speaks = canSpeak(deps.links, row.integration)
    const failure = {
      message: output.detail,
      ...defined({ code: output.code }),
    }
    const words = givenUpText(output.reason, output.detail)
    const session = row.session ?? ''
    const text = output.text?.trim() ? output.text : deps.streams.begun(row.id)
    const came = speaks && text !== undefined ? incompleteText(text) : null
    const say = { kind: 'say', session, turn: row.id, text: came ?? '', final: true } as const
    const said = came === null ? [] : finishing(rowsOf(say, rowAddress(row), []), say)
    const sends = speaks ? [...said, notice(noticeTarget(row), words, undefined, failure)] : []
    await dispatcher.settle(output.turn, 'failed', { sends, reason: output.reason, detail: output.detail })
    void deps.streams.ended(output.turn)
    return { id: null }
  }

  const isAnswered = async (turn: string): Promise<boolean> => {
    const row = await store.turn(turn)
    return row?.agent === agent && row.state === 'answered'
  }

  /** A claim may have led it here: that takes more than a look. */
  const mayShow = async (row: TurnRow): Promise<boolean> =>
    deps.admission.atOnce(row) || (await deps.admission.ofTurn(row)) === 'admitted'

  const event = async ({ event: told }: Output<'event'>): Promise<Accepted> => {
    const row = dispatcher.flight(told.turn)?.flight.row ?? (await store.turn(told.turn))
    if (row?.agent !== agent) throw new SwitchboardError('not_found', `${agent} has no turn ${told.turn}`)
    await store.keepTurnEvent(told)
    const isOpen = OPEN_TURN_STATES.some((state) => state === row.state)
    if (told.kind !== 'error' && isOpen && (await mayShow(row))) {
      const { kind: event, call, name, text } = told
      deps.signal(rowAddress(row), { kind: 'tool', messageId: row.messageId, event, call, name, text })
    }
    await dispatcher.heard(told.turn, agent)
    return { id: null }
  }

  const ask = async (output: Output<'ask'>): Promise<Accepted> => {
    const origin = await originOf(output)
    const flying = output.turn ? dispatcher.flight(output.turn) : null
    if (flying) flying.flight.asked = true
    if (flying && output.turn && !output.guessed) await dispatcher.settle(output.turn, 'seen')
    const host = output.at
    const asker = { agent, turn: output.turn ?? null, session: host ? null : output.session }
    const { servers } = await admissionOf({ ...asker, ...defined({ host }) }, deps)
    const id = await deps.approvals.ask({
      agent,
      servers,
      session: output.session,
      turn: output.turn ?? null,
      ask: output.ask,
      handedAt: flying?.flight.row.updatedAt ?? null,
      origin,
      ...(output.turn === undefined || output.guessed ? { placeless: true as const } : {}),
    })
    return { id }
  }

  /**
   * Where the turn came from. A host that asks on its own account has no chat: its approvers are asked directly. One whose
   * turn is only guessed may be about anything: that is no business of a group, nor of a room behind a channel server.
   */
  const originOf = async (output: Output<'ask'>) => {
    if (output.turn === undefined) return null
    const { row, to } = await placeOf(output)
    // Whoever goes on after the end asks for nobody: the person stopped it, or has the answer already.
    const over = row !== null && !OPEN_TURN_STATES.some((state) => state === row.state)
    if (over && !output.guessed && holdsDecisions())
      throw new SwitchboardError('conflict', 'this message was answered, or given up, before')
    const direct = row?.body?.chat !== 'group'
    const shared = !direct || deps.links.get(to.integration)?.adapter.channel !== undefined
    return row === null || (output.guessed && shared) ? null : { to, sender: row.sender, direct }
  }

  /** Never waited for, and lost where nobody can show it. */
  const partial = async ({ turn, text }: Output<'partial'>): Promise<Accepted> => {
    const flight = dispatcher.flight(turn)?.flight
    const row = flight?.row
    if (row?.agent !== agent) return { id: null }
    if (row.state !== 'seen') await dispatcher.settle(turn, 'seen')
    else await dispatcher.heard(turn, agent)
    if (!flight?.replied) deps.streams.partial(row, text)
    return { id: null }
  }

  const isOwn = (turn: string) => dispatcher.flight(turn)?.flight.row.agent === agent

  const status = async ({ turn, text }: Output<'status'>): Promise<Accepted> => {
    if (turn === undefined) return { id: null }
    // What lives on speaks at any node, whoever holds the lane.
    const row = dispatcher.flight(turn)?.flight.row ?? (waits() ? await store.turn(turn) : null)
    if (row?.agent === agent && OPEN_TURN_STATES.some((state) => state === row.state)) {
      const shown = text !== '' && (await mayShow(row))
      if (shown) deps.signal(rowAddress(row), { kind: 'status', turn, text: statusLine(text) })
      await dispatcher.heard(turn, agent)
    }
    return { id: null }
  }

  return {
    async accept(output) {
      switch (output.kind) {
        case 'say':
          return say(output)
        case 'status':
          return status(output)
        case 'partial':
          return partial(output)
        case 'ask':
          return ask(output)
        case 'waits':
          await deps.approvals.hostWaits(agent, output.host, output.requests)
          return { id: null }
        case 'evidence':
          return evidence(output)
        case 'failed':
          return failed(output)
        case 'event':
          return event(output)
        case 'kept':
          if (isOwn(output.turn)) await dispatcher.kept(output.turn, output.seen)
          return { id: null }
        case 'returned':
          await dispatcher.giveBack(output.turns.filter(isOwn), output)
          return { id: null }
      }
    },
    presence: (attached, detail) => deps.roster.presence(agent, attached, detail),
    roomy: () => dispatcher.roomy(agent),
    fetchVerdict: (approval, turn) => deps.approvals.fetchVerdict(approval, { agent, turn }),
  }
}

/** Everybody who watches gets it, each in a buffer of its own. */
function statusLine(text: string): string {
  const end = textEnd(text, MOST_STATUS, 'code-points')
  return end < text.length ? `${text.slice(0, end)}…` : text
}

function isWordless({ text, before = [], files = [] }: Output<'say'>): boolean {
  return files.length === 0 && [text, ...before].every((one) => one.trim() === '')
}
