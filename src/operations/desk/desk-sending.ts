// The operator's part of sending: orders and notifications through the one outlet, and integrations by command.
import { EMBEDDED_ORIGIN } from '../../config/default-settings.ts'
import type { SecretStore } from '../../config/secrets/secret-store.ts'
import type { StoredIntegrations } from '../../config/stored-integrations.ts'
import {
  type Address,
  address,
  type Desk,
  defined,
  formatAddress,
  type IntegrationSettings,
  type IntegrationView,
  integrationById,
  parseAddress,
  type SendOrder,
  type SendResult,
  type Settings,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { linkOf } from '../../core/links.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { linkStateOf } from '../../gateway/link-reports.ts'
import type { DoctorDeps } from '../../health/doctor.ts'
import { removeOwnSecrets } from './own-secrets.ts'

export interface DeskSendingDeps {
  readonly store: Store
  readonly gateway: Gateway
  readonly settings: () => Settings
  /** Null: this desk keeps no integrations of its own. */
  readonly shelf: StoredIntegrations | null
  /** Makes the running parts match what is on the shelf. */
  readonly applied: () => Promise<void>
  readonly adapters?: DoctorDeps['adapters'] | undefined
  readonly secrets?: SecretStore
  /** Where this server is reached. */
  readonly base?: (() => string) | undefined
}

type DeskSending = Pick<
  Desk,
  'order' | 'notify' | 'integrations' | 'addIntegration' | 'changeIntegration' | 'removeIntegration'
>

export function createDeskSending(deps: DeskSendingDeps): DeskSending {
  const { store, gateway, settings } = deps

  const order = async (wish: SendOrder, by: string): Promise<SendResult> => {
    if (wish.text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
    const to = resolve(settings(), wish)
    const saying = { to, text: wish.text, cause: 'operator', agent: null, session: null, turn: null } as const
    const key = defined({ idempotencyKey: wish.idempotency_key })
    gateway.outlet.running(to.integration)
    await gateway.outlet.demandSomebody(to)
    await store.note([{ kind: 'audit', ref: formatAddress(to), detail: { what: 'send', by } }])
    const rows = gateway.outlet.rows({ ...saying, ...key, ...defined({ template: wish.template }) })
    const wait = defined({ waitMs: wish.wait_ms })
    return (await gateway.outlet.post(rows, wait)).result
  }

  const detailOf = ({ id, enabled }: IntegrationSettings) => {
    const { detail } = linkStateOf(gateway.links, gateway.problems(), id, enabled)
    return defined({ detail })
  }

  const stateOf = (id: string) => {
    const link = gateway.links.get(id)
    return link ? linkOf(link.adapter).state : 'down'
  }

  const view = (one: IntegrationSettings): IntegrationView => ({
    id: one.id,
    platform: one.platform,
    enabled: one.enabled,
    default: one.default,
    scope: typeof one.scope === 'string' ? one.scope : one.scope.agents,
    origin: one.origin,
    link: stateOf(one.id),
    ...detailOf(one),
    ...pasteOf(one),
    ...reachOf(one),
  })

  /** Code of others: what throws or answers nonsense has nothing to paste. */
  const pasteOf = ({ id, platform, options }: IntegrationSettings) => {
    const setup = deps.adapters?.loadedPlatform(platform, settings().modules)?.setup
    if (!setup?.paste || !deps.base) return {}
    try {
      const lines: unknown = setup.paste({ id, base: deps.base(), options })
      return Array.isArray(lines) ? { paste: lines.slice(0, 200).map(String) } : {}
    } catch {
      return {}
    }
  }

  const reachOf = ({ id, platform, options }: IntegrationSettings) => {
    const setup = deps.adapters?.loadedPlatform(platform, settings().modules)?.setup
    const who = gateway.links.get(id)?.adapter.link?.who?.() ?? null
    try {
      const url: unknown = deps.base && setup?.url?.({ id, base: deps.base(), options, who })
      const reach = typeof url === 'string' ? url : who
      return reach === null ? {} : { reach: String(reach).slice(0, 500) }
    } catch {
      return {}
    }
  }

  const shelf = (): StoredIntegrations => {
    if (deps.shelf) return deps.shelf
    throw new SwitchboardError('not_built', 'this daemon keeps no integrations of its own')
  }

  /** The file's own are changed in the file. */
  const notTheFiles = (id: string) => {
    const known = integrationById(settings(), id)
    if (known?.origin.startsWith(EMBEDDED_ORIGIN)) {
      throw new SwitchboardError('conflict', `integration "${id}" belongs to the embedded default`, {
        hint: 'choose another id, or write a file of your own: switchboard init',
      })
    }
    if (known && known.origin !== 'store') {
      throw new SwitchboardError('conflict', `integration "${id}" is defined in the configuration file`, {
        hint: `change ${known.origin} in the file, or choose another id`,
      })
    }
  }

  const knownAgents = (agents: readonly string[]) => {
    const ids = settings().agents.map((agent) => agent.id)
    const stranger = agents.find((agent) => !ids.includes(agent))
    if (stranger !== undefined)
      throw new SwitchboardError('not_found', `there is no agent "${stranger}"`, {
        hint: `agents: ${ids.join(', ')}`,
      })
  }

  const recordChange = async (what: string, id: string, by: string): Promise<IntegrationView> => {
    await store.note([{ kind: 'config', ref: id, detail: { what, by } }])
    await deps.applied()
    const one = integrationById(settings(), id)
    if (!one) throw new SwitchboardError('not_found', `there is no integration "${id}"`)
    return view(one)
  }

  return {
    order,
    async notify({ message, channel, urgency, user }, by) {
      const caller = { agent: null, session: null, user: user ?? null, turn: null, idempotencyKey: null }
      await store.note([{ kind: 'audit', ref: channel ?? 'default', detail: { what: 'notify', by } }])
      const notified = await gateway.notifier.notify(caller, {
        message,
        ...defined({ channel, urgency }),
      })
      return { ...notified.result, channel: notified.channel, to: notified.to, text: notified.text }
    },
    integrations: async () => settings().integrations.map(view),
    async addIntegration(definition, { agent }, by) {
      const id = typeof definition.id === 'string' ? definition.id : ''
      notTheFiles(id)
      knownAgents([...(agent === undefined ? [] : [agent]), ...scopedAgents(definition.scope)])
      await shelf().add(definition, agent ?? null, by)
      return recordChange('integration added', id, by)
    },
    async changeIntegration(id, change, by) {
      notTheFiles(id)
      if (change.scope !== undefined) knownAgents(scopedAgents(change.scope))
      await shelf().change(id, change, by)
      return recordChange('integration changed', id, by)
    },
    async removeIntegration(id, by) {
      notTheFiles(id)
      const gone = integrationById(settings(), id)
      if (!(await shelf().remove(id, by)))
        throw new SwitchboardError('not_found', `there is no integration "${id}"`)
      await store.note([{ kind: 'config', ref: id, detail: { what: 'integration removed', by } }])
      await deps.applied()
      // One that could not be read has no settings: then nobody knows what was its own.
      if (!gone || !deps.secrets) return { removed: [], unused: [] }
      return removeOwnSecrets(gone, { settings: settings(), secrets: deps.secrets }, by)
    },
  }
}

function scopedAgents(scope: unknown): readonly string[] {
  const agents = typeof scope === 'object' && scope !== null && 'agents' in scope ? scope.agents : []
  return Array.isArray(agents) ? agents.map(String) : []
}

/** `integration:conversation[:thread]`, or `platform:target` through the first integration of that platform. */
function resolve({ integrations }: Settings, order: SendOrder): Address {
  const cut = order.to.indexOf(':')
  const head = cut < 0 ? order.to : order.to.slice(0, cut)
  if (integrations.some((one) => one.id === head)) {
    if (order.integration !== undefined && order.integration !== head)
      throw new SwitchboardError(
        'input_invalid',
        `"${order.to}" is a chat of ${head}, not of ${order.integration}`,
        { hint: 'leave the integration out, or address it as PLATFORM:TARGET' },
      )
    const at = parseAddress(order.to)
    return order.thread === undefined ? at : address(at.integration, at.conversation, order.thread)
  }
  const through = integrations.find(
    (one) =>
      one.platform === head &&
      one.enabled &&
      (order.integration === undefined || one.id === order.integration),
  )
  if (!through || cut < 0) {
    throw new SwitchboardError('execution_failed', `No adapter registered for platform "${head}"`, {
      hint: `integrations: ${integrations.map((one) => one.id).join(', ') || 'none'}`,
    })
  }
  return address(through.id, order.to.slice(cut + 1), order.thread)
}
