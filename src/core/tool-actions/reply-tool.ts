// The tool `reply`: one commit with an answer in a chat of the agent's own and the turn that it answers.
import {
  type Address,
  defined,
  FILE_IN_REPLY,
  formatAddress,
  integrationById,
  type NewSend,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
  type TurnRow,
  withoutNulls,
} from '../../contract/index.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { SettleOptions } from '../dispatch/settling.ts'
import { checkPlace, isOneWay, type Links } from '../links.ts'
import type { Outlet, Posted } from '../outbound/outlet.ts'
import { replyText, unheardReply } from '../outbound/send-result.ts'
import { chooseIntegration } from '../people/targets.ts'
import { distrusted, distrustOf } from '../people/trust.ts'
import type { Roster } from '../roster.ts'
import { createKeptFiles, type SendableFiles } from './kept-files.ts'
import type { OpenTurns } from './open-turns.ts'
import type { OwnChats } from './own-chats.ts'
import { createReplyRefusals } from './reply-refusals.ts'
import { sendOutcome, toolOutcome } from './tool-outcome.ts'

export interface ReplyToolDeps {
  readonly store: StoreBesideOutlet
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Outlet
  readonly dispatcher: Pick<Dispatcher, 'settle' | 'wasLost'>
  readonly roster: Pick<Roster, 'get'>
  /** Reads files that hosts of this machine attach; absent: none. */
  readonly files?: SendableFiles
}

export function createReplyTool(
  deps: ReplyToolDeps,
  chats: OwnChats,
  turns: OpenTurns,
): Pick<ToolActions, 'reply'> {
  const { store, settings, outlet } = deps
  const kept = createKeptFiles(deps.files)
  const { refuseHeld, refuseLost, refuseLate } = createReplyRefusals(store)

  /**
   * The reply and its turn are one commit, and a turn has one answer. A host that holds a turn has not answered it. If
   * its row says answered, another host did.
   */
  const answer = async (
    caller: ToolCaller,
    turn: TurnRow | null,
    sends: readonly NewSend[],
    text: string,
  ): Promise<Posted> => {
    const about = turn?.id ?? (await answeredByAnother(caller, sends))
    const settled = about === null ? null : await settle(caller, about, { sends, text, sole: true })
    if (settled?.ok) return outlet.confirmed(settled.ids)
    const [first] = sends
    if (about && first) await refuseHeld(first.to, about)
    if (about && caller.host)
      throw new SwitchboardError('conflict', 'this message was answered by another host')
    return outlet.post(sends)
  }

  /**
   * Where the connector itself reports the end, a reply does not end the turn. Running work can still be stopped, and
   * can still ask.
   */
  const replied = ({ agent }: ToolCaller) =>
    deps.roster.get(agent)?.connector.endsTurns
      ? ({ to: 'seen', reason: 'replied' } as const)
      : ({ to: 'answered' } as const)

  const settle = (caller: ToolCaller, turn: string, options: SettleOptions) => {
    const { to, ...reason } = replied(caller)
    return deps.dispatcher.settle(turn, to, { ...options, said: true, ...reason })
  }

  /** The answered turn that a host still holds. */
  const answeredByAnother = async ({ agent, turn, host }: ToolCaller, [first]: readonly NewSend[]) => {
    if (!host || turn === null || first?.turn !== turn || first.cause !== 'reply') return null
    const row = await store.turn(turn)
    const isHere = row?.agent === agent && row.address === formatAddress(first.to)
    return isHere && row.state === 'answered' ? row.id : null
  }

  /** A reply elsewhere than to the origin of the call is an ordinary message, not an answer, so it needs trust. */
  const demandTrust = async (
    caller: ToolCaller,
    at: Address,
    by: 'own' | 'allowed',
    turn: TurnRow | null,
  ) => {
    if (by === 'own') {
      const open = caller.session === null ? (caller.host?.open ?? []) : []
      if (turn !== null || open.length === 0) return
      const address = formatAddress(at)
      for (const id of open) if ((await store.turn(id))?.address === address) return
    }
    await demand(caller, 'a reply to another conversation')
  }

  const demand = async (caller: ToolCaller, tool: string) => {
    const refused = await distrustOf(caller, { tool, own: true }, deps)
    if (refused !== null) throw distrusted(refused)
  }

  /** The place takes no messages. The agent answered nevertheless: the turn ends, and `notify_on` sends its text. */
  const unheard = async (
    caller: ToolCaller,
    at: Address,
    by: 'own' | 'allowed',
    { text, replyTo }: Parameters<ToolActions['reply']>[1],
  ): Promise<ToolOutcome> => {
    const quoted = replyTo === undefined ? undefined : await chats.messageId(caller, at, replyTo)
    const turn = by === 'own' ? await turns.answered(caller, formatAddress(at), quoted) : null
    const settled = turn && (await settle(caller, turn.id, { text }))
    const isAnswered = settled?.ok === true && replied(caller).to === 'answered'
    throw unheardReply(at.integration, isAnswered)
  }

  return {
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
          await outlet.demandSomebody(at)
        }
        const replyTo =
          input.replyTo === undefined ? undefined : await chats.messageId(caller, at, input.replyTo)
        const turn = by === 'own' ? await turns.answered(caller, formatAddress(at), replyTo) : null
        if (by === 'own' && turn === null && caller.turn === null) await refuseLate(caller, at)
        await demandTrust(caller, at, by, turn)
        if (input.files?.length) await demand(caller, FILE_IN_REPLY)
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
        await checkPlace(link, at, by === 'own' ? 'reply' : 'send_message')
        const { result, rows } = await answer(caller, turn, sends, input.text)
        return sendOutcome(result, replyText(result, rows))
      }),
  }
}
