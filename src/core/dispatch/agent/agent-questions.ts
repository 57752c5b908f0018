// Questions of an agent to a person: where they are asked, and whether their turn may still ask.
import {
  type Accepted,
  defined,
  OPEN_TURN_STATES,
  type Store,
  SwitchboardError,
} from '../../../contract/index.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import type { Links } from '../../links.ts'
import { type AdmissionDeps, admissionOfAsk } from '../../people/channel-admission.ts'
import { distrusted, distrustOf } from '../../people/trust.ts'
import type { Roster } from '../../roster.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { AgentTurns, Output } from './agent-turns.ts'

export interface AgentQuestionsDeps extends AdmissionDeps {
  readonly store: Pick<Store, 'turn' | 'turns' | 'session' | 'note'>
  readonly roster: Roster
  readonly links: Links
  readonly dispatcher: Pick<Dispatcher, 'flight' | 'settle'>
  readonly approvals: Pick<Approvals, 'ask'>
  readonly turns: AgentTurns
}

export function createAgentQuestions(agent: string, deps: AgentQuestionsDeps) {
  const { dispatcher } = deps
  const holdsDecisions = () => deps.roster.get(agent)?.connector.holdsDecisions ?? true

  const ask = async (output: Output<'ask'>): Promise<Accepted> => {
    const origin = await originOf(output)
    const flying = output.turn ? dispatcher.flight(output.turn) : null
    if (flying) flying.flight.asked = true
    if (flying && output.turn && !output.guessed) await dispatcher.settle(output.turn, 'seen')
    const host = output.at
    await demandTrust(output)
    const asker = { agent, turn: output.turn ?? null, session: host ? null : output.session }
    const { servers } = await admissionOfAsk({ ...asker, ...defined({ host }) }, deps)
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
   * A host with a dialog of its own asks its person in any case. `check` says that trust limits only our tools there.
   */
  const demandTrust = async ({ session, ...output }: Output<'ask'>) => {
    if (!holdsDecisions()) return
    const turn = output.turn ?? null
    const tool = output.ask.toolName
    const refused = await distrustOf({ agent, turn, session }, { tool, own: false }, deps)
    if (refused === null) return
    const detail = { what: 'refused by trust', tool: tool.slice(0, 200) }
    await deps.store.note([{ kind: 'audit', ref: turn ?? session, detail }])
    throw distrusted(refused)
  }

  /**
   * The origin of the turn. A host that asks on its own account has no chat, so its approvers are asked directly. A
   * guessed turn may concern anything, so its question goes to no group and to no room behind a channel server.
   */
  const originOf = async (output: Output<'ask'>) => {
    if (output.turn === undefined) return null
    const { row, to } = await deps.turns.placeOf(output)
    // An agent that asks after its turn ended has no reader. The person stopped the turn, or already has the answer.
    const over = row !== null && !OPEN_TURN_STATES.some((state) => state === row.state)
    if (over && !output.guessed && holdsDecisions())
      throw new SwitchboardError('conflict', 'this message was answered, or given up, before')
    const direct = row?.body?.chat !== 'group'
    const shared = !direct || deps.links.get(to.integration)?.adapter.channel !== undefined
    return row === null || (output.guessed && shared) ? null : { to, sender: row.sender, direct }
  }

  return { ask }
}
