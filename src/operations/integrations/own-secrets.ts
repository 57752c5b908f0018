// The secrets of an integration that goes: those that were kept for it alone go with it, and those that an operator named
// and that nothing refers to any more are told.

import { createIntegrationCredentials } from '../../config/secrets/integration-credentials.ts'
import type { SecretStore } from '../../config/secrets/secret-store.ts'
import type { IntegrationSettings, Settings } from '../../contract/index.ts'

const REFERENCE = /^secret:([A-Za-z0-9][A-Za-z0-9_.-]{0,127})$/

/** The names behind every `secret:NAME` in plain data. */
function secretsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    const name = REFERENCE.exec(value)?.[1]
    if (name !== undefined) found.add(name)
  } else if (typeof value === 'object' && value !== null) {
    for (const one of Object.values(value)) secretsIn(one, found)
  }
  return found
}

/**
 * Called when `gone` is no longer among the settings. `integrations add` names what it keeps `<id>.<key>`: that is removed.
 * What anything else in the settings refers to stays, whatever its name.
 */
export async function removeOwnSecrets(
  gone: IntegrationSettings,
  deps: {
    readonly settings: Settings
    readonly secrets: Pick<SecretStore, 'names' | 'remove' | 'reserved' | 'refresh' | 'forget'>
  },
  by: string,
): Promise<{ readonly removed: readonly string[]; readonly unused: readonly string[] }> {
  const { settings, secrets } = deps
  const inUse = secretsIn(settings)
  const there = new Set(secrets.names())
  const unused = [...secretsIn(gone.options)].filter((name) => there.has(name) && !inUse.has(name)).sort()
  const removed: string[] = []
  for (const name of unused)
    if (name.startsWith(`${gone.id}.`) && (await secrets.remove(name, by))) removed.push(name)
  // What others gave it (callbacks of a Chorus service) is nobody's any more.
  const given = createIntegrationCredentials(secrets as SecretStore, gone.id)
  const left = await given.names()
  if (left.length > 0) await given.remove(left)
  return { removed, unused: unused.filter((name) => !removed.includes(name)) }
}
