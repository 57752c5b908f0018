// HEALTH: everything that blocks a message, as findings of the health table, worst first. `doctor`, `status` and the
// console show only these findings.
import {
  type DoctorReport,
  type GateView,
  HEALTH,
  type HealthCode,
  type HealthFinding,
  REASONS,
  type ReasonCode,
} from '../contract/index.ts'

/** A conversation whose messages wait behind a turn that does not end. */
export interface WaitingConversation {
  readonly agent: string
  readonly turn: string
  readonly since: string
  readonly behind: number
}

/** Due messages that an integration has not sent. */
export interface WaitingSends {
  readonly integration: string
  readonly waiting: number
  /** How many of them may have arrived. */
  readonly open: number
  readonly since: string
}

/** The daemon's facts beside the report. */
export interface HealthFacts {
  readonly undelivered: { readonly failed: number; readonly unknown: number }
  readonly waiting: readonly WaitingConversation[]
  readonly sendsWaiting: readonly WaitingSends[]
  /** Null: unknown. */
  readonly freeDiskBytes: number | null
  /** Agents whose hosts hold as many messages as they may. */
  readonly windowsFull: readonly { readonly agent: string; readonly reason: string }[]
  /** Refused within the last hour because of a limit, by integration. */
  readonly overLimit: readonly {
    readonly integration: string
    readonly reason: string
    readonly count: number
  }[]
  /** Agents whose approvals reach no approver, with the reason and the key that would change it. */
  readonly approvalsReachNobody: readonly {
    readonly agent: string
    readonly reason: string
    readonly key: string
  }[]
}

export type ReportBeforeHealth = Omit<DoctorReport, 'ok' | 'problems'>

type Integration = ReportBeforeHealth['integrations'][number]
type Agent = ReportBeforeHealth['agents'][number]

const LEAST_DISK_BYTES = 200_000_000

export function healthFindings(report: ReportBeforeHealth, facts: HealthFacts): readonly HealthFinding[] {
  return [
    ...ofGateway(report, facts),
    ...ofIntegrations(report, facts),
    ...ofAgents(report, facts),
    ...ofTurns(report, facts),
  ]
}

function finding(code: HealthCode, subject: string, text: string, remedy: string): HealthFinding {
  const { severity, word } = HEALTH[code]
  return { code, severity, word, subject, text, remedy }
}

function* ofGateway(report: ReportBeforeHealth, facts: HealthFacts): Generator<HealthFinding> {
  const { store, config, ledger, cluster, modules = [] } = report
  const gateway = (code: HealthCode, text: string, remedy: string) => finding(code, 'gateway', text, remedy)
  if (store.problem !== undefined)
    yield gateway('store-away', store.problem, 'mend what it says; it goes on by itself')
  if (facts.freeDiskBytes !== null && facts.freeDiskBytes < LEAST_DISK_BYTES)
    yield gateway(
      'disk-low',
      `the disk of the data folder has ${Math.round(facts.freeDiskBytes / 1_000_000)} MB left`,
      'free space there',
    )
  if (config.problem !== null)
    yield gateway(
      'config-rejected',
      `the file does not hold, the one before stays in force: ${config.problem}`,
      'switchboard check',
    )
  if (ledger?.problem)
    yield gateway(
      'ledger-foreign',
      ledger.problem,
      'put the old ledger.key back, or set SWITCHBOARD_LEDGER_KEY, and restart; switchboard audit verify says which part it is',
    )
  for (const warning of cluster?.warnings ?? []) {
    yield warning.startsWith('the clock of')
      ? gateway('clock-off', warning, 'let that machine keep time by NTP')
      : gateway('nodes-differ', warning, nodesRemedy(warning))
  }
  for (const { from, problem, changed, gone } of modules) {
    const subject = `module ${from}`
    if (problem !== null)
      yield finding('module-failed', subject, `${subject}: ${problem}`, 'switchboard check')
    else if (gone)
      yield finding(
        'module-changed',
        subject,
        `the file of ${subject} is gone (no such file): what was loaded runs until the next start`,
        'put it back, or take it out of modules:',
      )
    else if (changed)
      yield finding(
        'module-changed',
        subject,
        `${subject} changed since it was loaded`,
        'switchboard restart',
      )
  }
}

function* ofIntegrations(
  { integrations }: ReportBeforeHealth,
  { overLimit }: HealthFacts,
): Generator<HealthFinding> {
  for (const { integration, reason, count } of overLimit) {
    const refused = integrations
      .find(({ id }) => id === integration)
      ?.refusals?.find((one) => one.reason === reason)
    yield finding(
      'limit-hit',
      `integration ${integration}`,
      `integration ${integration}: ${count === 1 ? '1 message was' : `${count} messages were`} refused within the last hour. ${REASONS[reason as ReasonCode].text}`,
      refused?.key
        ? `change ${refused.key}`
        : `switchboard turns --integration ${integration} --state refused`,
    )
  }
  for (const { id, link, detail, gates, complete } of integrations) {
    const subject = `integration ${id}`
    const because = detail === undefined ? '' : `: ${detail}`
    if (link === 'down')
      yield finding(
        'link-down',
        subject,
        `${subject} is down${because}`,
        remedyOf(detail, `switchboard logs --integration ${id}`),
      )
    for (const gate of gates)
      if (!gate.pass && gate.gate !== 'link')
        yield finding('gate-closed', subject, `${subject}: ${gate.gate}: ${gate.reason}`, keyOf(gate))
    // Right after a start it is briefly behind without a reason.
    if (link !== 'down' && complete?.state === 'behind' && complete.detail !== undefined)
      yield finding(
        'history-behind',
        subject,
        `${subject} is behind: ${complete.detail}`,
        `switchboard logs --integration ${id}`,
      )
  }
}

function* ofAgents(report: ReportBeforeHealth, facts: HealthFacts): Generator<HealthFinding> {
  const integrations = new Map(report.integrations.map((one) => [one.id, one]))
  for (const agent of report.agents) {
    const { id, connector, state, since, detail, bindings } = agent
    const subject = `agent ${id}`
    // A person starts the host of such an agent.
    const isHosted = connector === 'channel'
    if (state === 'absent')
      yield finding(
        'agent-absent',
        subject,
        `${subject} is absent${detail === undefined ? '' : `: ${detail}`}`,
        isHosted
          ? `switchboard init claude-code --agent ${id}, then start Claude Code as it says`
          : remedyOf(detail, 'switchboard logs'),
      )
    else if (state === 'unreachable')
      yield finding(
        'agent-unreachable',
        subject,
        `${subject} is unreachable since ${since}: ${detail}`,
        'start the agent, or mend its url; waiting messages follow by themselves',
      )
    else if (state === 'failing')
      yield finding(
        'agent-failing',
        subject,
        `${subject} is failing since ${since}: ${detail}`,
        'mend what it says; the state goes with the next good answer',
      )
    // The detail of a host, or of a node, is only its name.
    else if (detail !== undefined && !isHosted && !/^at node [^:]*$/.test(detail))
      yield finding(
        'agent-trouble',
        subject,
        `${subject}: ${detail}`,
        'mend what it says; it goes on by itself',
      )
    if (agent.was_unreachable !== undefined)
      yield finding(
        'agent-was-unreachable',
        subject,
        `${subject} was unreachable at its last message, ${agent.was_unreachable}`,
        'write to it, or look whether it runs',
      )
    const isScheduled = report.schedules?.some((one) => one.agent === id) === true
    if (bindings.length === 0 && !isScheduled)
      yield finding(
        'agent-unbound',
        subject,
        `${subject} is bound to nothing: nobody can reach it`,
        `agents: ${id}: inbound_bindings`,
      )
    for (const { integration, gates } of bindings)
      for (const gate of gates)
        if (!gate.pass && !isNamedAlready(agent, integrations.get(integration), gate))
          yield finding(
            'gate-closed',
            subject,
            `${integration} → ${id}: ${gate.gate}: ${gate.reason}`,
            keyOf(gate),
          )
  }
  for (const { agent, reason, key } of facts.approvalsReachNobody)
    yield finding(
      'approvals-unreachable',
      `agent ${agent}`,
      `approvals of ${agent} reach nobody: ${reason}`,
      `change ${key}`,
    )
}

function* ofTurns(report: ReportBeforeHealth, facts: HealthFacts): Generator<HealthFinding> {
  for (const { turn, agent, why, more } of report.unseen ?? []) {
    yield finding(
      'turn-unseen',
      `agent ${agent}`,
      `turn ${turn} of ${agent} was handed over, and nothing shows that it was seen: ${why}`,
      `switchboard logs --turn ${turn}`,
    )
    if (more)
      yield finding(
        'turn-unseen',
        `agent ${agent}`,
        `more turns of ${agent} lie there unseen`,
        `switchboard turns --agent ${agent} --state handed`,
      )
  }
  for (const { agent, reason } of facts.windowsFull)
    yield finding(
      'window-full',
      `agent ${agent}`,
      `agent ${agent}: ${reason}`,
      `answer or acknowledge them in the session of its host; switchboard turns --agent ${agent} --state handed`,
    )
  for (const { agent, turn, since, behind } of facts.waiting)
    yield finding(
      'turns-waiting',
      `agent ${agent}`,
      `${behind === 1 ? '1 message waits' : `${behind} messages wait`} behind turn ${turn} of ${agent}, which has not ended since ${since}`,
      `switchboard turns show ${turn}; /stop in that chat ends it`,
    )
  for (const { integration, waiting, open, since } of facts.sendsWaiting) {
    const many = waiting === 1 ? '1 message waits' : `${waiting} messages wait`
    const unsure = open === 0 ? '' : `; ${open} of them may have arrived already`
    yield finding(
      'sends-waiting',
      `integration ${integration}`,
      `integration ${integration}: ${many} to be sent, the oldest since ${since}${unsure}`,
      `switchboard outbox --integration ${integration} --state queued,sending`,
    )
  }
  const { failed, unknown } = facts.undelivered
  if (failed > 0)
    yield finding(
      'sends-undelivered',
      'gateway',
      `${failed === 1 ? '1 message' : `${failed} messages`} could not be delivered`,
      'switchboard outbox --state failed',
    )
  if (unknown > 0)
    yield finding(
      'sends-undelivered',
      'gateway',
      `${unknown === 1 ? '1 message' : `${unknown} messages`} may not have arrived`,
      'switchboard outbox --state unknown; look in the chat before a retry, which may show it twice',
    )
  for (const { agent, reason } of report.turned_away ?? [])
    yield finding(
      'host-turned-away',
      `agent ${agent}`,
      `a host for ${agent} was turned away: ${reason}`,
      hostRemedy(agent, reason),
    )
  for (const { server, problem } of report.tools_left_out ?? [])
    yield finding(
      'tools-left-out',
      `server ${server}`,
      `tools of ${server} are left out: ${problem}`,
      'let its service mend that server, or set allow_private where its address is private; it is asked again by itself',
    )
}

/** By the cluster's warning. */
function nodesRemedy(warning: string): string {
  if (warning.startsWith('node ')) return 'start it again; after an hour it is not named any more'
  if (warning.startsWith('two running daemons')) return 'stop one of them; switchboard status lists the nodes'
  const what = warning.includes('versions') ? 'version' : 'configuration'
  return `give all nodes the same ${what}; switchboard status lists them`
}

/** A refusal by token or prefix cannot be solved by set-up on this machine. */
function hostRemedy(agent: string, reason: string): string {
  if (reason.includes('may not be attached for'))
    return `give that host a token of ${agent}: switchboard token mint --kind agent --agent ${agent}`
  if (reason.includes('is configured with dialect'))
    return `change connector.dialect of ${agent}, or start the shim with another --dialect`
  return `switchboard init claude-code --agent ${agent}`
}

const keyOf = (gate: GateView) => (gate.key === '' ? 'see the reason' : `change ${gate.key}`)

/** A finding about the integration or agent is not repeated for each binding. */
function isNamedAlready(agent: Agent, integration: Integration | undefined, gate: GateView): boolean {
  return (
    (gate.gate === 'link' && integration?.link === 'down') ||
    (!agent.attached && /^(agent|attached|host|connector)$/.test(gate.gate)) ||
    integration?.gates.some((one) => one.gate === gate.gate && !one.pass) === true
  )
}

/** A broken secret reference is solved by setting the secret; otherwise the log explains. */
function remedyOf(detail: string | undefined, logs: string): string {
  const name = /secret:([A-Za-z0-9_.-]+)/.exec(detail ?? '')?.[1]
  return name === undefined ? logs : `switchboard secrets set ${name}`
}
