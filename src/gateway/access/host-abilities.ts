// What a host of an agent is told when it starts: by the daemon, or by the shim from the file where no daemon answers.
import { agentById, type Settings } from '../../contract/index.ts'
import { sendersAuthenticated } from '../../core/people/authenticated.ts'

export interface HostAbilities {
  /** Permission requests may be relayed. */
  readonly permission: boolean
  /** The agent has channel servers. */
  readonly channels: boolean
  /** It is fed by services that may lend tools. */
  readonly services: boolean
  /** Nothing can be said to where its messages come from. */
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

/** All that feed it have one direction. */
function isFedOneWay(settings: Settings, agent: string): boolean {
  const sources = feeding(settings, agent)
  return sources.length > 0 && sources.every(({ oneWay }) => oneWay === true)
}

/** Null: it cannot be judged. A file that names modules is not run for it: they are programs. */
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
