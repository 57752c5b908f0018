// What the modules themselves say to `doctor`: how each stands, and what they find right or wrong with an integration or
// agent. Code of others: whatever it does, doctor answers.
import { existsSync } from 'node:fs'
import type {
  AgentSettings,
  DoctorReport,
  GateView,
  IntegrationSettings,
  Settings,
} from '../contract/index.ts'
import type { StatusDeps } from './status.ts'

export function createModuleGates(adapters: StatusDeps['adapters'], settings: () => Settings) {
  const server = () => ({ publicUrl: settings().server.publicUrl })
  const ofIntegration = (one: IntegrationSettings): readonly GateView[] => {
    const module = adapters?.loadedPlatform(one.platform, settings().modules)
    return looked(() => module?.doctor?.(one, server()), one.origin)
  }
  const ofAgent = (one: AgentSettings): readonly GateView[] => {
    const module = adapters?.loadedConnector(one.connector.type, settings().modules)
    return looked(() => module?.doctor?.(one, server()), `${one.origin}.connector`)
  }
  return {
    ofIntegration,
    ofAgent,
    /** Of all that is switched on. */
    all(): readonly { readonly of: string; readonly gate: GateView }[] {
      const { integrations, agents } = settings()
      const on = integrations.filter(({ enabled }) => enabled)
      return [
        ...on.flatMap((one) => ofIntegration(one).map((gate) => ({ of: `integration ${one.id}`, gate }))),
        ...agents.flatMap((one) => ofAgent(one).map((gate) => ({ of: `agent ${one.id}`, gate }))),
      ]
    },
    /** Nothing where no module is named. */
    standing(): Pick<DoctorReport, 'modules'> {
      const { modules = [] } = settings()
      const changed = adapters?.changed(modules)
      if (modules.length === 0) return {}
      return {
        modules: modules.map((one) => {
          if (!changed?.has(one.from)) return { ...one, changed: false }
          const gone = one.file !== null && !existsSync(one.file)
          return { ...one, changed: true, ...(gone ? { gone } : {}) }
        }),
      }
    },
  }
}

function looked(look: () => unknown, key: string): readonly GateView[] {
  try {
    const found = look() ?? []
    if (Array.isArray(found) && found.every(isGate)) return found
    return [failed('its module answered nonsense', key)]
  } catch (thrown) {
    return [failed(`its module threw: ${String(thrown).slice(0, 200)}`, key)]
  }
}

function isGate(one: unknown): one is GateView {
  if (typeof one !== 'object' || one === null) return false
  const { gate, pass, reason, key, open } = one as Partial<GateView>
  return (
    typeof gate === 'string' &&
    typeof pass === 'boolean' &&
    typeof reason === 'string' &&
    typeof key === 'string' &&
    (open === undefined || open === 'high' || open === 'medium' || open === 'low')
  )
}

function failed(reason: string, key: string): GateView {
  return { gate: 'module', pass: false, reason, key }
}
