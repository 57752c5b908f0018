// Accepts everything an agent outputs: say, status, ask, evidence and failure. A reply goes to the conversation of the
// turn it answers. No argument of the agent can redirect it.
import {
  type Accepted,
  type AgentOutlet,
  type Clock,
  cutAnswer,
  defined,
  type Logger,
  type NewSend,
  OPEN_TURN_STATES,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type TurnRow,
  textEnd,
} from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import { askedMsOf } from '../../approvals/asked-time.ts'
import { canSpeak, type Links } from '../../links.ts'
import { notice, noticeTarget, type Say } from '../../notices.ts'
import type { Outlet } from '../../outbound/outlet.ts'
import type { Streams } from '../../outbound/streams.ts'
import type { Admission } from '../../people/admission.ts'
import type { Roster } from '../../roster.ts'
import { rowAddress, type SignalSink } from '../../signals.ts'
import type { Dispatcher } from '../dispatcher.ts'
import { createAgentQuestions } from './agent-questions.ts'
import { createAgentReplies } from './agent-replies.ts'
import { createAgentTurns, type Output } from './agent-turns.ts'

export interface AgentOutletDeps {
  readonly store: StoreBesideOutlet
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
  /** An agent's activity is shown only to people who may still speak to it. */
  readonly admission: Pick<Admission, 'atOnce' | 'ofTurn'>
}

const MOST_STATUS = 500

export function createAgentOutlet(agent: string, deps: AgentOutletDeps): AgentOutlet {
  const { store, dispatcher } = deps
  const turns = createAgentTurns(agent, deps)
  const replies = createAgentReplies(agent, { ...deps, turns })
  const questions = createAgentQuestions(agent, { ...deps, turns })

  const evidence = async (output: Output<'evidence'>): Promise<Accepted> => {
    const flying = await turns.flightOf(output.turn)
    if (!flying) return { id: null }
    const { row } = flying
    const hasReplied = flying.here?.said ?? (await turns.hasReplied(row))
    const silent = output.of === 'answered' && !output.covered && !hasReplied
    const trouble = silent ? await reportedTrouble(output.turn) : null
    if (trouble !== null)
      return failed({ kind: 'failed', turn: output.turn, reason: 'agent_failed', ...trouble })
    const isNoticed = silent && canSpeak(deps.links, row.integration)
    const sends: readonly NewSend[] = isNoticed
      ? [notice(noticeTarget(row), (words) => words.notices.noReply)]
      : []
    const working = output.of === 'seen' && output.working
    const rests = output.of === 'seen' ? output.rests : undefined
    const reason = working ? 'working' : silent ? 'no_reply' : rests
    await dispatcher.settle(output.turn, output.of, { sends, ...defined({ reason }) })
    return { id: null }
  }

  /** The last error the agent reported for a turn, to this process or an earlier one. */
  const reportedTrouble = async (turn: string): Promise<{ detail: string; code?: string } | null> => {
    const last = (await store.turnEvents(turn)).findLast((one) => one.kind === 'error')
    if (!last || last.text === null) return null
    return last.name === null ? { detail: last.text } : { detail: last.text, code: last.name }
  }

  const failed = async (output: Output<'failed'>): Promise<Accepted> => {
    const row = (await turns.flightOf(output.turn, { ends: true }))?.row
    if (row && output.unlessWorking && (await store.turn(row.id))?.reason === 'working')
      return { id: null, working: true }
    if (!row) return (await turns.isAnswered(output.turn)) ? { id: null, late: true } : { id: null }
    const speaks = canSpeak(deps.links, row.integration)
    const failure = {
      message: output.detail,
      ...defined({ code: output.code }),
    }
    const givenUp: Say = (words) => words.notices.givenUp(output)
    const session = row.session ?? ''
    const text = output.text?.trim() ? output.text : deps.streams.begun(row.id)
    const came = speaks && text !== undefined ? wordsIn().notices.incomplete({ text: cutAnswer(text) }) : null
    const say = { kind: 'say', session, turn: row.id, text: came ?? '', final: true } as const
    const said = came === null ? [] : replies.replyRows(say, { to: rowAddress(row), row }, [])
    const sends = speaks ? [...said, notice(noticeTarget(row), givenUp, undefined, failure)] : []
    await dispatcher.settle(output.turn, 'failed', { sends, reason: output.reason, detail: output.detail })
    void deps.streams.ended(output.turn)
    return { id: null }
  }

  /** A claim may have led the turn here, and that takes a full check. */
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

  /** Not awaited, and lost where no surface can show it. */
  const partial = async ({ turn, text: given }: Output<'partial'>): Promise<Accepted> => {
    const text = cutAnswer(given)
    const flight = dispatcher.flight(turn)?.flight
    const row = flight?.row
    if (row?.agent !== agent) return { id: null }
    // An answer that our end may cut is evidence only when it is complete.
    const isEvidence = deps.roster.get(agent)?.connector.redelivery.cut === undefined
    if (row.state !== 'seen' && isEvidence) await dispatcher.settle(turn, 'seen')
    else await dispatcher.heard(turn, agent)
    if (!flight?.replied) deps.streams.partial(row, text)
    return { id: null }
  }

  const status = async ({ turn, text, call }: Output<'status'>): Promise<Accepted> => {
    if (turn === undefined) return { id: null }
    // An agent that outlives the daemon may speak at any node, whichever holds the lane.
    const row = dispatcher.flight(turn)?.flight.row ?? (turns.livesOn() ? await store.turn(turn) : null)
    if (row?.agent === agent && OPEN_TURN_STATES.some((state) => state === row.state)) {
      const isShown = text !== '' && (await mayShow(row))
      if (isShown)
        deps.signal(rowAddress(row), { kind: 'status', turn, text: statusLine(text), ...defined({ call }) })
      await dispatcher.heard(turn, agent)
    }
    return { id: null }
  }

  return {
    async accept(output) {
      switch (output.kind) {
        case 'say':
          // An empty answer shows nothing, so it is treated as evidence of an answer.
          if (output.turn && output.final && isWordless(output))
            return evidence({ kind: 'evidence', turn: output.turn, of: 'answered' })
          return replies.say(withinLimit(output))
        case 'status':
          return status(output)
        case 'partial':
          return partial(output)
        case 'ask':
          return questions.ask(output)
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
          if (turns.isOwn(output.turn)) await dispatcher.kept(output.turn, output.seen)
          return { id: null }
        case 'rests':
          await dispatcher.rest(output.turns.filter(turns.isOwn))
          return { id: null }
        case 'returned':
          await dispatcher.giveBack(output.turns.filter(turns.isOwn), output)
          return { id: null }
      }
    },
    presence: (attached, detail) => deps.roster.presence(agent, attached, detail),
    roomy: () => dispatcher.roomy(agent),
    reached: (failing) => dispatcher.reached(agent, failing),
    askedMs: (turn, since) => askedMsOf(store, turn, since, deps.clock.now()),
    fetchVerdict: (approval, turn) => deps.approvals.fetchVerdict(approval, { agent, turn }),
  }
}

/** No answer exceeds the limit, whatever the connector passes. */
function withinLimit(output: Output<'say'>): Output<'say'> {
  const before = output.before?.map(cutAnswer)
  return { ...output, text: cutAnswer(output.text), ...(before === undefined ? {} : { before }) }
}

/** Every listener gets a copy in its own buffer, so the line is short. */
function statusLine(text: string): string {
  const end = textEnd(text, MOST_STATUS, 'code-points')
  return end < text.length ? `${text.slice(0, end)}…` : text
}

function isWordless({ text, before = [], files = [] }: Output<'say'>): boolean {
  return files.length === 0 && [text, ...before].every((one) => one.trim() === '')
}
