// Whether all people who can answer through an agent's integrations are authenticated. Only then may a host learn that
// its permission requests can be answered there, because a person who can answer can allow.
import type { IntegrationSettings, Settings } from '../../contract/index.ts'

/** Returns false also when nothing is bound, because then there is no approver. */
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
  // Any sender can forge an unverified address.
  return unproven !== true
}
