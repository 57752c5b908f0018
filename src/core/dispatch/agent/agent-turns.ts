// The state of a turn as its agent may see it: in flight here, in flight at another node, or over. Turns and sessions
// of other agents are not found.
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
import type { Roster } from '../../roster.ts'
import { rowAddress } from '../../signals.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { Flight } from '../lanes/lane-holds.ts'

export interface AgentTurnsDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly roster: Roster
  readonly dispatcher: Pick<Dispatcher, 'flight'>
}

/** One kind of agent output. */
export type Output<K extends AgentOutput['kind']> = Extract<AgentOutput, { kind: K }>

/** A turn in flight, with its flight if it is in flight here. */
interface Flying {
  readonly row: TurnRow
  readonly here: Flight | null
}

export interface AgentTurns {
  /**
   * Returns the flight of a turn; null when it is not in flight. An agent that outlives the daemon may speak before
   * this node has its lane again, or just before a retry. Then this waits, so that no word is taken past its turn.
   * `ends`: output that ends the turn may also take it from the queue, because the agent had it without confirming the
   * hand-over. Throws `store_unavailable` when the lane is not taken over in time.
   */
  flightOf(turn: string, how?: { readonly ends?: boolean }): Promise<Flying | null>
  /**
   * Returns where a reply goes: the turn's conversation, else the session's. Throws `not_found` for a turn or session
   * of another agent.
   */
  placeOf(output: Output<'say' | 'ask'>): Promise<{ readonly to: Address; readonly row: TurnRow | null }>
  /** Whether the turn is in flight here. */
  isOwn(turn: string): boolean
  isAnswered(turn: string): Promise<boolean>
  /** Whether the outbox holds a reply for this turn. It finds replies of other nodes. */
  hasReplied(row: TurnRow): Promise<boolean>
  hasAnsweredByTool(turn: string): Promise<boolean>
  /** Whether the agent keeps its turns when this process ends. */
  livesOn(): boolean
}

/** Longer than a lane's lease. By then another node has taken over the lane of a dead node. */
const BOARDING_MS = 20_000
const BOARDING_STEP_MS = 100

export function createAgentTurns(agent: string, deps: AgentTurnsDeps): AgentTurns {
  const { store, dispatcher } = deps
  const livesOn = () => deps.roster.get(agent)?.connector.redelivery.handed === 'wait'

  const flightOf: AgentTurns['flightOf'] = async (turn, { ends = false } = {}) => {
    for (let waitedMs = 0; ; waitedMs += BOARDING_STEP_MS) {
      const flying = dispatcher.flight(turn)
      // Ids can be guessed. The turn of another agent is not found.
      if (flying && flying.flight.row.agent !== agent) return null
      if (flying) return { row: flying.flight.row, here: flying.flight }
      const row = await store.turn(turn)
      if (row?.agent === agent && isResting(row)) return { row, here: null }
      if (!livesOn()) return null
      if (row?.agent !== agent || !OPEN_TURN_STATES.some((state) => state === row.state)) return null
      // The turn is in flight at another node, or its node died. Its row is settled from here.
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
