// The 24-hour window: free text is taken only for a day after a person wrote. It is kept here, so that nothing is sent that could
// only fail: by what came in at this node, and by the transcript, which knows what came before a restart or at another one.
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
  /** They wrote, at this time of WhatsApp's. */
  heard(conversation: string, at: number): void
  /** Throws `window_closed` with the time when it did. */
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
    // Ours only where WhatsApp's own is not known: what comes again after hours was said hours ago.
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
      // A code answers somebody who has just written, and of whom nothing is kept.
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
