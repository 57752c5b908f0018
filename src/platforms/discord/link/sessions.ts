// The gateway's sessions as a cursor. It is stored in the commit of their events, so that a start after a short stop
// resumes them.
import type { Session } from './gateway-socket.ts'

const MOST_SHARDS = 1_000

/** `reached`: the position of each session after this commit. */
export function writeSessions(
  sessions: readonly (Session | null)[],
  reached: ReadonlyMap<Session, number> = new Map(),
): string {
  const shards = sessions.map((one) =>
    one === null ? null : { id: one.id, url: one.resumeUrl, seq: reached.get(one) ?? one.stored },
  )
  return JSON.stringify({ v: 1, shards })
}

/** Empty: no session can be resumed. */
export function readSessions(cursor: string | null): readonly (Session | null)[] {
  try {
    const { v, shards } = JSON.parse(cursor ?? '') as { readonly v?: unknown; readonly shards?: unknown }
    if (v !== 1 || !Array.isArray(shards) || shards.length > MOST_SHARDS) return []
    return shards.map((one: Readonly<Record<string, unknown>> | null) => {
      const { id, url, seq } = one ?? {}
      if (typeof id !== 'string' || id === '' || typeof seq !== 'number' || !Number.isSafeInteger(seq))
        return null
      return { id, resumeUrl: typeof url === 'string' ? url : null, stored: seq }
    })
  } catch {
    return []
  }
}
