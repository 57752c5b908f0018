// Asks for a person: an agent does so by `handoff`, a sender by `/human`. The place is marked, and the people who may
// hold it are informed once where they are reached. Nothing else changes until one of them takes it.
import {
  type AskOrder,
  formatAddress,
  type Logger,
  type NewSend,
  type Settings,
  type Store,
  type TakeoverRow,
} from '../../contract/index.ts'
import type { Links } from '../links.ts'
import { notice, type Say } from '../notices.ts'
import type { Outlet } from '../outbound/outlet.ts'
import { resolveRecipient } from '../outbound/recipients.ts'
import type { GrantList } from '../people/approvers.ts'
import { authorize } from '../people/authorize.ts'
import { usersInForce } from '../people/users.ts'

export interface AskForPersonDeps {
  readonly store: Pick<Store, 'askTakeover'>
  readonly log: Logger
  readonly settings: () => Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
  readonly outlet: Pick<Outlet, 'put'>
}

/** `asked: false`: the place is held, or a person was asked for before. */
export type AskForPerson = (
  order: AskOrder,
) => Promise<{ readonly asked: boolean; readonly takeover: TakeoverRow }>

const REASON_CHARS = 500

export interface PersonRequests {
  readonly askForPerson: AskForPerson
  /** Informs the people who may hold a place that is already marked. Never throws. */
  tellWhoMayHold(takeover: TakeoverRow): Promise<void>
}

export function createAskForPerson(deps: AskForPersonDeps): PersonRequests {
  /** The notices for the people who may hold the place, never to the place itself. */
  const wordsFor = (takeover: TakeoverRow): readonly NewSend[] => {
    const settings = deps.settings()
    const words: NewSend[] = []
    const places = new Set([takeover.address])
    for (const user of usersInForce(settings, deps.grants)) {
      const who = { kind: 'user', id: user.id, roles: user.roles } as const
      if (!authorize(who, 'conversation.hold', { kind: 'gateway' }).allowed) continue
      try {
        const { to, integration } = resolveRecipient(deps, { user: user.id, channel: undefined })
        if (places.has(formatAddress(to))) continue
        places.add(formatAddress(to))
        const target = { to, platform: integration.platform, agent: null, session: null, turn: null }
        words.push(notice(target, wanted(takeover), `asked:${takeover.id}:${user.id}`))
      } catch (thrown) {
        deps.log.info({ user: user.id, error: String(thrown) }, 'this user is told nowhere')
      }
    }
    return words
  }
  const tellWhoMayHold: PersonRequests['tellWhoMayHold'] = async (takeover) => {
    try {
      await deps.outlet.put(wordsFor(takeover))
    } catch (thrown) {
      deps.log.warn(
        { takeover: takeover.id, error: String(thrown) },
        'nobody was told that a person is wanted',
      )
    }
  }
  const askForPerson: AskForPerson = async (order) => {
    const result = await deps.store.askTakeover(order)
    if (result.asked) await tellWhoMayHold(result.takeover)
    return result
  }
  return { askForPerson, tellWhoMayHold }
}

function wanted({ address, asked }: TakeoverRow): Say {
  const reason = asked?.reason?.slice(0, REASON_CHARS) ?? null
  return (words) => words.notices.personWanted({ address, by: asked?.by ?? null, reason })
}
