// Whose turn it is, as its agent may know it: in flight here, at another node or over. The turns and sessions of another
// agent are not found.
import {
  type Address,
  type AgentOutput,
  type Clock,
  everyRow,
  isResting,
  OPEN_TURN_STATES,
  parseAddress,
  type SessionRow,
  type StoreBesideOutlet,
  SwitchboardError,
  type TurnRow,
} from '../../../contract/index.ts'
import { rowAddress } from '../../signals.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { Flight } from '../lanes/lane-holds.ts'
import type { Roster } from './roster.ts'

export interface AgentTurnsDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly roster: Roster
  readonly dispatcher: Pick<Dispatcher, 'flight'>
}

/** What an agent brings, by its kind. */
export type Output<K extends AgentOutput['kind']> = Extract<AgentOutput, { kind: K }>

/** A turn in flight, and its flight where that is here. */
interface Flying {
  readonly row: TurnRow
  readonly here: Flight | null
}

export interface AgentTurns {
  /**
   * The flight of a turn. An agent that lives on without us may speak before we have its lane again (a restart), or
   * while its turn is about to be tried again: that is waited for, for a word must not be taken past its turn. `ends`: a word
   * that ends the turn is taken from the queue, too: the agent had it, though its hand-over was not confirmed.
   */
  flightOf(turn: string, how?: { readonly ends?: boolean }): Promise<Flying | null>
  /** Where a reply goes: the turn's conversation, else the session's. */
  placeOf(output: Output<'say' | 'ask'>): Promise<{ readonly to: Address; readonly row: TurnRow | null }>
  /** In flight here. */
  isOwn(turn: string): boolean
  isAnswered(turn: string): Promise<boolean>
  /** What was said for a turn at another node is found in the outbox. */
  hasReplied(row: TurnRow): Promise<boolean>
  hasAnsweredByTool(turn: string): Promise<boolean>
  /** It keeps the turns it has when this process ends. */
  livesOn(): boolean
}

/** Longer than a lane's lease: by then the lane of a node that died is taken over. */
const BOARDING_MS = 20_000
const BOARDING_STEP_MS = 100

export function createAgentTurns(agent: string, deps: AgentTurnsDeps): AgentTurns {
  const { store, dispatcher } = deps
  const livesOn = () => deps.roster.get(agent)?.connector.redelivery.handed === 'wait'

  const flightOf: AgentTurns['flightOf'] = async (turn, { ends = false } = {}) => {
    for (let waitedMs = 0; ; waitedMs += BOARDING_STEP_MS) {
      const flying = dispatcher.flight(turn)
      // Ids can be guessed: whoever names the turn of another agent names none.
      if (flying && flying.flight.row.agent !== agent) return null
      if (flying) return { row: flying.flight.row, here: flying.flight }
      const row = await store.turn(turn)
      if (row?.agent === agent && isResting(row)) return { row, here: null }
      if (!livesOn()) return null
      if (row?.agent !== agent || !OPEN_TURN_STATES.some((state) => state === row.state)) return null
      // It is in flight at another node, or its node died: the row is settled from here.
      if (row.state === 'queued' ? ends : store.shared) return { row, here: null }
      if (waitedMs >= BOARDING_MS) {
        throw new SwitchboardError('store_unavailable', `turn ${turn} is being taken over`, {
          retryAfterMs: 5_000,
        })
      }
      await new Promise<void>((resolve) => deps.clock.after(BOARDING_STEP_MS, resolve))
    }
  }

  const placeOf: AgentTurns['placeOf'] = async (output) => {
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

  const hasReplied: AgentTurns['hasReplied'] = async (row) => {
    const { integration, conversation, id: turn, receivedAt: sinceMs } = row
    const of = { integration, conversation, turn, sinceMs }
    for await (const { cause } of everyRow((page) => store.sends({ ...of, ...page })))
      if (cause === 'reply') return true
    return false
  }

  const isAnswered: AgentTurns['isAnswered'] = async (turn) => {
    const row = await store.turn(turn)
    return row?.agent === agent && row.state === 'answered'
  }

  const hasAnsweredByTool: AgentTurns['hasAnsweredByTool'] = async (turn) => {
    const row = await store.turn(turn)
    return row?.agent === agent && row.state === 'seen' && row.reason === 'replied'
  }

  const isOwn = (turn: string) => dispatcher.flight(turn)?.flight.row.agent === agent

  return { flightOf, placeOf, isOwn, isAnswered, hasReplied, hasAnsweredByTool, livesOn }
}
