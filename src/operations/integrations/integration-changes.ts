// Integrations by command: added, changed and removed in the encrypted store, and applied at once.
import { EMBEDDED_ORIGIN } from '../../config/default-settings.ts'
import type { IntegrationChange } from '../../config/stored-integrations.ts'
import {
  type IntegrationView,
  integrationById,
  type Settings,
  SwitchboardError,
} from '../../contract/index.ts'
import { type LiveParts, liveParts, type OperationContext } from '../context.ts'
import { integrationView } from './integration-view.ts'
import { removeOwnSecrets } from './own-secrets.ts'

type Context = Pick<OperationContext, 'store' | 'settings' | 'live'>

/** Stores a definition (the shape of one entry under `integrations:`) encrypted, and starts it. */
export async function addIntegration(
  context: Context,
  order: { readonly definition: Readonly<Record<string, unknown>>; readonly agent?: string | undefined },
  by: string,
): Promise<IntegrationView> {
  const { definition, agent } = order
  const id = typeof definition.id === 'string' ? definition.id : ''
  demandNotInFile(context.settings(), id)
  demandAgents(context.settings(), [
    ...(agent === undefined ? [] : [agent]),
    ...scopedAgents(definition.scope),
  ])
  await addedOf(context).add(definition, agent ?? null, by)
  return recordChange(context, 'integration added', id, by)
}

export async function changeIntegration(
  context: Context,
  id: string,
  change: IntegrationChange,
  by: string,
): Promise<IntegrationView> {
  demandNotInFile(context.settings(), id)
  if (change.scope !== undefined) demandAgents(context.settings(), scopedAgents(change.scope))
  await addedOf(context).change(id, change, by)
  return recordChange(context, 'integration changed', id, by)
}

/** Also removes secrets that were stored for it alone, and names those that nothing refers to any more. */
export async function removeIntegration(context: Context, id: string, by: string) {
  const { store, settings } = context
  demandNotInFile(settings(), id)
  const gone = integrationById(settings(), id)
  if (!(await addedOf(context).remove(id, by)))
    throw new SwitchboardError('not_found', `there is no integration "${id}"`)
  await store.note([{ kind: 'config', ref: id, detail: { what: 'integration removed', by } }])
  const { gateway, secrets } = liveParts(context)
  await gateway.apply()
  // An entry that could not be read has no settings, so its own secrets are unknown.
  if (!gone) return { removed: [], unused: [] }
  return removeOwnSecrets(gone, { settings: settings(), secrets }, by)
}

function addedOf(context: Context): NonNullable<LiveParts['added']> {
  const { added } = liveParts(context)
  if (added) return added
  throw new SwitchboardError('not_built', 'this daemon keeps no integrations of its own')
}

/** Integrations of the file are changed in the file. */
function demandNotInFile(settings: Settings, id: string): void {
  const configured = integrationById(settings, id)
  if (configured?.origin.startsWith(EMBEDDED_ORIGIN)) {
    throw new SwitchboardError('conflict', `integration "${id}" belongs to the embedded default`, {
      hint: 'choose another id, or write a file of your own: switchboard init',
    })
  }
  if (configured && configured.origin !== 'store') {
    throw new SwitchboardError('conflict', `integration "${id}" is defined in the configuration file`, {
      hint: `change ${configured.origin} in the file, or choose another id`,
    })
  }
}

function demandAgents(settings: Settings, agents: readonly string[]): void {
  const ids = settings.agents.map((agent) => agent.id)
  const unknown = agents.find((agent) => !ids.includes(agent))
  if (unknown !== undefined)
    throw new SwitchboardError('not_found', `there is no agent "${unknown}"`, {
      hint: `agents: ${ids.join(', ')}`,
    })
}

async function recordChange(
  context: Context,
  what: string,
  id: string,
  by: string,
): Promise<IntegrationView> {
  const { store, settings } = context
  const live = liveParts(context)
  await store.note([{ kind: 'config', ref: id, detail: { what, by } }])
  await live.gateway.apply()
  const one = integrationById(settings(), id)
  if (!one) throw new SwitchboardError('not_found', `there is no integration "${id}"`)
  return integrationView(one, settings(), live)
}

function scopedAgents(scope: unknown): readonly string[] {
  const agents = typeof scope === 'object' && scope !== null && 'agents' in scope ? scope.agents : []
  return Array.isArray(agents) ? agents.map(String) : []
}
