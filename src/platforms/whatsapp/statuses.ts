// What WhatsApp says later of messages of ours. Each is told to the river as a report, under the outbox id that went along; a
// server that does not give it back is helped by the ids that we know. A send whose answer was lost waits here for its status.
import {
  type Clock,
  createBoundedMap,
  type InboundReport,
  type PlatformDeps,
  type SendRequest,
} from '../../contract/index.ts'
import type { Status } from './parse.ts'

const REMEMBERED = 20_000
const LOOKED_BACK = 100

export interface Statuses {
  /** It was confirmed: the message of this send. */
  sent(key: string, wamid: string): void
  /** As the river takes it. */
  reportOf(status: Status): Promise<InboundReport>
  /** It was committed: whoever waits for it hears it. */
  heard(status: Status): void
  /** The message of a send whose answer was lost; null: nobody said within the time. */
  settled(request: SendRequest): Promise<string | null>
  stop(): void
}

export function createStatuses(
  deps: Pick<PlatformDeps, 'transcript'> & { readonly clock: Clock; readonly settleMs: number },
): Statuses {
  const keys = createBoundedMap<string, string>(REMEMBERED)
  const told = createBoundedMap<string, string | null>(REMEMBERED)
  const waiting = new Map<string, Set<(wamid: string | null) => void>>()

  /** Our own id, by what came back, by what this process sent, or by what stands in the chat. */
  const keyOf = async ({ key, wamid, recipient }: Status): Promise<string> => {
    const known = key ?? keys.get(wamid)
    if (known !== undefined) return known
    const query = { conversation: recipient, direction: 'out', limit: LOOKED_BACK } as const
    const found = (await deps.transcript(query)).find((entry) => entry.platformMessageId === wamid)
    return found?.id ?? ''
  }

  const release = (key: string, wamid: string | null) => {
    const resolvers = waiting.get(key)
    waiting.delete(key)
    for (const resolve of resolvers ?? []) resolve(wamid)
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
      // That it failed is in its row already; nobody needs to wait on.
      const outcome = status === 'failed' ? null : wamid
      told.set(known, outcome)
      release(known, outcome)
    },
    async settled({ key }) {
      const known = told.get(key)
      if (known !== undefined) return known
      return new Promise((resolve) => {
        const cancel = deps.clock.after(deps.settleMs, () => {
          waiting.get(key)?.delete(done)
          if (waiting.get(key)?.size === 0) waiting.delete(key)
          resolve(null)
        })
        const done = (wamid: string | null) => {
          cancel()
          resolve(wamid)
        }
        waiting.set(key, (waiting.get(key) ?? new Set()).add(done))
      })
    },
    stop() {
      for (const key of [...waiting.keys()]) release(key, null)
    },
  }
}
