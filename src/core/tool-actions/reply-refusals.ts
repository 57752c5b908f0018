// Refuses late replies: a person holds the place, or another host has the message now.
import {
  type Address,
  defined,
  formatAddress,
  parseAddress,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolCaller,
} from '../../contract/index.ts'
import { heldRefusal } from '../outbound/send-result.ts'

/** How many turns of a chat are searched for the last one that was handed over. */
const LATELY = 100

/** Returns checks that throw when the reply is refused. */
export function createReplyRefusals(store: StoreBesideOutlet) {
  /** A person holds the place, or answered that message instead of the agent. */
  const refuseHeld = async (at: Address, turn: string | null) => {
    const held = await store.heldAgainst(at, turn)
    if (held) throw heldRefusal(held)
  }

  /** The turn's lane went to another node, because of a takeover or with its message to another host. */
  const refuseLost = async (turn: string): Promise<never> => {
    const row = await store.turn(turn)
    if (row) await refuseHeld(parseAddress(row.address), row.id)
    throw new SwitchboardError('conflict', 'this message was handed to another host meanwhile')
  }

  /**
   * A host may not say which message it answers. If a takeover ended its last turn there, the reply is for that turn
   * and is too late, even after the place was given back.
   */
  const refuseLate = async (caller: ToolCaller, at: Address) => {
    const { integration, conversation } = at
    const there = { agent: caller.agent, integration, conversation, limit: LATELY }
    const turns = await store.turns({ ...there, ...defined({ thread: at.thread }) })
    const last = turns.find((turn) => turn.address === formatAddress(at) && turn.attempts > 0)
    if (last?.takeover !== undefined) await refuseHeld(at, last.id)
  }

  return { refuseHeld, refuseLost, refuseLate }
}
