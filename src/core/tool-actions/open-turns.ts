// Finds the open turn that an agent means when it replies in a chat or acknowledges a message.
import {
  everyRow,
  isResting,
  parseAddress,
  type StoreBesideOutlet,
  type ToolCaller,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'

export interface OpenTurns {
  /** Returns the turn that a reply in this chat answers: the current one, the quoted one, else the oldest. */
  answered(caller: ToolCaller, address: string, replyTo: string | undefined): Promise<TurnRow | null>
  /** Returns the open turn with that message id or turn id. */
  waiting(caller: ToolCaller, id: string): Promise<TurnRow | null>
}

export function createOpenTurns(deps: {
  readonly store: StoreBesideOutlet
  readonly dispatcher: Pick<Dispatcher, 'flight'>
}): OpenTurns {
  const { store } = deps

  /** A turn may be in flight at another node than the one its agent calls. A resting turn is in flight nowhere. */
  const isAnswerable = (turn: TurnRow) =>
    store.shared || isResting(turn) || deps.dispatcher.flight(turn.id) !== null

  const answered: OpenTurns['answered'] = async (caller, address, replyTo) => {
    const isOpen = (turn: TurnRow | null) => turn?.state === 'handed' || turn?.state === 'seen'
    const isMeant = (turn: TurnRow) =>
      turn.address === address &&
      (caller.turn !== null || replyTo === undefined || turn.messageId === replyTo) &&
      isAnswerable(turn)
    // If the carrier knows the turn, only that turn is answered. A second reply, or a repeat after a crash, must not
    // answer the next sender.
    if (caller.turn !== null) {
      const known = await store.turn(caller.turn)
      const isOwn = known?.agent === caller.agent && [null, known.session].includes(caller.session)
      return isOwn && isOpen(known) && isMeant(known) ? known : null
    }
    const { integration, conversation } = parseAddress(address)
    const open = {
      agent: caller.agent,
      ...withoutNulls({ session: caller.session }),
      ...{ integration, conversation },
      states: ['handed', 'seen'] as const,
    }
    let flying: TurnRow | null = null
    let resting: TurnRow | null = null
    // Newest first, so the last match is the oldest.
    for await (const turn of everyRow((page) => store.turns({ ...open, ...page }))) {
      if (!isMeant(turn)) continue
      if (isResting(turn)) resting = turn
      else flying = turn
    }
    // An acknowledged turn is answered by a reply that matches no other turn.
    return flying ?? resting
  }

  const waiting: OpenTurns['waiting'] = async (caller, id) => {
    const known = await store.turn(id)
    const isOwn = known?.agent === caller.agent && [null, known.session].includes(caller.session)
    if (isOwn && (known.state === 'handed' || known.state === 'seen')) return known
    const [found] = await store.turns({
      agent: caller.agent,
      ...withoutNulls({ session: caller.session }),
      states: ['handed', 'seen'],
      messageId: id,
      limit: 1,
    })
    return found ?? null
  }

  return { answered, waiting }
}
