// Why a reply comes too late: a person has the place, or the message is another host's by now.
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

/** How many turns of a chat are looked at for the last one that was handed over. */
const LATELY = 100

/** Each throws where the reply is refused. */
export function createReplyRefusals(store: StoreBesideOutlet) {
  /** A person has the place, or answered that message in the agent's place. */
  const refuseHeld = async (at: Address, turn: string | null) => {
    const held = await store.heldAgainst(at, turn)
    if (held) throw heldRefusal(held)
  }

  /** Its lane went to another node: over a person who stepped in, or with its message to another host. */
  const refuseLost = async (turn: string): Promise<never> => {
    const row = await store.turn(turn)
    if (row) await refuseHeld(parseAddress(row.address), row.id)
    throw new SwitchboardError('conflict', 'this message was handed to another host meanwhile')
  }

  /**
   * A host that does not say which message it answers, and whose last one there a takeover ended, answers that one: too
   * late, also after the place was given back.
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
