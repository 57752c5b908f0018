// What WhatsApp says later of messages of ours. Each is told to the river as a report, under the outbox id that went along; a
// server that does not give it back is helped by the ids that we know. A send whose answer was lost is known by its status.
import { createBoundedMap, type InboundReport, type PlatformDeps } from '../../contract/index.ts'
import type { Status } from './parse.ts'

const REMEMBERED = 20_000
const LOOKED_BACK = 100

export interface Statuses {
  /** It was confirmed: the message of this send. */
  sent(key: string, wamid: string): void
  /** As the river takes it. */
  reportOf(status: Status): Promise<InboundReport>
  /** It was committed. */
  heard(status: Status): void
  /** The message of a send whose answer was lost; null: no status named it yet. */
  known(key: string): string | null
}

export function createStatuses(deps: Pick<PlatformDeps, 'transcript'>): Statuses {
  const keys = createBoundedMap<string, string>(REMEMBERED)
  const told = createBoundedMap<string, string | null>(REMEMBERED)

  /** Our own id, by what came back, by what this process sent, or by what stands in the chat. */
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
      // That it failed is in its row already.
      told.set(known, status === 'failed' ? null : wamid)
    },
    known: (key) => told.get(key) ?? null,
  }
}
