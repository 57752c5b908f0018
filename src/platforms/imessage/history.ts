// chat.db as a history, for the comparison with the inbox: one place, with its messages by ROWID.
import type { HistoryEntry, HistoryReader, InboundEvent } from '../../contract/index.ts'
import type { ChatDb, MessageRow } from './chat-db.ts'

const PLACE = { id: 'chat.db', name: 'Messages' } as const

export function createHistory(deps: {
  readonly db: () => ChatDb
  readonly eventOf: (row: MessageRow) => Promise<InboundEvent | null>
}): HistoryReader {
  /** A position is valid only while its number still has its guid. Otherwise the time decides. */
  const rowidOf = (db: ChatDb, after: string | null, since: number): number => {
    const [rowid, guid = ''] = (after ?? '').split(' ')
    const known = guid === '' ? null : db.rowidOf(guid)
    if (known !== null) return known
    return after !== null && guid === '' ? Number(rowid) || 0 : Math.max(0, db.rowidAt(since) - 1)
  }
  return {
    places: async () => ({ places: [PLACE] }),
    placeOf: () => null,
    async read({ place, after, since, limit }) {
      if (place.id !== PLACE.id) return { unreadable: 'gone', detail: 'there is one history: chat.db' }
      const db = deps.db()
      const rows = db.after(rowidOf(db, after, since), limit + 1)
      const entries: HistoryEntry[] = []
      for (const row of rows.slice(0, limit)) {
        const event = row.at < since ? null : await deps.eventOf(row)
        const said = event?.kind === 'message' || event?.kind === 'edit'
        entries.push({
          position: `${row.rowid} ${row.guid}`,
          at: row.at,
          event: said ? { ...event, kind: 'message', messageId: row.guid } : null,
        })
      }
      return { entries, more: rows.length > limit }
    },
  }
}
