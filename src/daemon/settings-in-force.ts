// The configuration in force: the file's, with the integrations that were added by command.
import { type Added, type IntegrationShelf, withAdded } from '../config/stored-integrations.ts'
import type { Settings } from '../contract/index.ts'
import { withStartNotes } from './restart-only-settings.ts'

/** Entries of the file: those that were handed in are there anyway. */
export function namedModules({ modules = [] }: Settings): readonly string[] {
  return modules.filter((one) => !one.from.startsWith('given[')).map((one) => one.from)
}

const NOTHING_ADDED: readonly Added[] = []

/** Made anew only when one of the two changed. `shelf` is null until the store is open. */
export function settingsInForce(file: () => Settings, shelf: () => IntegrationShelf | null): () => Settings {
  let from: Settings | null = null
  let list = NOTHING_ADDED
  let merged: Settings | null = null
  const started = file()
  return () => {
    const now = file()
    const added = shelf()?.all() ?? NOTHING_ADDED
    if (merged === null || from !== now || list !== added) {
      from = now
      list = added
      merged = withStartNotes(started, withAdded(now, added))
    }
    return merged
  }
}
