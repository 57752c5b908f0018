// The 24-hour window: free text is accepted only for a day after a person wrote. It is tracked here, so that nothing is
// sent that would fail: from messages at this node, and from the transcript, which knows earlier ones and those at
// other nodes.
import {
  createBoundedMap,
  type PlatformDeps,
  type SendRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import { isGroup } from './people.ts'

const WINDOW_MS = 24 * 3_600_000
const REMEMBERED = 50_000

export interface Windows {
  /** The person wrote at this time of WhatsApp's. */
  heard(conversation: string, at: number): void
  /** Throws `window_closed` with the time when it closed. */
  check(request: SendRequest): Promise<void>
}

export function createWindows({ clock, transcript }: Pick<PlatformDeps, 'clock' | 'transcript'>): Windows {
  const last = createBoundedMap<string, number>(REMEMBERED)

  const lastAt = async (conversation: string): Promise<number | null> => {
    const known = last.get(conversation) ?? null
    if (known !== null && clock.now() - known < WINDOW_MS) return known
    const [newest] = await transcript({ conversation, sender: conversation, direction: 'in', limit: 1 })
    if (newest === undefined) return known
    const told = Number(newest.meta?.timestamp) * 1_000
    // WhatsApp's own time counts, because a post may come again after hours. Ours is used if it is unknown.
    const at = Number.isFinite(told) && told > 0 ? Math.min(told, newest.at) : newest.at
    if (known === null || at > known) last.set(conversation, at)
    return Math.max(at, known ?? at)
  }

  return {
    heard(conversation, at) {
      if ((last.get(conversation) ?? 0) < at) last.set(conversation, at)
    },
    async check({ to, op, cause }) {
      if (op.kind === 'text' && op.template !== undefined) return
      // A pairing code answers a person who just wrote, and whose messages are not stored.
      if (cause === 'pairing' || isGroup(to.conversation)) return
      const at = await lastAt(to.conversation.replace(/^\+/, ''))
      if (at !== null && clock.now() - at < WINDOW_MS) return
      const closed =
        at === null
          ? 'no message from them is known'
          : `their last message is of ${iso(at)}, so it closed at ${iso(at + WINDOW_MS)}`
      throw new SwitchboardError(
        'window_closed',
        `WhatsApp takes free text only within 24 hours of a person's last message; ${closed}`,
        { hint: 'send a template; the next message of theirs opens it again' },
      )
    },
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
