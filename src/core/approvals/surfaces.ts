// Where an approval is asked: one prompt in each chat of its approvers. When the approval ends, each prompt is edited.
import {
  type Address,
  type ApprovalRow,
  type Ask,
  type Clock,
  everyRow,
  formatAddress,
  type NewSend,
  RELAY_PLACE,
  type Settings,
  type Store,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { canSpeak, type Link, type Links, promptLimitOf } from '../links.ts'
import { approverChats, type GrantList, isApprover, isBound, openedGroups } from '../people/approvers.ts'
import { spokenLately } from '../people/spoken-lately.ts'
import { rowAddress } from '../signals.ts'
import { outcomeText, type PromptPlace, promptOp, retiredText } from './prompt.ts'

/** The turn with the verdict is among the newest. */
const RECENT_TURNS = 50

export interface AskOrder {
  readonly agent: string
  readonly session: string
  readonly turn: string | null
  readonly ask: Ask
  /** Time of the turn's latest hand-over; null when the turn is not in flight here. */
  readonly handedAt: number | null
  /** The request names no chat. Groups are asked only where the configuration opens them for such requests. */
  readonly placeless?: true
  /** The chat and the sender of the turn. `direct`: only the sender is in that chat. */
  readonly origin: { readonly to: Address; readonly sender: string; readonly direct: boolean } | null
  /** The channel servers that may be asked; null: all of the agent's. */
  readonly servers: readonly string[] | null
}

export interface SurfacesDeps {
  readonly store: Pick<Store, 'sends' | 'turns'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly links: Links
  readonly grants: GrantList
}

export interface Surfaces {
  /** Returns the chats that are asked. */
  surfaces(order: AskOrder): Promise<readonly Address[]>
  prompts(id: string, order: AskOrder, chats: readonly Address[], expiresAt: number): readonly NewSend[]
  /**
   * Returns the messages for every chat that was asked: the outcome, or that the verdict waits for its host.
   * Idempotency keys prevent a second display, unless it must be said `again`.
   */
  words(row: ApprovalRow, passedOn: boolean, again?: 'again'): Promise<readonly NewSend[]>
}

export function createSurfaces(deps: SurfacesDeps): Surfaces {
  const { store } = deps

  const chatsOf = async (chat: Address): Promise<readonly Address[]> =>
    deps.links.get(chat.integration)?.adapter.abilities.senderIdIsNotAChat ? spokenLately(deps, chat) : [chat]

  const surfaces = async (order: AskOrder): Promise<readonly Address[]> => {
    const settings = deps.settings()
    const found = new Map<string, Address>()
    const { origin } = order
    if (origin) {
      const who = { integration: origin.to.integration, sender: origin.sender, agent: order.agent }
      if (isApprover(settings, deps.grants, who)) found.set(formatAddress(origin.to), origin.to)
    }
    const direct = await Promise.all(approverChats(settings, deps.grants, order.agent).map(chatsOf))
    for (const chat of direct.flat()) {
      // The chat of origin is enough for a person who asked there.
      if (!isOriginOf(origin, chat) || found.size === 0) found.set(formatAddress(chat), chat)
    }
    if (order.placeless) {
      for (const group of openedGroups(settings, order.agent)) found.set(formatAddress(group), group)
    }
    const chats = [...found.values()].filter((chat) => canAsk(deps.links, chat, origin?.to ?? null))
    return [...chats, ...relayPlaces(settings, deps.links, order)]
  }

  const prompts: Surfaces['prompts'] = (id, order, chats, expiresAt) =>
    chats.map((to) => {
      const link = deps.links.get(to.integration)
      return {
        to,
        platform: link?.platform ?? '',
        op: promptOp(id, order.agent, order.ask, { ...placeOf(link), expiresAt }),
        cause: 'prompt' as const,
        agent: order.agent,
        session: order.session,
        turn: order.turn,
        approval: id,
      }
    })

  /** The display name of the person who decided, from the verdict's own turn. Null: the person has no name there. */
  const nameOf = async ({ decidedBy, decidedVia, createdAt }: ApprovalRow): Promise<string | null> => {
    if (decidedBy === null || decidedVia === null || !deps.links.get(decidedVia)) return null
    const since = { integration: decidedVia, sinceMs: createdAt, limit: RECENT_TURNS }
    const said = (await store.turns(since)).find((turn) => turn.sender === decidedBy && turn.body?.senderName)
    return said?.body?.senderName ?? null
  }

  /** Edits the prompts where the platform can edit. Elsewhere a new line states the outcome. */
  const words: Surfaces['words'] = async (row, passedOn, again) => {
    const how = { passedOn, name: await nameOf(row) }
    const said = row.state === 'decided' ? 'await' : again ? 'retire-again' : 'retire'
    const sends: NewSend[] = []
    // Only prompts since the row's creation count, because ids are reused once they are settled.
    const asked = { approval: row.id, sinceMs: row.createdAt }
    for await (const send of everyRow((page) => store.sends({ ...asked, ...page }))) {
      const link = deps.links.get(send.integration)
      // A channel server cannot learn the outcome. Its own verdict would come too late.
      if (!link || send.op?.kind !== 'prompt' || send.conversation === RELAY_PLACE) continue
      const on = send.platformIds[0]
      const showsAsk = link.adapter.abilities.showsAsk === true
      const text = retiredText(row, how, { ...placeOf(link), showsAsk })
      sends.push({
        to: rowAddress(send),
        platform: send.platform,
        op:
          link.adapter.abilities.edits && on !== undefined
            ? { kind: 'edit', on, text }
            : { kind: 'text', text: outcomeText(wordsIn(), row, how) },
        cause: 'notice',
        agent: row.agent,
        session: row.session,
        turn: row.turn,
        approval: row.id,
        idempotencyKey: `${said}:${row.id}:${send.id}`,
      })
    }
    return sends
  }

  return { surfaces, prompts, words }
}

/** A direct chat may have two names: its own, under which the message came, and the name of its person. */
function isOriginOf(origin: AskOrder['origin'], { integration, conversation }: Address): boolean {
  if (integration !== origin?.to.integration) return false
  return conversation === origin.to.conversation || (origin.direct && conversation === origin.sender)
}

function placeOf(link: Link | undefined): PromptPlace {
  const { buttons = false, showsAsk = false } = link?.adapter.abilities ?? {}
  return { limit: promptLimitOf(link), rest: buttons && !showsAsk ? 'button' : 'command', words: wordsIn() }
}

/**
 * The channel servers that relay permissions, asked with structured requests beside the chats of approvers. The result
 * has one address per server of this agent that is admitted, passes its gates, is connected and relays permissions.
 */
function relayPlaces(
  settings: Settings,
  links: Links,
  { agent, servers }: { readonly agent: string; readonly servers: readonly string[] | null },
): readonly Address[] {
  const isAdmitted = (server: string | undefined) =>
    servers === null || (server !== undefined && servers.includes(server))
  return links
    .all()
    .filter(
      (link) =>
        isBound(settings, agent, link.integration) && link.adapter.channel?.relaysApprovals() === true,
    )
    .filter((link) => isAdmitted(link.adapter.channel?.server))
    .map((link) => ({ integration: link.integration, conversation: RELAY_PLACE }))
}

/**
 * Only the channel server knows the name of an approver's direct chat. Behind a server, approvers are asked only in
 * the chat of origin.
 */
function canAsk(links: Links, chat: Address, origin: Address | null): boolean {
  if (!canSpeak(links, chat.integration)) return false
  if (links.get(chat.integration)?.adapter.channel === undefined) return true
  return origin !== null && formatAddress(chat) === formatAddress(origin)
}
