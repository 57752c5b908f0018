// Integrations that were added by command. Their definitions are in the encrypted store, under names that no secret can have,
// so that a rotation of the key includes them.
import {
  asSwitchboardError,
  type IntegrationSettings,
  type LoadedAdapters,
  type Settings,
  SwitchboardError,
  type WantedOptions,
} from '../contract/index.ts'
import { digestOf } from './digest.ts'
import type { SecretStore } from './secrets/secret-store.ts'

const PREFIX = 'integration:'

interface Stored {
  readonly definition: Readonly<Record<string, unknown>>
  /** The agent that takes its messages. Null: it only sends. */
  readonly agent: string | null
}

export interface Added {
  readonly settings: IntegrationSettings
  readonly agent: string | null
}

/** `stored` is null when no key here opens it. */
type Held = Added & { readonly stored: Stored | null }

export interface IntegrationChange {
  readonly enabled?: boolean
  readonly scope?: 'all' | { readonly agents: readonly string[] }
}

export interface StoredIntegrations {
  all(): readonly Added[]
  add(definition: Stored['definition'], agent: string | null, by: string): Promise<Added>
  /** Throws `not_found`. */
  change(id: string, change: IntegrationChange, by: string): Promise<Added>
  remove(id: string, by: string): Promise<boolean>
  refresh(): Promise<void>
}

/**
 * `catalogFor` returns the adapters of this moment, with the named platform loaded. A module of a third party whose schema never
 * returns for these options is not among them.
 */
export async function openStoredIntegrations(
  secrets: SecretStore,
  catalogFor: (entry: WantedOptions) => Promise<LoadedAdapters>,
): Promise<StoredIntegrations> {
  let added = new Map<string, Held>()
  /** The same array until something changes: callers that merge it compare by identity. */
  let list: readonly Added[] = []

  // The schema is loaded only when there is a definition to check.
  const read = async ({ definition, agent }: Stored, how: 'new' | 'recalled' = 'new'): Promise<Added> => {
    const stored = await import('./stored-integration.ts')
    const catalog = await catalogFor(stored.wantedOptions(definition))
    const settings =
      how === 'new'
        ? stored.readStoredIntegration(definition, catalog)
        : stored.recallStoredIntegration(definition, catalog)
    const known = catalog.platform(settings.platform)
    if (how === 'new' && known !== undefined && known.create === undefined)
      throw new SwitchboardError(
        'not_built',
        `platform "${settings.platform}" is planned, but not in this version`,
      )
    return { settings, agent }
  }

  /** One that cannot be opened is down with its reason, and the daemon starts. */
  const recall = async (id: string, opened: () => string | null) => {
    let text: string | null
    try {
      text = opened()
    } catch (thrown) {
      const { unopenedIntegration } = await import('./stored-integration.ts')
      const why = asSwitchboardError(thrown).message.replace(`secret:${PREFIX}${id}`, 'its definition')
      return { settings: unopenedIntegration(id, why), agent: null, stored: null }
    }
    const stored = JSON.parse(text ?? '{}') as Stored
    return { ...(await read(stored, 'recalled')), stored }
  }

  const refresh = async () => {
    const fresh = new Map<string, Held>()
    for (const name of secrets.reserved(PREFIX)) {
      const id = name.slice(PREFIX.length)
      fresh.set(id, await recall(id, () => secrets.read(name)))
    }
    added = fresh
    list = [...fresh.values()].map(({ settings, agent }) => ({ settings, agent }))
  }

  const keep = async (stored: Stored, by: string): Promise<Added> => {
    const one = await read(stored)
    await secrets.keepReserved(PREFIX + one.settings.id, JSON.stringify(stored), by)
    await refresh()
    return one
  }

  await refresh()
  return {
    all: () => list,
    async add(definition, agent, by) {
      const one = await read({ definition, agent })
      if (added.has(one.settings.id)) {
        throw new SwitchboardError('conflict', `integration "${one.settings.id}" was added before`, {
          hint: `remove it first: switchboard integrations remove ${one.settings.id}`,
        })
      }
      return keep({ definition, agent }, by)
    },
    async change(id, change, by) {
      const known = added.get(id)
      if (!known) throw new SwitchboardError('not_found', `integration "${id}" was not added by command`)
      if (known.stored === null)
        throw new SwitchboardError(
          'conflict',
          known.settings.problem ?? `integration "${id}" cannot be opened`,
        )
      const { definition, agent } = known.stored
      return keep({ definition: { ...definition, ...change }, agent }, by)
    },
    async remove(id, by) {
      if (!added.has(id)) return false
      await secrets.keepReserved(PREFIX + id, null, by)
      await refresh()
      return true
    },
    refresh,
  }
}

/** The configuration with the added integrations. An id in the file wins. */
export function withAdded(settings: Settings, added: readonly Added[]): Settings {
  if (added.length === 0) return settings
  const known = new Set(settings.integrations.map((one) => one.id))
  const shadowed = added.filter((one) => known.has(one.settings.id))
  const fresh = added.filter((one) => !known.has(one.settings.id))
  const hasDefault = settings.integrations.some((one) => one.default)
  return {
    ...settings,
    integrations: [
      ...settings.integrations,
      ...fresh.map(({ settings: one }) => (hasDefault ? { ...one, default: false } : one)),
    ],
    agents: settings.agents.map((agent) => ({
      ...agent,
      bindings: [
        ...agent.bindings,
        ...fresh
          .filter((one) => one.agent === agent.id)
          .map(({ settings: one }) => ({
            plugin: one.platform,
            instance: one.id,
            allowedChannelServers: [],
          })),
      ],
    })),
    digest: digestOf([settings.digest, fresh]),
    warnings: [
      ...settings.warnings,
      ...shadowed.map(
        ({ settings: one }) =>
          `integration "${one.id}" is defined in the file and was also added by command: the file's counts`,
      ),
    ],
  }
}
