// CHECKS: everything that can stop a message, as one table. Each check has its severity as data, the function that looks,
// and its texts in `src/words/en/health.ts`. `doctor`, `status`, the console and docs/reference/health.md all show this table.

import {
  type DoctorReport,
  defined,
  type Finding,
  type GateView,
  type HealthFinding,
  iso,
  type NodeView,
  type RecentRefusals,
  type SecurityFinding,
  type Severity,
  type Store,
} from '../contract/index.ts'
import { reasonIn, type Words, wordsIn } from '../words/index.ts'
import type { SilentApprovals } from './silent-approvals.ts'

/** What a check sees. A severity of its own replaces that of the check. */
export type Found = Omit<Finding, 'code' | 'severity'> & { readonly severity?: Severity }

/** `look` returns one entry for each place in which the check fails, in the words of the check. */
export interface Check<Facts, Texts> {
  readonly severity: Severity
  look(facts: Facts, words: Texts): readonly Found[]
}

type CheckWords = Words['health']['checks']

export type ReportBeforeChecks = Omit<DoctorReport, 'ok' | 'problems'>

/** The report of `doctor`, and facts that it does not show. */
export interface DeliveryFacts extends ReportBeforeChecks {
  readonly undelivered: { readonly failed: number; readonly unknown: number }
  /** Conversations whose messages wait behind a turn that does not end. */
  readonly waiting: Awaited<ReturnType<Store['waitingBehind']>>
  /** Due messages that an integration has not sent. `open`: how many of them may have arrived. */
  readonly sendsWaiting: Awaited<ReturnType<Store['waitingSends']>>
  /** Null: unknown. */
  readonly freeDiskBytes: number | null
  /** Agents whose hosts hold as many messages as they may. */
  readonly windowsFull: readonly { readonly agent: string; readonly reason: string }[]
  /** Refused within the last hour because of a limit, by integration. */
  readonly overLimit: readonly Pick<RecentRefusals, 'integration' | 'reason' | 'count'>[]
  /** Agents whose approvals reach no approver. */
  readonly silentApprovals: readonly SilentApprovals[]
}

const LEAST_DISK_BYTES = 200_000_000
/** The database's time decides, so nothing breaks, but logs of that machine carry wrong times. */
const CLOCK_SKEW_MS = 2_000

export type CheckCode = keyof CheckWords

/** A check and its words have the same code, so the compiler names each code that lacks one of them. */
export const CHECKS: {
  readonly [Code in CheckCode]: Check<DeliveryFacts, CheckWords[Code]>
} = {
  'store-away': {
    severity: 'high',
    look: ({ store: { problem } }, words) => (problem === undefined ? [] : [gateway(problem, words.mend)]),
  },
  'disk-low': {
    severity: 'high',
    look({ freeDiskBytes: free }, words) {
      if (free === null || free >= LEAST_DISK_BYTES) return []
      return [gateway(words.found({ megabytes: Math.round(free / 1_000_000) }), words.mend)]
    },
  },
  'config-rejected': {
    severity: 'high',
    look: ({ config: { problem } }, words) =>
      problem === null ? [] : [gateway(words.found({ problem }), 'switchboard check')],
  },
  'ledger-foreign': {
    severity: 'high',
    look: ({ ledger: { problem } }, words) => (problem === null ? [] : [gateway(problem, words.mend)]),
  },
  'nodes-differ': {
    severity: 'high',
    look: ({ cluster }, words) => differences(cluster?.nodes ?? [], words),
  },
  'clock-off': {
    severity: 'high',
    look: ({ cluster }, words) =>
      (cluster?.nodes ?? [])
        .filter(({ state, clock_skew_ms: skew }) => state === 'up' && Math.abs(skew) >= CLOCK_SKEW_MS)
        .map(({ node, clock_skew_ms: skew }) => {
          const off = { node, seconds: Math.round(Math.abs(skew) / 1000) }
          return gateway(skew > 0 ? words.ahead(off) : words.behind(off), words.mend)
        }),
  },
  'module-failed': {
    severity: 'high',
    look: ({ modules = [] }, words) =>
      modules.flatMap(({ from: id, problem }) =>
        problem === null ? [] : [about('module', id, words.found({ id, problem }), 'switchboard check')],
      ),
  },
  'module-changed': {
    severity: 'high',
    look: ({ modules = [] }, words) =>
      modules
        .filter(({ problem, changed, gone }) => problem === null && (changed || gone))
        .map(({ from: id, gone }) =>
          gone
            ? about('module', id, words.gone({ id }), words.mendGone)
            : about('module', id, words.changed({ id }), 'switchboard restart'),
        ),
  },
  'link-down': {
    severity: 'high',
    look: ({ integrations }, words) =>
      each('integration', integrations, ({ id, link, detail }) =>
        link === 'down' ? [words.found({ id, detail }), secretOr(detail, logsOf(id))] : null,
      ),
  },
  'history-behind': {
    severity: 'high',
    // Right after a start it is briefly behind without a reason.
    look: ({ integrations }, words) =>
      each('integration', integrations, ({ id, link, complete: { state, detail } }) =>
        link !== 'down' && state === 'behind' && detail ? [words.found({ id, detail }), logsOf(id)] : null,
      ),
  },
  'limit-hit': {
    severity: 'high',
    look: ({ integrations, overLimit }, words) =>
      overLimit.map(({ integration: id, reason, count }) => {
        const { refusals } = integrations.find((one) => one.id === id) ?? {}
        const key = refusals?.find((one) => one.reason === reason)?.key
        const text = words.found({ id, count, reason: reasonIn(wordsIn(), reason) })
        const list = `switchboard turns --integration ${id} --state refused`
        return about('integration', id, text, key ? words.mend({ key }) : list)
      }),
  },
  'agent-absent': {
    severity: 'high',
    look: ({ agents }, words) =>
      each('agent', agents, ({ id, state, connector, detail }) => {
        if (state !== 'absent') return null
        const remedy = isHosted(connector) ? words.mendHost({ id }) : secretOr(detail, 'switchboard logs')
        return [words.found({ id, detail }), remedy]
      }),
  },
  'agent-unreachable': {
    severity: 'high',
    look: ({ agents }, words) =>
      each('agent', agents, ({ id, state, since, detail }) =>
        state === 'unreachable' ? [words.found({ id, since, detail }), words.mend] : null,
      ),
  },
  'agent-was-unreachable': {
    severity: 'medium',
    look: ({ agents }, words) =>
      each('agent', agents, ({ id, was_unreachable: was }) =>
        was === undefined ? null : [words.found({ id, was }), words.mend],
      ),
  },
  'agent-failing': {
    severity: 'high',
    look: ({ agents }, words) =>
      each('agent', agents, ({ id, state, since, detail }) =>
        state === 'failing' ? [words.found({ id, since, detail }), words.mend] : null,
      ),
  },
  'agent-unbound': {
    severity: 'high',
    look: ({ agents, schedules = [] }, words) =>
      each('agent', agents, ({ id, bindings }) => {
        if (bindings.length > 0 || schedules.some(({ agent }) => agent === id)) return null
        return [words.found({ id }), `agents: ${id}: inbound_bindings`]
      }),
  },
  'agent-trouble': {
    severity: 'high',
    // The detail of a host, or of a node, is only its name.
    look: ({ agents }, words) =>
      each('agent', agents, ({ id, state, connector, detail }) => {
        const isName = detail === undefined || isHosted(connector) || /^at node [^:]*$/.test(detail)
        return state !== 'attached' || isName ? null : [words.found({ id, detail }), words.mend]
      }),
  },
  'gate-closed': { severity: 'high', look: closedGates },
  'window-full': {
    severity: 'high',
    look: ({ windowsFull }, words) =>
      windowsFull.map(({ agent: id, reason }) =>
        about('agent', id, words.found({ id, reason }), words.mend({ list: handedOf(id) })),
      ),
  },
  'turn-unseen': {
    severity: 'high',
    look: ({ unseen = [] }, words) =>
      unseen.flatMap(({ turn, agent: id, why, more }) => [
        about('agent', id, words.found({ turn, id, why }), `switchboard logs --turn ${turn}`),
        ...(more ? [about('agent', id, words.more({ id }), handedOf(id))] : []),
      ]),
  },
  'turns-waiting': {
    severity: 'high',
    look: ({ waiting }, words) =>
      waiting.map(({ agent: id, turn, since, behind: count }) =>
        about('agent', id, words.found({ count, turn, id, since: iso(since) }), words.mend({ turn })),
      ),
  },
  'host-turned-away': {
    severity: 'high',
    look: ({ turned_away: away = [] }, words) =>
      away.map(({ agent: id, reason }) =>
        about('agent', id, words.found({ id, reason }), hostRemedy(id, reason, words)),
      ),
  },
  'tools-left-out': {
    severity: 'high',
    look: ({ tools_left_out: leftOut = [] }, words) =>
      leftOut.map(({ server, problem }) =>
        about('server', server, words.found({ server, problem }), words.mend),
      ),
  },
  'sends-waiting': {
    severity: 'high',
    look: ({ sendsWaiting }, words) =>
      sendsWaiting.map(({ integration: id, waiting: count, open, since }) => {
        const list = `switchboard outbox --integration ${id} --state queued,sending`
        return about('integration', id, words.found({ id, count, open, since: iso(since) }), list)
      }),
  },
  'sends-undelivered': {
    severity: 'high',
    look({ undelivered: { failed, unknown } }, words) {
      const lost = gateway(words.failed({ count: failed }), 'switchboard outbox --state failed')
      const unsure = gateway(words.unknown({ count: unknown }), words.mendUnknown)
      return [...(failed > 0 ? [lost] : []), ...(unknown > 0 ? [unsure] : [])]
    },
  },
  'approvals-unreachable': {
    severity: 'high',
    look: ({ silentApprovals }, words) =>
      silentApprovals.map(({ agent: id, reason, key }) =>
        about('agent', id, words.found({ id, reason }), words.mend({ key })),
      ),
  },
}

/** Runs all checks of a table, in its order. */
export function findings<Facts, Texts extends object>(
  checks: { readonly [Code in keyof Texts]: Check<Facts, Texts[Code]> },
  facts: Facts,
  words: Texts,
): readonly Finding[] {
  const codes = Object.keys(checks) as (keyof Texts & string)[]
  return codes.flatMap((code) => {
    const { severity, look } = checks[code]
    return look(facts, words[code]).map((found) => ({ code, severity, ...found }))
  })
}

/** Returns what stands in the way of messages, in the shape of `doctor` and `status`. */
export function problemsOf(facts: DeliveryFacts): readonly HealthFinding[] {
  const words = wordsIn().health.checks
  return findings(CHECKS, facts, words).map(({ code, severity, subject, text, remedy }) => {
    const { word } = words[code as CheckCode]
    return { code, severity: severityWord(severity), word, subject, text, remedy }
  })
}

/** The severity of a check as `doctor`, `status` and the reference page name it. */
export function severityWord(severity: Severity): HealthFinding['severity'] {
  return severity === 'high' ? 'problem' : 'warning'
}

/** `fix`: what `--fix` does. Absent: the operator must decide. */
export type Risk = Pick<Finding, 'severity' | 'text' | 'remedy'> & { readonly fix?: string }

/** Returns a finding in the shape of `doctor --security`. */
export function asRisk({ severity, text, remedy, fix }: Risk): SecurityFinding {
  return { severity, what: text, key: remedy, ...defined({ fix }) }
}

function gateway(text: string, remedy: string): Found {
  return { subject: 'gateway', text, remedy }
}

/** `look` returns the text and the remedy. */
function each<Row extends { readonly id: string }>(
  kind: 'integration' | 'agent',
  rows: readonly Row[],
  look: (row: Row) => readonly [string, string] | null,
): readonly Found[] {
  return rows.flatMap((row) => {
    const seen = look(row)
    return seen === null ? [] : [about(kind, row.id, ...seen)]
  })
}

type Kind = 'module' | 'integration' | 'agent' | 'server'

function about(kind: Kind, id: string, text: string, remedy: string): Found {
  return { subject: `${kind} ${id}`, text, remedy }
}

/** A person starts the host of such an agent. */
const isHosted = (connector: string) => connector === 'channel'
const logsOf = (integration: string) => `switchboard logs --integration ${integration}`
const handedOf = (agent: string) => `switchboard turns --agent ${agent} --state handed`

/** A broken secret reference is solved by setting the secret; otherwise the log explains. */
function secretOr(detail: string | undefined, logs: string): string {
  const name = /secret:([A-Za-z0-9_.-]+)/.exec(detail ?? '')?.[1]
  return name === undefined ? logs : `switchboard secrets set ${name}`
}

function differences(nodes: readonly NodeView[], words: CheckWords['nodes-differ']): readonly Found[] {
  const found: Found[] = []
  const up = nodes.filter(({ state }) => state === 'up')
  const named = (digest: string) => up.filter((one) => one.digest === digest).map(({ node }) => node)
  const digests = [...new Set(up.map(({ digest }) => digest))]
  if (digests.length > 1) {
    const groups = digests.map((digest) =>
      words.group({ nodes: named(digest).join(', '), digest: digest.slice(0, 12) }),
    )
    found.push(gateway(words.configurations({ groups: groups.join('; ') }), words.mendConfigurations))
  }
  for (const node of new Set(up.map((one) => one.node))) {
    if (up.filter((one) => one.node === node).length > 1)
      found.push(gateway(words.sameName({ node }), words.mendSameName))
  }
  const versions = [...new Set(up.map(({ version }) => version))]
  if (versions.length > 1)
    found.push(gateway(words.versions({ versions: versions.join(', ') }), words.mendVersions))
  for (const { node, state, seen_at: seenAt } of nodes)
    if (state !== 'up') found.push(gateway(words.gone({ node, seenAt }), words.mendGone))
  return found
}

function closedGates(
  { integrations, agents }: DeliveryFacts,
  words: CheckWords['gate-closed'],
): readonly Found[] {
  const byId = new Map(integrations.map((one) => [one.id, one]))
  const ofIntegrations = integrations.flatMap(({ id, gates }) =>
    gates
      .filter(({ pass, gate }) => !pass && gate !== 'link')
      .map((one) => about('integration', id, words.ofIntegration({ id, ...one }), words.mend(one))),
  )
  const ofBindings = agents.flatMap((agent) =>
    agent.bindings.flatMap(({ integration, gates }) =>
      gates
        .filter((one) => !one.pass && !isNamedAlready(agent, byId.get(integration), one))
        .map((one) => {
          const text = `${integration} → ${agent.id}: ${one.gate}: ${one.reason}`
          return about('agent', agent.id, text, words.mend(one))
        }),
    ),
  )
  return [...ofIntegrations, ...ofBindings]
}

/** A finding about the integration or agent is not repeated for each binding. */
function isNamedAlready(
  agent: DoctorReport['agents'][number],
  integration: DoctorReport['integrations'][number] | undefined,
  gate: GateView,
): boolean {
  return (
    (gate.gate === 'link' && integration?.link === 'down') ||
    (!agent.attached && /^(agent|attached|host|connector)$/.test(gate.gate)) ||
    integration?.gates.some((one) => one.gate === gate.gate && !one.pass) === true
  )
}

/** A refusal by token or prefix cannot be solved by set-up on this machine. */
function hostRemedy(id: string, reason: string, words: CheckWords['host-turned-away']): string {
  if (reason.includes('may not be attached for')) return words.mendToken({ id })
  if (reason.includes('is configured with dialect')) return words.mendDialect({ id })
  return `switchboard init claude-code --agent ${id}`
}
