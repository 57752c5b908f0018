// Which conversations belong to an agent: the place of its turn, the place of its session, or, for an agent-wide
// credential, the place of any of its sessions. No argument can redirect a reply elsewhere.
import {
  type Address,
  defined,
  everyRow,
  formatAddress,
  integrationById,
  parseAddress,
  SCHEDULE_PLACE,
  type Settings,
  type Store,
  SwitchboardError,
  type ToolCaller,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'
import { allowedTargets, denial, isAllowedTarget } from '../people/targets.ts'

export interface OwnChats {
  /**
   * Returns the address if it is the caller's own. `allowed`: it is not, but the agent may send there. Throws
   * otherwise.
   */
  open(caller: ToolCaller, chatId: string): Promise<{ readonly at: Address; readonly by: 'own' | 'allowed' }>
  /** The same without the allowlist, for reading and for changing shown messages. */
  mine(caller: ToolCaller, chatId: string): Promise<Address>
  /** Returns the platform's id of a message. A turn's id stands for its message. */
  messageId(caller: ToolCaller, at: Address, id: string): Promise<string>
}

export function createOwnChats(deps: {
  readonly store: Pick<Store, 'turn' | 'turns' | 'session' | 'sessionAt'>
  readonly settings: () => Settings
}): OwnChats {
  const { store, settings } = deps

  const isOwn = async (caller: ToolCaller, at: Address): Promise<boolean> => {
    const wanted = formatAddress(at)
    const turn = caller.turn === null ? null : await store.turn(caller.turn)
    if (turn && belongs(caller, turn) && turn.address === wanted) return true
    if (caller.session !== null) {
      const session = await store.session(caller.session)
      if (session?.agent === caller.agent && session.address === wanted) return true
    } else if ((await store.sessionAt(caller.agent, at)) !== null) return true
    return spokeThere(caller, wanted, at)
  }

  /** A caller with a session token knows its session's id, and no address. */
  const named = async (caller: ToolCaller, chatId: string): Promise<Address> => {
    if (caller.session === null || chatId !== caller.session) return parseAddress(chatId)
    const turn = caller.turn === null ? null : await store.turn(caller.turn)
    if (turn && belongs(caller, turn)) return parseAddress(turn.address)
    const session = await store.session(caller.session)
    if (session?.agent === caller.agent) return parseAddress(session.address)
    throw new SwitchboardError('not_found', `session "${chatId.slice(0, 200)}" is not one of yours`)
  }

  /** A claim leads messages of a chat to a session elsewhere. That session may answer in the chat of the message. */
  const spokeThere = async (caller: ToolCaller, wanted: string, at: Address): Promise<boolean> => {
    const there = {
      agent: caller.agent,
      integration: at.integration,
      conversation: at.conversation,
      ...defined({ thread: at.thread }),
      ...withoutNulls({ session: caller.session }),
      states: ['handed', 'seen', 'answered'] as const,
    }
    for await (const turn of everyRow((page) => store.turns({ ...there, ...page })))
      if (turn.address === wanted) return true
    return false
  }

  return {
    async open(caller, chatId) {
      const at = await named(caller, chatId)
      if (at.integration === SCHEDULE_PLACE) {
        throw new SwitchboardError(
          'execution_failed',
          'This turn was started by a schedule: nobody is in its chat. Use send_message or notify_user.',
        )
      }
      if (await isOwn(caller, at)) return { at, by: 'own' }
      const platform = integrationById(settings(), at.integration)?.platform ?? at.integration
      const entries = allowedTargets(settings(), caller.agent)
      if (!isAllowedTarget(entries, platform, at.conversation))
        throw denial(entries, platform, at.conversation)
      return { at, by: 'allowed' }
    },
    async mine(caller, chatId) {
      const at = await named(caller, chatId)
      if (await isOwn(caller, at)) return at
      throw new SwitchboardError('not_found', `chat_id "${chatId.slice(0, 200)}" is not a chat of yours`)
    },
    async messageId(caller, at, id) {
      const turn = await store.turn(id)
      return turn && belongs(caller, turn) && turn.address === formatAddress(at) ? turn.messageId : id
    },
  }
}

function belongs(caller: ToolCaller, turn: TurnRow): boolean {
  return turn.agent === caller.agent && (caller.session === null || turn.session === caller.session)
}
