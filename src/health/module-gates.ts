// The modules' own results for `doctor`: the state of each, and its findings about an integration or agent. This is
// third-party code, and doctor answers whatever it does.
import { existsSync } from 'node:fs'
import {
  type AgentSettings,
  type ApprovalsOpened,
  bindingsAt,
  type DoctorReport,
  type GateView,
  type IntegrationSettings,
  type SecurityFinding,
  type ServerReach,
  type Settings,
} from '../contract/index.ts'
import { listedRights } from '../core/people/approvers.ts'
import { wordsIn } from '../words/index.ts'
import type { Found } from './checks.ts'
import type { DoctorDeps } from './doctor.ts'

/** The modules' results for `doctor --security`. */
export interface ModuleRisks {
  readonly found: readonly Found[]
  /** Modules that gave no valid result. */
  readonly unjudged: readonly string[]
}

export function createModuleGates(adapters: DoctorDeps['adapters'], settings: () => Settings) {
  const server = () => ({ publicUrl: settings().server.publicUrl })
  const platformOf = (one: IntegrationSettings) => adapters?.loadedPlatform(one.platform, settings().modules)
  const connectorOf = (one: AgentSettings) =>
    adapters?.loadedConnector(one.connector.type, settings().modules)
  const ofIntegration = (one: IntegrationSettings): readonly GateView[] =>
    looked(() => platformOf(one)?.doctor?.(one, server()), one.origin)
  const ofAgent = (one: AgentSettings): readonly GateView[] =>
    looked(() => connectorOf(one)?.doctor?.(one, server()), `${one.origin}.connector`)
  const opensAt = (one: IntegrationSettings): ApprovalsOpened => ({
    approvers: listedRights(settings(), one)
      .filter(({ right }) => right === 'approve')
      .map(({ sender }) => sender),
    real: bindingsAt(settings(), one.id).some(({ agent }) => agent.connector.type !== 'demo'),
  })
  return {
    ofIntegration,
    ofAgent,
    /** Returns the modules' findings and open gates for all agents and enabled integrations. */
    risks(reach: ServerReach): ModuleRisks {
      const words = wordsIn().security.unjudged
      const unjudged: string[] = []
      const risksAt = (
        subject: string,
        gates: readonly GateView[],
        look: () => unknown,
      ): readonly Found[] => {
        const answer = answerOf(look, isFinding)
        if (answer.problem !== null) unjudged.push(words.module({ subject, why: answer.problem }))
        return [
          ...answer.found.map(({ severity, what, key }) => ({ subject, severity, text: what, remedy: key })),
          ...gates.flatMap(({ open, reason, key }) =>
            open === undefined
              ? []
              : [{ subject, severity: open, text: `${subject}: ${reason}`, remedy: key }],
          ),
        ]
      }
      const { integrations, agents } = settings()
      const found = [
        ...integrations
          .filter(({ enabled }) => enabled)
          .flatMap((one) =>
            risksAt(`integration ${one.id}`, ofIntegration(one), () =>
              platformOf(one)?.security?.(one, reach, opensAt(one)),
            ),
          ),
        ...agents.flatMap((one) =>
          risksAt(`agent ${one.id}`, ofAgent(one), () => connectorOf(one)?.security?.(one, reach)),
        ),
      ]
      return { found, unjudged }
    },
    asks: (one: AgentSettings): boolean => {
      try {
        return connectorOf(one)?.asks?.(one.connector.options) === true
      } catch {
        return false
      }
    },
    /** Returns nothing if the configuration names no module. */
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
  const { found, problem } = answerOf(look, isGate)
  return problem === null ? found : [{ gate: 'module', pass: false, reason: problem, key }]
}

function answerOf<T>(
  look: () => unknown,
  isOne: (one: unknown) => one is T,
): { readonly found: readonly T[]; readonly problem: string | null } {
  try {
    const found = look() ?? []
    if (Array.isArray(found) && found.every(isOne)) return { found, problem: null }
    return { found: [], problem: wordsIn().gates.module.nonsense }
  } catch (thrown) {
    return { found: [], problem: wordsIn().gates.module.threw({ why: String(thrown).slice(0, 200) }) }
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
    (open === undefined || isSeverity(open))
  )
}

function isFinding(one: unknown): one is SecurityFinding {
  if (typeof one !== 'object' || one === null) return false
  const { severity, what, key } = one as Partial<SecurityFinding>
  return isSeverity(severity) && typeof what === 'string' && typeof key === 'string'
}

function isSeverity(one: unknown): boolean {
  return one === 'high' || one === 'medium' || one === 'low'
}
