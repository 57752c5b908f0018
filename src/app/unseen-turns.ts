// Turns that lie at a host without evidence: what `doctor` says of each, with the host and the gate that is likely closed.
import { defined, type Settings, type Store, type UnseenView } from '../contract/index.ts'
import type { Gateway } from './gateway.ts'
import { iso } from './views.ts'

/** Of each agent the oldest; that there are more is said at the last. */
const SHOWN = 20

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
  for (const { id, connector } of settings.agents) {
    const post = roster.get(id)
    if (post?.connector.redelivery.unseenTold !== true) continue
    const rows = await store.turns({ agent: id, states: ['handed'], oldestFirst: true, limit: SHOWN + 1 })
    const unseen = rows.filter((row) => row.updatedAt <= before)
    for (const [at, row] of unseen.slice(0, SHOWN).entries()) {
      const where = post.connector.whereIs?.(row.id) ?? null
      found.push({
        turn: row.id,
        agent: id,
        host: where?.host ?? null,
        since: iso(row.updatedAt),
        why: likely(where?.proven ?? false, connector.options.dialect === 'nexo'),
        ...defined({ more: at === SHOWN - 1 && unseen.length > SHOWN ? true : undefined }),
      })
    }
  }
  return found
}

function likely(proven: boolean, nexo: boolean): string {
  if (proven) return 'the host took messages before: it is busy, or stopped listening; look at its session'
  if (nexo) return 'the host does not take this server as a channel: look at its own list of channels'
  return 'the session gate of Claude Code is likely closed: start it with --dangerously-load-development-channels server:switchboard (as a plugin: plugin:switchboard@switchboard); its other gates are listed below'
}
