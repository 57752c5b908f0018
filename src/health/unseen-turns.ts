// Turns at a host without evidence: each with its host and the likely cause, for `doctor`.
import {
  defined,
  everyRow,
  iso,
  type Settings,
  type Store,
  type TurnRow,
  type UnseenView,
} from '../contract/index.ts'
import type { Gateway } from '../gateway/gateway.ts'

/** The number of oldest turns shown per agent. The last one says that there are more. */
const SHOWN = 20
const TOOK_BEFORE = 'the host took messages before: it is busy, or stopped listening; look at its session'
const NEVER_TOOK = 'its host never showed that it takes messages: look at its session'

export interface UnseenTurnsDeps {
  readonly store: Pick<Store, 'turns'>
  readonly roster: Pick<Gateway['roster'], 'get'>
  readonly settings: Settings
  readonly now: number
}

export async function unseenTurns(deps: UnseenTurnsDeps): Promise<readonly UnseenView[]> {
  const { store, roster, settings } = deps
  const before = deps.now - settings.tunables.unseenNoticeMs
  const found: UnseenView[] = []
  const told = settings.agents.filter(({ id }) => roster.get(id)?.connector.redelivery.unseenTold === true)
  const handed = told.length === 0 ? new Map<string | null, TurnRow[]>() : await handedOf(store)
  for (const { id } of told) {
    const post = roster.get(id)
    const rows = (handed.get(id) ?? []).slice(-SHOWN - 1).reverse()
    const unseen = rows.filter((row) => row.updatedAt <= before)
    for (const [at, row] of unseen.slice(0, SHOWN).entries()) {
      const where = post?.connector.whereIs?.(row.id) ?? null
      found.push({
        turn: row.id,
        agent: id,
        host: where?.host ?? null,
        since: iso(row.updatedAt),
        why: where?.proven ? TOOK_BEFORE : (post?.connector.unseenBecause ?? NEVER_TOOK),
        ...defined({ more: at === SHOWN - 1 && unseen.length > SHOWN ? true : undefined }),
      })
    }
  }
  return found
}

/** Returns all handed turns by agent, newest first. One query for all agents, because each would read all of them. */
async function handedOf(store: UnseenTurnsDeps['store']): Promise<Map<string | null, TurnRow[]>> {
  const found = new Map<string | null, TurnRow[]>()
  for await (const row of everyRow((page) => store.turns({ states: ['handed'], ...page }))) {
    const known = found.get(row.agent)
    if (known) known.push(row)
    else found.set(row.agent, [row])
  }
  return found
}
