// What a host of an agent learns when it starts: from the daemon, or from the shim by the file if no daemon answers.
import { agentById, type Settings } from '../../contract/index.ts'
import { sendersAuthenticated } from '../../core/people/authenticated.ts'

export interface HostAbilities {
  /** Permission requests may be relayed. */
  readonly permission: boolean
  /** The agent has channel servers. */
  readonly channels: boolean
  /** Its services may lend tools. */
  readonly services: boolean
  /** Its message sources take no answers. */
  readonly oneWay: boolean
}

export function hostAbilities(settings: Settings, agent: string): HostAbilities {
  return {
    permission: sendersAuthenticated(settings, agent),
    channels: (agentById(settings, agent)?.channels ?? null) !== null,
    services: feeding(settings, agent).some(({ platform }) => platform === SERVICE_PLATFORM),
    oneWay: isFedOneWay(settings, agent),
  }
}

/** The platform whose deliveries bring tools along. */
const SERVICE_PLATFORM = 'chorus'

function feeding(settings: Settings, agent: string) {
  const bound = agentById(settings, agent)?.bindings ?? []
  return settings.integrations.filter(
    (one) => one.enabled && bound.some(({ instance }) => instance === one.id),
  )
}

/** Whether all of its sources are one-way. */
function isFedOneWay(settings: Settings, agent: string): boolean {
  const sources = feeding(settings, agent)
  return sources.length > 0 && sources.every(({ oneWay }) => oneWay === true)
}

/**
 * Returns the abilities by the file; null: unknown. A file that names modules is not loaded for this, because modules
 * are programs.
 */
export async function abilitiesByFile(
  file: string | null,
  agent: string,
  defaultStore: string,
): Promise<HostAbilities | null> {
  if (file === null) return null
  try {
    const { loadSettings, namedModules } = await import('../../config/load.ts')
    if (namedModules(file).length > 0) return null
    const { createModuleCatalog } = await import('../../modules/module-catalog.ts')
    const loaded = await loadSettings(file, {
      adapters: createModuleCatalog(),
      failedModules: 'refused',
      defaultStore,
    })
    if (!loaded.ok || agentById(loaded.settings, agent)?.connector.type !== 'channel') return null
    return hostAbilities(loaded.settings, agent)
  } catch {
    return null
  }
}
