// Whether an agent may send to a target, and through which integration. Pure. It is checked when a send is ordered, and
// again at the moment of sending.
import {
  agentById,
  type IntegrationSettings,
  integrationById,
  type ReasonCode,
  type SendCause,
  type SendRow,
  type Settings,
  SwitchboardError,
} from '../../contract/index.ts'

/** Whether the entries (`platform:target`, `platform:*`, `*`) allow the target. An empty list denies. */
export function isAllowedTarget(entries: readonly string[], platform: string, target: string): boolean {
  return entries.some(
    (entry) => entry === '*' || entry === `${platform}:*` || entry === `${platform}:${target}`,
  )
}

export function allowedTargets(settings: Settings, agent: string): readonly string[] {
  return agentById(settings, agent)?.messagingAllow ?? []
}

/** Returns the error for a denial. It names this agent's own targets only. */
export function denial(entries: readonly string[], platform: string, target: string): SwitchboardError {
  const allowed = entries.length === 0 ? 'none' : entries.join(', ')
  return new SwitchboardError(
    'input_invalid',
    `Target "${platform}:${target}" is not in the personality's allowed messaging targets. Allowed: ${allowed}`,
  )
}

/**
 * Whether the integration's scope grants it to the agent. Without a scope it is granted to the agents bound to it.
 */
export function isGranted(settings: Settings, integration: IntegrationSettings, agent: string): boolean {
  const { scope } = integration
  if (scope === 'all') return agentById(settings, agent) !== undefined
  if (scope !== 'bound') return scope.agents.includes(agent)
  const bindings = agentById(settings, agent)?.bindings ?? []
  return bindings.some((binding) => binding.instance === integration.id)
}

/** The hosted channel server behind an integration; null: none. Its name is used like a platform's. */
function hostedServer(integration: Pick<IntegrationSettings, 'source'>): string | null {
  const { source } = integration
  return source?.startsWith(HOSTED) ? source.slice(HOSTED.length) : null
}

const HOSTED = 'channel:'

/** The platform name used in orders and allow entries. A hosted server uses its own name. */
function calledPlatform(integration: IntegrationSettings): string {
  return hostedServer(integration) ?? integration.platform
}

export interface Choosing {
  readonly platform: string
  readonly agent: string
  /** Named by the caller; no other integration is used. */
  readonly named: string | undefined
  /** The integration of the current turn or session. It is preferred on its own platform. */
  readonly own: string | null
}

/**
 * Returns the named integration; else the turn's own on that platform, else the first granted one. Throws
 * `execution_failed`.
 */
export function chooseIntegration(settings: Settings, choosing: Choosing): IntegrationSettings {
  const { platform, agent, named, own } = choosing
  const there = integrationsCalled(settings, platform, agent)
  if (there.length === 0) throw failed(`No adapter registered for platform "${platform}"`)
  if (named !== undefined) {
    const found = there.find((one) => one.id === named)
    if (!found) throw failed(`Integration "${named}" is not configured for platform "${platform}"`)
    return usable(settings, found, agent)
  }
  const good = there.filter((one) => one.enabled && isGranted(settings, one, agent))
  const chosen = good.find((one) => one.id === own) ?? good[0]
  if (chosen) return chosen
  const [first] = there
  if (!first) throw failed(`No adapter registered for platform "${platform}"`)
  return usable(settings, first, agent)
}

/**
 * The native integrations of the platform, if one is enabled and granted. Otherwise this agent's hosted server of that
 * name.
 */
function integrationsCalled(
  settings: Settings,
  platform: string,
  agent: string,
): readonly IntegrationSettings[] {
  const called = settings.integrations.filter((one) => calledPlatform(one) === platform)
  const native = called.filter((one) => hostedServer(one) === null)
  if (native.some((one) => one.enabled && isGranted(settings, one, agent))) return native
  const hosted = called.filter((one) => hostedServer(one) !== null && isGranted(settings, one, agent))
  return hosted.length === 0 ? native : hosted
}

/** Returns the integration. Throws `execution_failed` if it is disabled or not granted. */
export function usable(
  settings: Settings,
  integration: IntegrationSettings,
  agent: string | null,
): IntegrationSettings {
  if (!integration.enabled) throw failed(`Integration "${integration.id}" is disabled`)
  if (agent !== null && !isGranted(settings, integration, agent)) {
    throw failed(`Integration "${integration.id}" is not granted to agent "${agent}"`)
  }
  return integration
}

const ASKED_AGAIN: readonly SendCause[] = ['send_message', 'notify_user', 'channel_send']

/**
 * Checks permission at the moment of sending, because the configuration may have changed since the row was written.
 */
export function refusedNow(settings: Settings, row: SendRow): ReasonCode | null {
  if (row.agent === null || !ASKED_AGAIN.includes(row.cause)) return null
  const integration = integrationById(settings, row.integration)
  if (!integration) return 'integration_missing'
  if (!isGranted(settings, integration, row.agent)) return 'not_allowed'
  if (row.cause === 'notify_user') return null
  const entries = allowedTargets(settings, row.agent)
  if (row.cause === 'channel_send') {
    // A conversation that wrote through the server stays open. Targets opened by the allowlist are checked again.
    const listed = row.op?.kind === 'call' ? (row.op.allowed ?? []) : []
    const open = listed.every(({ platform, target }) => isAllowedTarget(entries, platform, target))
    return open ? null : 'not_allowed'
  }
  const target = hostedServer(integration) === null ? row.conversation : afterKey(row.conversation)
  return isAllowedTarget(entries, calledPlatform(integration), target) ? null : 'not_allowed'
}

/** A place of a hosted server is a key and a value. Targets are values. */
function afterKey(conversation: string): string {
  return conversation.slice(conversation.indexOf('=') + 1)
}

function failed(message: string): SwitchboardError {
  return new SwitchboardError('execution_failed', message)
}
