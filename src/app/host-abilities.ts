// What a host of an agent is told when it starts: by the daemon, or by the shim from the file where no daemon answers.
import { agentById, type Settings } from '../contract/index.ts'
import { sendersAuthenticated } from '../core/people/authenticated.ts'

export interface HostAbilities {
  /** Permission requests may be relayed. */
  readonly permission: boolean
  /** The agent has channel servers. */
  readonly channels: boolean
  /** Nothing can be said to where its messages come from. */
  readonly oneWay: boolean
}

export function hostAbilities(settings: Settings, agent: string): HostAbilities {
  return {
    permission: sendersAuthenticated(settings, agent),
    channels: (agentById(settings, agent)?.channels ?? null) !== null,
    oneWay: isFedOneWay(settings, agent),
  }
}

/** All that feed it have one direction. */
function isFedOneWay(settings: Settings, agent: string): boolean {
  const bound = agentById(settings, agent)?.bindings ?? []
  const feeding = settings.integrations.filter(
    (one) => one.enabled && bound.some(({ instance }) => instance === one.id),
  )
  return feeding.length > 0 && feeding.every(({ oneWay }) => oneWay === true)
}

/** Null: it cannot be judged. A file that names modules is not run for it: they are programs. */
export async function abilitiesByFile(
  file: string | null,
  agent: string,
  defaultStore: string,
): Promise<HostAbilities | null> {
  if (file === null) return null
  try {
    const { loadSettings, namedModules } = await import('../config/load.ts')
    if (namedModules(file).length > 0) return null
    const { createAdapters } = await import('./adapter-shelf.ts')
    const loaded = await loadSettings(file, {
      adapters: createAdapters(),
      failedModules: 'refused',
      defaultStore,
    })
    if (!loaded.ok || agentById(loaded.settings, agent)?.connector.type !== 'channel') return null
    return hostAbilities(loaded.settings, agent)
  } catch {
    return null
  }
}
