// The tool desk: what an agent's tools do, whoever carries the call. Everything that leaves goes through the outlet.
import {
  type Address,
  defined,
  everyRow,
  formatAddress,
  integrationById,
  isResting,
  type NewSend,
  parseAddress,
  type SendRow,
  type Settings,
  type Store,
  SwitchboardError,
  type ToolCaller,
  type ToolDesk,
  type ToolOutcome,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { Roster } from '../dispatch/roster.ts'
import { isOneWay, type Links } from '../outbound/links.ts'
import type { Notifier } from '../outbound/notify.ts'
import type { Outlet, Posted } from '../outbound/outlet.ts'
import { sendMessage } from '../outbound/send-message.ts'
import { heldRefusal, replyText, sendMessageText, sentText } from '../outbound/send-result.ts'
import { chooseIntegration } from '../outbound/targets.ts'
import type { AskForPerson } from '../takeover/ask-for-person.ts'
import { createChannelTools } from './channel-tools.ts'
import { createHandoffTool } from './handoff-tool.ts'
import { createKeptFiles, type SendableFiles } from './kept-files.ts'
import { createOwnChats } from './own-chats.ts'
import { createReadingTools } from './reading-tools.ts'
import { sendOutcome, toolOutcome } from './tool-outcome.ts'

/** How many of its own messages in a chat an agent's edit is looked for among: told where it ends there. */
const LOOKED_BACK = 50_000
/** How many turns of a chat are looked at for the last one that was handed over. */
const LATELY = 100

export interface ToolDeskDeps {
  readonly store: Store
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Outlet
  readonly notifier: Notifier
  readonly dispatcher: Pick<Dispatcher, 'acknowledge' | 'flight' | 'wasLost'>
  readonly roster: Pick<Roster, 'get'>
  /** Reads files that hosts of this machine attach; absent: there are none. */
  readonly files?: SendableFiles
  /** Absent: nobody can be asked to take over. */
  readonly askForPerson?: AskForPerson
}

export function createToolDesk(deps: ToolDeskDeps): ToolDesk {
  const { store, settings, outlet } = deps
  const chats = createOwnChats(deps)
  const kept = createKeptFiles(deps.files)

  /** The open turn that a reply in this chat answers: the one in work, the one that is quoted, else the oldest. */
  const answered = async (
    caller: ToolCaller,
    address: string,
    replyTo: string | undefined,
  ): Promise<TurnRow | null> => {
    const isOpen = (turn: TurnRow | null) => turn?.state === 'handed' || turn?.state === 'seen'
    const isMeant = (turn: TurnRow) =>
      turn.address === address &&
      (caller.turn !== null || replyTo === undefined || turn.messageId === replyTo) &&
      isAnswerable(turn)
    // Where the carrier knows the turn no other is answered: a second reply, or the same one again after a crash, is not
    // an answer to whoever wrote next.
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
    // Newest first: the last of them is the oldest.
    for await (const turn of everyRow((page) => store.turns({ ...open, ...page }))) {
      if (!isMeant(turn)) continue
      if (isResting(turn)) resting = turn
      else flying = turn
    }
    // What was acknowledged is answered by a reply that is about nothing else.
    return flying ?? resting
  }

  /** A turn may be in flight at another node than the one that its agent calls, and one that rests is so nowhere. */
  const isAnswerable = (turn: TurnRow) =>
    store.shared || isResting(turn) || deps.dispatcher.flight(turn.id) !== null

  /**
   * The reply and the turn that it answers are one commit, and the turn has one answer: a host that holds a turn has not
   * answered it, so when the row says that it is, another host did.
   */
  const answer = async (
    caller: ToolCaller,
    turn: TurnRow | null,
    sends: readonly NewSend[],
    text: string,
  ): Promise<Posted> => {
    const about = turn?.id ?? (await answeredByAnother(caller, sends))
    const ids = about && (await outlet.put(sends, { turn: about, ...replied(caller), text, sole: true }))
    if (ids) return outlet.confirmed(ids)
    const [first] = sends
    if (about && first) await refuseHeld(first.to, about)
    if (about && caller.host)
      throw new SwitchboardError('conflict', 'this message was answered by another host')
    return outlet.post(sends)
  }

  /** Where the connector hears of the end itself a reply is none: what runs on can still be stopped, and ask. */
  const replied = ({ agent }: ToolCaller) =>
    deps.roster.get(agent)?.connector.endsTurns
      ? ({ to: 'seen', reason: 'replied' } as const)
      : ({ to: 'answered' } as const)

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

  /** The turn that a host holds, and that is answered. */
  const answeredByAnother = async ({ agent, turn, host }: ToolCaller, [first]: readonly NewSend[]) => {
    if (!host || turn === null || first?.turn !== turn || first.cause !== 'reply') return null
    const row = await store.turn(turn)
    const isHere = row?.agent === agent && row.address === formatAddress(first.to)
    return isHere && row.state === 'answered' ? row.id : null
  }

  /** Nothing can be said there. The agent answered all the same: the turn ends, and `notify_on` tells its words. */
  const unheard = async (
    caller: ToolCaller,
    at: Address,
    by: 'own' | 'allowed',
    { text, replyTo }: Parameters<ToolDesk['reply']>[1],
  ): Promise<ToolOutcome> => {
    const quoted = replyTo === undefined ? undefined : await chats.messageId(caller, at, replyTo)
    const turn = by === 'own' ? await answered(caller, formatAddress(at), quoted) : null
    const how = replied(caller)
    const settled = turn && (await outlet.put([], { turn: turn.id, ...how, text }))
    const ended = settled && how.to === 'answered' ? ' The message counts as answered.' : ''
    throw new SwitchboardError(
      'execution_failed',
      `Nothing was sent: integration "${at.integration}" is one-way, nobody hears a reply there.${ended} Use send_message or notify_user to tell somebody.`,
    )
  }

  const one = async (send: NewSend, done: string): Promise<ToolOutcome> => {
    const { result } = await outlet.post([send])
    return sendOutcome(result, sentText(result, done))
  }

  const shown = (caller: ToolCaller, to: NewSend['to'], op: NewSend['op']): NewSend => ({
    to,
    platform: outlet.running(to.integration).platform,
    op,
    cause: 'reply',
    agent: caller.agent,
    session: caller.session,
    turn: caller.turn,
    ...withoutNulls({ idempotencyKey: caller.idempotencyKey }),
  })

  /** A message of this agent's own in that conversation. */
  const ownMessage = async (caller: ToolCaller, to: NewSend['to'], id: string): Promise<SendRow> => {
    const { integration, conversation } = to
    const mine = { agent: caller.agent, integration, conversation }
    let looked = 0
    for await (const row of everyRow((page) => store.sends({ ...mine, ...page }))) {
      if (row.platformIds.includes(id)) return row
      if (++looked < LOOKED_BACK) continue
      throw new SwitchboardError(
        'not_found',
        `message_id "${id}" is not among your latest ${LOOKED_BACK} messages there`,
      )
    }
    throw new SwitchboardError('not_found', `message_id "${id}" is not a message of yours`)
  }

  /** The open turn of that message, or of that id. */
  const waiting = async (caller: ToolCaller, id: string): Promise<TurnRow | null> => {
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

  return {
    ...createReadingTools(deps, chats),
    ...createChannelTools(deps),
    ...createHandoffTool(deps, chats),

    sendMessage: (caller, input) =>
      toolOutcome(async () => {
        const result = await sendMessage(deps, caller, input)
        return sendOutcome(result, sendMessageText(result, `${input.platform}:${input.target}`))
      }),

    notifyUser: (caller, input) =>
      toolOutcome(async () => {
        const { result, channel, text } = await deps.notifier.notify(caller, input)
        return sendOutcome(result, text, { channel })
      }),

    reply: (caller, input) =>
      toolOutcome(async () => {
        if (input.text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
        if (caller.turn !== null && deps.dispatcher.wasLost(caller.turn)) await refuseLost(caller.turn)
        const { at, by } = await chats.open(caller, input.chatId)
        if (isOneWay(deps.links, at.integration)) return unheard(caller, at, by, input)
        const link = outlet.running(at.integration)
        if (by === 'allowed') {
          const { platform, integration } = link
          chooseIntegration(settings(), { platform, agent: caller.agent, named: integration, own: null })
        }
        const replyTo =
          input.replyTo === undefined ? undefined : await chats.messageId(caller, at, input.replyTo)
        const turn = by === 'own' ? await answered(caller, formatAddress(at), replyTo) : null
        if (by === 'own' && turn === null && caller.turn === null) await refuseLate(caller, at)
        const files = await kept(caller, link, input.files ?? [])
        const sends = outlet.rows({
          to: at,
          text: input.text,
          ...(input.plain ? { plain: true } : {}),
          files,
          cause: by === 'own' ? 'reply' : 'send_message',
          agent: caller.agent,
          session: turn?.session ?? caller.session,
          turn: turn?.id ?? caller.turn,
          ...defined({ replyTo }),
          replyToMode: integrationById(settings(), at.integration)?.replyToMode ?? 'first',
          ...withoutNulls({ idempotencyKey: caller.idempotencyKey }),
        })
        const { result, rows } = await answer(caller, turn, sends, input.text)
        return sendOutcome(result, replyText(result, rows))
      }),

    react: (caller, input) =>
      toolOutcome(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'reactions')
        const on = await chats.messageId(caller, to, input.messageId)
        return one(shown(caller, to, { kind: 'react', on, emoji: input.emoji }), 'reacted')
      }),

    editMessage: (caller, input) =>
      toolOutcome(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'edits')
        await ownMessage(caller, to, input.messageId)
        const plain = input.plain ? ({ plain: true } as const) : {}
        const op = { kind: 'edit', on: input.messageId, text: input.text, ...plain } as const
        return one(shown(caller, to, op), `edited (id: ${input.messageId})`)
      }),

    ack: (caller, input) =>
      toolOutcome(async () => {
        const turn = await waiting(caller, input.messageId)
        if (!turn)
          throw new SwitchboardError('not_found', `message_id "${input.messageId}" does not wait for you`)
        await deps.dispatcher.acknowledge(turn)
        return { text: 'acknowledged', isError: false, structured: { ok: true, turn: turn.id } }
      }),
  }
}

function able(links: Links, integration: string, what: 'reactions' | 'edits'): void {
  if (links.get(integration)?.adapter.abilities[what]) return
  throw new SwitchboardError('execution_failed', `integration "${integration}" has no ${what}`)
}
