// Settings that a daemon reads once, at its start: where it listens, its store, its admin token. If a reload changes
// one, `reload`, `status` and `doctor` say that it needs a restart.
import type { Settings } from '../contract/index.ts'

const KEYS: readonly { readonly key: string; of(settings: Settings): string | number | undefined }[] = [
  { key: 'store', of: ({ store }) => store },
  { key: 'server.host', of: ({ server }) => server.host },
  { key: 'server.port', of: ({ server }) => server.port },
  { key: 'server.admin_token', of: ({ server }) => server.adminToken },
]

/** Returns the settings with a warning for each key that the running daemon cannot apply. */
export function withStartNotes(started: Settings, now: Settings): Settings {
  const late = KEYS.filter(({ of }) => of(started) !== of(now))
  if (late.length === 0) return now
  const notes = late.map(({ key }) => `${key} has changed: it holds after a restart`)
  return { ...now, warnings: [...now.warnings, ...notes] }
}
