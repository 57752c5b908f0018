// Whether whoever can answer through an agent's integrations is known to be who they are. Only then may a host be told
// that its permission requests can be answered there: anybody who can answer can allow.
import type { IntegrationSettings, Settings } from '../../contract/index.ts'

/** False too when nothing is bound: there would be nobody to ask. */
export function sendersAuthenticated(settings: Settings, agent: string): boolean {
  const bound = settings.agents.find((one) => one.id === agent)?.bindings ?? []
  const integrations = settings.integrations.filter(
    (one) => one.enabled && bound.some((binding) => binding.instance === one.id),
  )
  return integrations.length > 0 && integrations.every(isAuthenticated)
}

function isAuthenticated({ access, unproven }: IntegrationSettings): boolean {
  if (!access.readable || access.allowFrom.includes('*')) return false
  if (Object.values(access.groups).some((group) => group.allowFrom.includes('*'))) return false
  // An address that nothing vouches for can be written by anybody.
  return unproven !== true
}
