// Where an approval is asked, and how it is retired there: the chats of its approvers, one prompt each, edited when it ends.
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
import { canSpeak, type Link, type Links, promptLimitOf } from '../outbound/links.ts'
import { approverChats, type GrantBook, isApprover, isBound, openedGroups } from '../people/approvers.ts'
import { spokenLately } from '../people/spoken-lately.ts'
import { rowAddress } from '../signals.ts'
import { outcomeText, type PromptPlace, promptOp, retiredText } from './prompt.ts'

/** The verdict is among the newest. */
const RECENT_TURNS = 50

export interface AskOrder {
  readonly agent: string
  readonly session: string
  readonly turn: string | null
  readonly ask: Ask
  /** When the turn was handed over for the last time; null when it is not in flight here. */
  readonly handedAt: number | null
  /** The request names no chat: groups are asked only where the configuration opens them for such. */
  readonly placeless?: true
  /** Where the turn came from, and who sent it; `direct`: nobody else is in that chat. */
  readonly origin: { readonly to: Address; readonly sender: string; readonly direct: boolean } | null
  /** The channel servers that may be asked; null: all of the agent's. */
  readonly servers: readonly string[] | null
}

export interface SurfacesDeps {
  readonly store: Pick<Store, 'sends' | 'turns'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly links: Links
  readonly grants: GrantBook
}

export interface Surfaces {
  /** The chats that are asked. */
  surfaces(order: AskOrder): Promise<readonly Address[]>
  prompts(id: string, order: AskOrder, chats: readonly Address[], expiresAt: number): readonly NewSend[]
  /**
   * What every chat that was asked is told: how it ended, or that a verdict waits for its host. Said twice it shows nothing
   * twice, unless it must be said `again`.
   */
  words(row: ApprovalRow, passedOn: boolean, again?: 'again'): Promise<readonly NewSend[]>
}

export function createSurfaces(deps: SurfacesDeps): Surfaces {
  const { store } = deps

  const chatsOf = async (chat: Address): Promise<readonly Address[]> =>
    deps.links.get(chat.integration)?.adapter.abilities.sendersAreNoChats ? spokenLately(deps, chat) : [chat]

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
      // The chat where it was asked is enough for the one who asked.
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

  /** What whoever decided calls himself where he did, by the verdict's own row; null: he has no name there. */
  const nameOf = async ({ decidedBy, decidedVia, createdAt }: ApprovalRow): Promise<string | null> => {
    if (decidedBy === null || decidedVia === null || !deps.links.get(decidedVia)) return null
    const since = { integration: decidedVia, sinceMs: createdAt, limit: RECENT_TURNS }
    const said = (await store.turns(since)).find((turn) => turn.sender === decidedBy && turn.body?.senderName)
    return said?.body?.senderName ?? null
  }

  /** Edits the prompts where the platform can; elsewhere a line says how it ended. */
  const words: Surfaces['words'] = async (row, passedOn, again) => {
    const how = { passedOn, name: await nameOf(row) }
    const said = row.state === 'decided' ? 'await' : again ? 'retire-again' : 'retire'
    const sends: NewSend[] = []
    // Since then: ids are used again once they are settled.
    const asked = { approval: row.id, sinceMs: row.createdAt }
    for await (const send of everyRow((page) => store.sends({ ...asked, ...page }))) {
      const link = deps.links.get(send.integration)
      // A channel server that was asked has no way to hear how it ended: its verdict would come too late.
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
            : { kind: 'text', text: outcomeText(row, passedOn, how.name) },
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

/** A direct chat may have two names: its own, under which the message came, and that of its person. */
function isOriginOf(origin: AskOrder['origin'], { integration, conversation }: Address): boolean {
  if (integration !== origin?.to.integration) return false
  return conversation === origin.to.conversation || (origin.direct && conversation === origin.sender)
}

function placeOf(link: Link | undefined): PromptPlace {
  const { buttons = false, showsAsk = false } = link?.adapter.abilities ?? {}
  return { limit: promptLimitOf(link), rest: buttons && !showsAsk ? 'button' : 'command' }
}

// Channel servers that relay permissions: asked beside the chats of approvers, as structured requests.

/** One per server of this agent that is admitted, passes its gates, is connected and relays permissions. */
function relayPlaces(
  settings: Settings,
  links: Links,
  { agent, servers }: { readonly agent: string; readonly servers: readonly string[] | null },
): readonly Address[] {
  const isAdmitted = (server: string | undefined) =>
    servers === null || (server !== undefined && servers.includes(server))
  return links
    .all()
    .filter((link) => isBound(settings, agent, link.integration) && link.adapter.relaysApprovals?.() === true)
    .filter((link) => isAdmitted(link.adapter.channel?.server))
    .map((link) => ({ integration: link.integration, conversation: RELAY_PLACE }))
}

/** An approver's direct chat behind a channel server has a name that only the server knows: there, where it was asked. */
function canAsk(links: Links, chat: Address, origin: Address | null): boolean {
  if (!canSpeak(links, chat.integration)) return false
  if (links.get(chat.integration)?.adapter.channel === undefined) return true
  return origin !== null && formatAddress(chat) === formatAddress(origin)
}
