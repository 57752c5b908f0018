// What WhatsApp later reports about our messages. Each status goes to the core under the outbox id that it returns, or
// under one that we know by the message id. A send whose answer was lost is settled by its status.
import { createBoundedMap, type InboundReport, type PlatformDeps } from '../../contract/index.ts'
import type { Status } from './parse.ts'

const REMEMBERED = 20_000
const LOOKED_BACK = 100

export interface Statuses {
  /** The message of this send was confirmed. */
  sent(key: string, wamid: string): void
  /** Returns the report for the core. */
  reportOf(status: Status): Promise<InboundReport>
  /** The report was committed. */
  heard(status: Status): void
  /** Returns the message of a send whose answer was lost; null: no status named it yet. */
  known(key: string): string | null
}

export function createStatuses(deps: Pick<PlatformDeps, 'transcript'>): Statuses {
  const keys = createBoundedMap<string, string>(REMEMBERED)
  const told = createBoundedMap<string, string | null>(REMEMBERED)

  /** Our outbox id: from the status, from this process's sends, or from the chat's transcript. */
  const keyOf = async ({ key, wamid, recipient }: Status): Promise<string> => {
    const known = key ?? keys.get(wamid)
    if (known !== undefined) return known
    const query = { conversation: recipient, direction: 'out', limit: LOOKED_BACK } as const
    const found = (await deps.transcript(query)).find((entry) => entry.platformMessageId === wamid)
    return found?.id ?? ''
  }

  return {
    sent: (key, wamid) => keys.set(wamid, key),
    async reportOf(status) {
      const { wamid, at, recipient, detail } = status
      return {
        kind: 'report',
        conversation: recipient,
        chat: 'direct',
        sender: { id: 'whatsapp' },
        at,
        messageId: `status:${wamid}:${status.status}`,
        send: await keyOf(status),
        outcome: status.status,
        platformId: wamid,
        ...(detail === '' ? {} : { detail }),
      }
    },
    heard({ key, wamid, status }) {
      const known = key ?? keys.get(wamid)
      if (known === undefined) return
      // Its row already says that it failed.
      told.set(known, status === 'failed' ? null : wamid)
    },
    known: (key) => told.get(key) ?? null,
  }
}
