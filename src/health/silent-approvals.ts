// Agents whose approvals reach no approver: they ask people about tool calls, and none of their integrations has an
// approver who can be asked. Such a call is denied at once, or waits at the host alone.
import { type AgentSettings, bindingsAt, type IntegrationSettings, type Settings } from '../contract/index.ts'
import { isOneWay, type Links } from '../core/links.ts'
import { approversOn, type GrantList } from '../core/people/approvers.ts'
import { wordsIn } from '../words/index.ts'

export interface SilentApprovals {
  readonly agent: string
  readonly reason: string
  /** The configuration key that changes it. */
  readonly key: string
}

interface SilentApprovalsDeps {
  readonly settings: Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
  /** Whether an agent asks people about tool calls. */
  asks(agent: AgentSettings): boolean
}

/** The cost grows with integrations and agents, not with their product. */
export function silentApprovals(deps: SilentApprovalsDeps): readonly SilentApprovals[] {
  const { settings } = deps
  const asking = settings.agents.filter((agent) => deps.asks(agent))
  if (asking.length === 0) return []
  const integrationsOf = new Map<string, IntegrationSettings[]>()
  for (const integration of settings.integrations) {
    if (!integration.enabled) continue
    for (const { agent } of bindingsAt(settings, integration.id)) {
      const known = integrationsOf.get(agent.id)
      if (known) known.push(integration)
      else integrationsOf.set(agent.id, [integration])
    }
  }
  return asking.flatMap((agent) => {
    const integrations = integrationsOf.get(agent.id) ?? []
    const [first] = integrations
    if (first === undefined || integrations.some((one) => reachesApprover(deps, one))) return []
    const at = integrations
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', ')
    const words = wordsIn().health.checks['approvals-unreachable']
    const reason = words.reason({ integrations: at, more: integrations.length > 3 })
    return [{ agent: agent.id, reason, key: `${first.origin}.access.approvers` }]
  })
}

function reachesApprover(
  { settings, grants, links }: SilentApprovalsDeps,
  one: IntegrationSettings,
): boolean {
  const adapter = links.get(one.id)?.adapter
  if (adapter?.channel?.relaysApprovals() === true) return true
  if (isOneWay(links, one.id)) return false
  const groups = one.access.readable ? Object.values(one.access.groups) : []
  return groups.some(({ approvals }) => approvals) || approversOn(settings, grants, one).length > 0
}
