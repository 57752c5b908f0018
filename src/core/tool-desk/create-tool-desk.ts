// The tool desk: what an agent's tools do, whoever carries the call. Everything that leaves goes through the outlet.
import {
  asSwitchboardError,
  type Clock,
  formatAddress,
  integrationById,
  isResting,
  type NewSend,
  type SendResult,
  type SendRow,
  type Settings,
  type Store,
  SwitchboardError,
  type ToolCaller,
  type ToolDesk,
  type ToolOutcome,
  type TurnRow,
} from '../../contract/index.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { compose, type SplitText } from '../outbound/compose.ts'
import type { Links } from '../outbound/links.ts'
import type { Notifier } from '../outbound/notify.ts'
import type { Outlet } from '../outbound/outlet.ts'
import { refusedResult, resultOf, sendMessageText } from '../outbound/send-result.ts'
import type { Sender } from '../outbound/sender.ts'
import { chooseIntegration } from '../outbound/targets.ts'
import { createChannelTools } from './channel-tools.ts'
import { createKeptFiles, type SendableFiles, withFiles } from './kept-files.ts'
import { createOwnChats } from './own-chats.ts'
import { createReadingTools } from './reading-tools.ts'

export interface ToolDeskDeps {
  readonly store: Store
  readonly clock: Clock
  readonly random: Parameters<typeof compose>[2]['random']
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Outlet
  readonly notifier: Notifier
  readonly sender: Pick<Sender, 'settled'>
  readonly dispatcher: Pick<Dispatcher, 'acknowledge' | 'flight' | 'settle' | 'wasLost'>
  readonly split: SplitText
  /** Reads files that hosts of this machine attach; absent: there are none. */
  readonly files?: SendableFiles
}

const MAX_RESULT_CHARS = 1024

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
    const open = {
      agent: caller.agent,
      ...(caller.session === null ? {} : { session: caller.session }),
      states: ['handed', 'seen'] as const,
      oldestFirst: true,
      limit: 200,
    }
    // What was acknowledged is answered by a reply that is about nothing else.
    const flying = (await store.turns({ ...open, resting: false })).find(isMeant)
    return flying ?? (await store.turns(open)).find((turn) => isResting(turn) && isMeant(turn)) ?? null
  }

  /** A turn may be in flight at another node than the one that its agent calls, and one that rests is so nowhere. */
  const isAnswerable = (turn: TurnRow) =>
    store.shared || isResting(turn) || deps.dispatcher.flight(turn.id) !== null

  /** The reply and the turn that it answers are one commit. */
  const answer = async (
    turn: TurnRow | null,
    sends: readonly NewSend[],
    text: string,
  ): Promise<readonly (SendRow | null)[]> => {
    const found = turn && deps.dispatcher.flight(turn.id)
    if (turn && isAnswerable(turn)) {
      if (found) found.flight.said = true
      const settled = await deps.dispatcher.settle(turn.id, 'answered', { sends, text })
      if (settled.ok) return confirmed(settled.ids)
    }
    return confirmed((await store.enqueue(sends)).map((one) => one.id))
  }

  const confirmed = (ids: readonly string[]): Promise<readonly (SendRow | null)[]> => {
    const waitMs = settings().tunables.toolWaitMs
    return Promise.all(ids.map((id) => deps.sender.settled(id, waitMs)))
  }

  const one = async (send: NewSend, done: string): Promise<ToolOutcome> => {
    const result = resultOf(await confirmed((await store.enqueue([send])).map((row) => row.id)))
    return outcome(result, result.status === 'sent' ? done : replyText(result))
  }

  const shown = (caller: ToolCaller, to: NewSend['to'], op: NewSend['op']): NewSend => ({
    to,
    platform: outlet.running(to.integration).platform,
    op,
    cause: 'reply',
    agent: caller.agent,
    session: caller.session,
    turn: caller.turn,
    ...(caller.idempotencyKey === null ? {} : { idempotencyKey: caller.idempotencyKey }),
  })

  /** A message of this agent's own in that conversation. */
  const ownMessage = async (caller: ToolCaller, to: NewSend['to'], id: string): Promise<SendRow> => {
    const sends = await store.sends({ agent: caller.agent, integration: to.integration, limit: 1_000 })
    const found = sends.find((row) => row.conversation === to.conversation && row.platformIds.includes(id))
    if (!found) throw new SwitchboardError('not_found', `message_id "${id}" is not a message of yours`)
    return found
  }

  return {
    ...createReadingTools(deps, chats),
    ...createChannelTools(deps),

    sendMessage: (caller, input) =>
      told(async () => {
        const result = await outlet.sendMessage(caller, input)
        return outcome(result, sendMessageText(result, `${input.platform}:${input.target}`))
      }),

    notifyUser: (caller, input) =>
      told(async () => {
        const { result, channel, text } = await deps.notifier.notify(caller, input)
        return outcome(result, text, { channel })
      }),

    reply: (caller, input) =>
      told(async () => {
        if (input.text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
        if (caller.turn !== null && deps.dispatcher.wasLost(caller.turn))
          throw new SwitchboardError('conflict', 'this message was handed to another host meanwhile')
        const { at, by } = await chats.open(caller, input.chatId)
        const link = outlet.running(at.integration)
        if (by === 'allowed') {
          const { platform, integration } = link
          chooseIntegration(settings(), { platform, agent: caller.agent, named: integration, own: null })
        }
        const replyTo =
          input.replyTo === undefined ? undefined : await chats.messageId(caller, at, input.replyTo)
        const turn = by === 'own' ? await answered(caller, formatAddress(at), replyTo) : null
        const files = await kept(caller, link, input.files ?? [])
        const saying = compose(
          {
            to: at,
            platform: link.platform,
            text: input.text,
            ...(input.plain ? { plain: true } : {}),
            cause: by === 'own' ? 'reply' : 'send_message',
            agent: caller.agent,
            session: turn?.session ?? caller.session,
            turn: turn?.id ?? caller.turn,
            ...(replyTo === undefined ? {} : { replyTo }),
            replyToMode: integrationById(settings(), at.integration)?.replyToMode ?? 'first',
            ...(caller.idempotencyKey === null ? {} : { idempotencyKey: caller.idempotencyKey }),
          },
          outlet.limitOf(link),
          deps,
        )
        const rows = await answer(turn, withFiles(saying, files, deps.random), input.text)
        const result = resultOf(rows)
        return outcome(result, result.ok ? replyText(result) : brokenText(result, rows))
      }),

    react: (caller, input) =>
      told(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'reactions')
        const on = await chats.messageId(caller, to, input.messageId)
        return one(shown(caller, to, { kind: 'react', on, emoji: input.emoji }), 'reacted')
      }),

    editMessage: (caller, input) =>
      told(async () => {
        const to = await chats.mine(caller, input.chatId)
        able(deps.links, to.integration, 'edits')
        await ownMessage(caller, to, input.messageId)
        const plain = input.plain ? ({ plain: true } as const) : {}
        const op = { kind: 'edit', on: input.messageId, text: input.text, ...plain } as const
        return one(shown(caller, to, op), `edited (id: ${input.messageId})`)
      }),

    ack: (caller, input) =>
      told(async () => {
        const open = await store.turns({
          agent: caller.agent,
          ...(caller.session === null ? {} : { session: caller.session }),
          states: ['handed', 'seen'],
          limit: 1_000,
        })
        const turn = open.find((row) => row.messageId === input.messageId || row.id === input.messageId)
        if (!turn)
          throw new SwitchboardError('not_found', `message_id "${input.messageId}" does not wait for you`)
        await deps.dispatcher.acknowledge(turn)
        return { text: 'acknowledged', isError: false, structured: { ok: true, turn: turn.id } }
      }),
  }
}

/** What the caller did wrong, and what is not there, is an outcome; a bug is thrown on. */
async function told(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work()
  } catch (thrown) {
    const error = asSwitchboardError(thrown)
    if (error.code === 'internal') throw error
    return outcome(refusedResult(error), error.message)
  }
}

function outcome(
  result: SendResult,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): ToolOutcome {
  const short = text.length > MAX_RESULT_CHARS ? `${text.slice(0, MAX_RESULT_CHARS - 1)}…` : text
  return { text: short, isError: !result.ok, structured: { ...result, ...more } }
}

/** In the form of the official plugins. */
function replyText(result: SendResult): string {
  const ids = result.platform_ids
  switch (result.status) {
    case 'sent':
      return ids.length > 1
        ? `sent ${ids.length} parts (ids: ${ids.join(', ')})`
        : `sent (id: ${ids[0] ?? '-'})`
    case 'queued':
      return `queued: not confirmed yet, still trying (${result.outbox_id})`
    case 'deduplicated':
      return 'not sent again (deduplicated)'
    case 'failed':
      return result.error ?? 'it could not be sent'
  }
}

/** How far a reply came before it broke, in the form of the official plugins. */
function brokenText(result: SendResult, rows: readonly (SendRow | null)[]): string {
  const sent = rows.filter((row) => row?.state === 'sent').length
  return `reply failed: reply failed after ${sent} of ${rows.length} chunk(s) sent: ${result.error}`
}

function able(links: Links, integration: string, what: 'reactions' | 'edits'): void {
  if (links.get(integration)?.adapter.abilities[what]) return
  throw new SwitchboardError('execution_failed', `integration "${integration}" has no ${what}`)
}
