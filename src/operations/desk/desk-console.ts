// What the console does that no other surface did before: many sends at once, the users in force, and a word to any agent as
// the operator.
import {
  address,
  asSwitchboardError,
  type Clock,
  type Desk,
  formatAddress,
  type OperatedSend,
  type Random,
  SwitchboardError,
  type UserSettings,
} from '../../contract/index.ts'
import type { Gateway } from '../../gateway/gateway.ts'

export interface DeskConsoleDeps {
  readonly gateway: Pick<Gateway, 'intake'>
  readonly clock: Clock
  readonly random: Random
  readonly users: () => readonly UserSettings[]
  readonly desk: Pick<Desk, 'operateSend' | 'integrations' | 'addIntegration' | 'status'>
}

/** Its own integration for each agent that was tried: a web chat that only the console opens. */
const TRY_PREFIX = 'try-'

export function createDeskConsole(deps: DeskConsoleDeps): Pick<Desk, 'operateSends' | 'users' | 'tryAgent'> {
  const { desk } = deps

  const operateOne = async (id: string, verb: 'retry' | 'bury', by: string): Promise<OperatedSend> => {
    try {
      const { state } = await desk.operateSend(id, verb, by)
      return { id, ok: true, state, problem: null }
    } catch (thrown) {
      return { id, ok: false, state: null, problem: asSwitchboardError(thrown).message }
    }
  }

  return {
    async operateSends(ids, verb, by) {
      const told: OperatedSend[] = []
      // One after another: they share lanes, and the order of what is sent again is that of the list.
      for (const id of new Set(ids)) told.push(await operateOne(id, verb, by))
      return told
    },
    users: async () =>
      deps.users().map(({ id, roles, identities, notifyTo }) => ({
        ...{ id, roles, identities, notify_to: notifyTo },
      })),
    async tryAgent(agent, { text, idempotency_key: key }, by) {
      if (text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
      const known = (await desk.status({ problems: false })).agents.map((one) => one.id)
      if (!known.includes(agent))
        throw new SwitchboardError('not_found', `there is no agent "${agent}"`, {
          hint: `agents: ${known.join(', ')}`,
        })
      const id = `${TRY_PREFIX}${agent}`
      const own = (await desk.integrations()).find((one) => one.id === id)
      if (own !== undefined && own.platform !== 'web')
        throw new SwitchboardError('conflict', `"${id}" is an integration of your own`)
      if (own === undefined) await desk.addIntegration({ id, platform: 'web' }, { agent }, by)
      const [received] = await deps.gateway.intake.of(id).receive([
        {
          kind: 'message',
          ...{ conversation: by, chat: 'direct', sender: { id: by, name: by }, at: deps.clock.now() },
          ...{ text, messageId: `try-${key ?? deps.random.uuid()}`, mentioned: true },
        },
      ])
      if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no result')
      return {
        turn: received.id,
        address: formatAddress(address(id, by)),
        state: received.state,
        reason: received.reason,
      }
    },
  }
}
