// CHECKS: everything that can stop a message, as one table. Each check has its severity and remedy as data, and the
// function that looks. `doctor`, `status`, the console and docs/reference/health.md all show this table.

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
import { reasonIn, wordsIn } from '../words/index.ts'
import type { SilentApprovals } from './silent-approvals.ts'

/** What a check sees. A severity of its own replaces that of the check. */
export type Found = Omit<Finding, 'code' | 'severity'> & { readonly severity?: Severity }

/** `look` returns one entry for each place in which the check fails. */
export interface Check<Facts> {
  readonly severity: Severity
  look(facts: Facts): readonly Found[]
}

interface DeliveryCheck extends Check<DeliveryFacts> {
  /** The state in a word or two, the same everywhere. */
  readonly word: string
  /** When it fails, for the reference page. */
  readonly when: string
  /** What an operator does about it in general. The finding names the command or key of its case. */
  readonly remedy: string
}

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

export const CHECKS = {
  'store-away': {
    severity: 'high',
    word: 'not storing',
    when: 'Messages cannot be stored. Nothing is acknowledged meanwhile.',
    remedy: 'Mend what the reason says; the daemon goes on by itself.',
    look: ({ store: { problem } }) =>
      problem === undefined ? [] : [gateway(problem, 'mend what it says; it goes on by itself')],
  },
  'disk-low': {
    severity: 'high',
    word: 'disk low',
    when: 'The disk of the data folder has less than 200 MB left.',
    remedy: 'Free space, or let retention prune more: `retention` in the configuration.',
    look({ freeDiskBytes: free }) {
      if (free === null || free >= LEAST_DISK_BYTES) return []
      const text = `the disk of the data folder has ${Math.round(free / 1_000_000)} MB left`
      return [gateway(text, 'free space there')]
    },
  },
  'config-rejected': {
    severity: 'high',
    word: 'rejected',
    when: 'The configuration file does not hold. The one before stays in force.',
    remedy: '`switchboard check` says where; save the file again.',
    look({ config: { problem } }) {
      const text = `the file does not hold, the one before stays in force: ${problem}`
      return problem === null ? [] : [gateway(text, 'switchboard check')]
    },
  },
  'ledger-foreign': {
    severity: 'high',
    word: 'foreign ledger',
    when: 'A part of the ledger was signed with another key than the present `ledger.key`.',
    remedy:
      'Put the old `ledger.key` back into the data folder, or set `SWITCHBOARD_LEDGER_KEY`, and restart. `switchboard audit verify` says which part it is.',
    look({ ledger: { problem } }) {
      const remedy =
        'put the old ledger.key back, or set SWITCHBOARD_LEDGER_KEY, and restart; switchboard audit verify says which part it is'
      return problem === null ? [] : [gateway(problem, remedy)]
    },
  },
  'nodes-differ': {
    severity: 'high',
    word: 'nodes differ',
    when: 'Nodes run different configurations or versions, have the same name, or one of them is gone.',
    remedy:
      '`switchboard status` lists the nodes. Give all of them the same configuration and version, and each a name of its own. Start the node that is gone; after an hour it is not named any more.',
    look: ({ cluster }) => differences(cluster?.nodes ?? []),
  },
  'clock-off': {
    severity: 'high',
    word: 'clock off',
    when: 'The clock of a node differs from the clock of the database by 2 seconds or more. No message is lost by it, but logs of that machine carry wrong times.',
    remedy: 'Let the machine keep time by NTP.',
    look: ({ cluster }) =>
      (cluster?.nodes ?? [])
        .filter(({ state, clock_skew_ms: skew }) => state === 'up' && Math.abs(skew) >= CLOCK_SKEW_MS)
        .map(({ node, clock_skew_ms: skew }) => {
          const off = `${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead of' : 'behind'}`
          const text = `the clock of node ${node} is ${off} the database's (which decides)`
          return gateway(text, 'let that machine keep time by NTP')
        }),
  },
  'module-failed': {
    severity: 'high',
    word: 'module failed',
    when: 'A module of `modules:` cannot be used. What needs it is down.',
    remedy: '`switchboard check` says why; then `switchboard restart`.',
    look: ({ modules = [] }) =>
      modules.flatMap(({ from, problem }) =>
        problem === null ? [] : [about('module', from, `: ${problem}`, 'switchboard check')],
      ),
  },
  'module-changed': {
    severity: 'high',
    word: 'module changed',
    when: 'The file of a module changed, or is gone, since it was loaded.',
    remedy: '`switchboard restart`, or put the file back.',
    look: ({ modules = [] }) =>
      modules
        .filter(({ problem, changed, gone }) => problem === null && (changed || gone))
        .map(({ from, gone }) => {
          if (!gone) return about('module', from, ' changed since it was loaded', 'switchboard restart')
          const text = `the file of module ${from} is gone (no such file): what was loaded runs until the next start`
          return { subject: `module ${from}`, text, remedy: 'put it back, or take it out of modules:' }
        }),
  },
  'link-down': {
    severity: 'high',
    word: 'down',
    when: 'An integration has no connection to its platform, or the platform refuses its key.',
    remedy: '`switchboard logs --integration ID` has the story.',
    look: ({ integrations }) =>
      each('integration', integrations, ({ id, link, detail }) =>
        link === 'down' ? [` is down${because(detail)}`, secretOr(detail, logsOf(id))] : null,
      ),
  },
  'history-behind': {
    severity: 'high',
    word: 'behind',
    when: 'The history of an integration was not compared, so messages may be missing.',
    remedy:
      'Give the bot the permission that the reason names, or mend the link. The history is then compared again by itself. `switchboard logs --integration ID` has the story.',
    // Right after a start it is briefly behind without a reason.
    look: ({ integrations }) =>
      each('integration', integrations, ({ id, link, complete: { state, detail } }) =>
        link !== 'down' && state === 'behind' && detail ? [` is behind: ${detail}`, logsOf(id)] : null,
      ),
  },
  'limit-hit': {
    severity: 'high',
    word: 'over its limit',
    when: 'Messages were refused within the last hour because a limit was reached.',
    remedy: 'Raise the limit that stands beside it, or find out who sends so much.',
    look: ({ integrations, overLimit }) =>
      overLimit.map(({ integration, reason, count }) => {
        const { refusals } = integrations.find(({ id }) => id === integration) ?? {}
        const key = refusals?.find((one) => one.reason === reason)?.key
        const messages = count === 1 ? '1 message was' : `${count} messages were`
        const text = `: ${messages} refused within the last hour. ${reasonIn(wordsIn(), reason)}`
        const list = `switchboard turns --integration ${integration} --state refused`
        return about('integration', integration, text, key ? `change ${key}` : list)
      }),
  },
  'agent-absent': {
    severity: 'high',
    word: 'absent',
    when: 'Nothing is attached that could answer for the agent. Its turns wait.',
    remedy: 'Start its host, or mend what the reason says.',
    look: ({ agents }) =>
      each('agent', agents, ({ id, state, connector, detail }) => {
        if (state !== 'absent') return null
        const host = `switchboard init claude-code --agent ${id}, then start Claude Code as it says`
        return [
          ` is absent${because(detail)}`,
          isHosted(connector) ? host : secretOr(detail, 'switchboard logs'),
        ]
      }),
  },
  'agent-unreachable': {
    severity: 'high',
    word: 'unreachable',
    when: 'No request reaches the agent. Its turns wait.',
    remedy: 'Start the agent, or mend its URL. Waiting messages follow by themselves.',
    look: ({ agents }) =>
      each('agent', agents, ({ state, since, detail }) => {
        if (state !== 'unreachable') return null
        const remedy = 'start the agent, or mend its url; waiting messages follow by themselves'
        return [` is unreachable since ${since}: ${detail}`, remedy]
      }),
  },
  'agent-was-unreachable': {
    severity: 'medium',
    word: 'was unreachable',
    when: 'No request reached the agent when it was tried last. Nothing waits for it, so that it is not tried now.',
    remedy: 'Write to the agent, or look whether it runs. The warning goes with its next answer.',
    look: ({ agents }) =>
      each('agent', agents, ({ was_unreachable: was }) => {
        if (was === undefined) return null
        return [` was unreachable at its last message, ${was}`, 'write to it, or look whether it runs']
      }),
  },
  'agent-failing': {
    severity: 'high',
    word: 'failing',
    when: 'The agent is reached and cannot answer: a wrong key, a form that is not understood, a spent budget.',
    remedy: 'Mend what the reason says. The state goes with the next good answer.',
    look: ({ agents }) =>
      each('agent', agents, ({ state, since, detail }) => {
        if (state !== 'failing') return null
        const remedy = 'mend what it says; the state goes with the next good answer'
        return [` is failing since ${since}: ${detail}`, remedy]
      }),
  },
  'agent-unbound': {
    severity: 'high',
    word: 'unbound',
    when: 'The agent is bound to nothing and has no schedule, so that nobody can reach it.',
    remedy: 'Add `inbound_bindings` to the agent, or `switchboard agents remove ID`.',
    look: ({ agents, schedules = [] }) =>
      each('agent', agents, ({ id, bindings }) => {
        if (bindings.length > 0 || schedules.some(({ agent }) => agent === id)) return null
        return [' is bound to nothing: nobody can reach it', `agents: ${id}: inbound_bindings`]
      }),
  },
  'agent-trouble': {
    severity: 'high',
    word: 'in trouble',
    when: 'The agent is attached and says what keeps it from its work, or that it works in a mode which may not ask a person first.',
    remedy:
      'Change what the reason names (such as `connector.mode` or `max_processes`); the agent goes on by itself.',
    // The detail of a host, or of a node, is only its name.
    look: ({ agents }) =>
      each('agent', agents, ({ state, connector, detail }) => {
        const isName = detail === undefined || isHosted(connector) || /^at node [^:]*$/.test(detail)
        return state !== 'attached' || isName
          ? null
          : [`: ${detail}`, 'mend what it says; it goes on by itself']
      }),
  },
  'gate-closed': {
    severity: 'high',
    word: 'closed',
    when: 'A gate between a platform and an agent lets nothing through.',
    remedy: 'Change the key that stands beside the gate.',
    look: closedGates,
  },
  'window-full': {
    severity: 'high',
    word: 'window full',
    when: 'A host has as many messages as it may be handed. The next ones wait.',
    remedy: 'Answer or acknowledge them in the session of the host, or restart it if its pipe takes nothing.',
    look: ({ windowsFull }) =>
      windowsFull.map(({ agent, reason }) => {
        const remedy = `answer or acknowledge them in the session of its host; ${handedOf(agent)}`
        return about('agent', agent, `: ${reason}`, remedy)
      }),
  },
  'turn-unseen': {
    severity: 'high',
    word: 'unseen',
    when: 'A turn was handed to a host, and nothing shows that the host took it.',
    remedy: '`switchboard logs --turn ID`; look at the session of the host.',
    look: ({ unseen = [] }) =>
      unseen.flatMap(({ turn, agent, why, more }) => {
        const subject = `agent ${agent}`
        const text = `turn ${turn} of ${agent} was handed over, and nothing shows that it was seen: ${why}`
        const rest = { subject, text: `more turns of ${agent} lie there unseen`, remedy: handedOf(agent) }
        return [{ subject, text, remedy: `switchboard logs --turn ${turn}` }, ...(more ? [rest] : [])]
      }),
  },
  'turns-waiting': {
    severity: 'high',
    word: 'waiting',
    when: 'Messages of a conversation wait for longer than 5 minutes behind one turn.',
    remedy: '`/stop` in the chat, or look at the agent.',
    look: ({ waiting }) =>
      waiting.map(({ agent, turn, since, behind }) => ({
        subject: `agent ${agent}`,
        text: `${behind === 1 ? '1 message waits' : `${behind} messages wait`} behind turn ${turn} of ${agent}, which has not ended since ${iso(since)}`,
        remedy: `switchboard turns show ${turn}; /stop in that chat ends it`,
      })),
  },
  'host-turned-away': {
    severity: 'high',
    word: 'turned away',
    when: 'A host wanted to serve an agent and was refused.',
    remedy:
      'Set up a host on this machine with the command that stands below its problem. A host elsewhere needs a token of that agent: `switchboard token mint --kind agent --agent ID`.',
    look: ({ turned_away: away = [] }) =>
      away.map(({ agent, reason }) => ({
        subject: `agent ${agent}`,
        text: `a host for ${agent} was turned away: ${reason}`,
        remedy: hostRemedy(agent, reason),
      })),
  },
  'tools-left-out': {
    severity: 'high',
    word: 'left out',
    when: 'A service lent a server of tools that cannot be asked for its list, so the agent does not get those tools.',
    remedy:
      'Let the operator of that service mend the server, or set `allow_private` where its address is private. Switchboard asks that server again by itself.',
    look: ({ tools_left_out: leftOut = [] }) =>
      leftOut.map(({ server, problem }) => ({
        subject: `server ${server}`,
        text: `tools of ${server} are left out: ${problem}`,
        remedy:
          'let its service mend that server, or set allow_private where its address is private; it is asked again by itself',
      })),
  },
  'sends-waiting': {
    severity: 'high',
    word: 'waiting to be sent',
    when: 'Messages wait for longer than 30 seconds to be sent, or the platform never said whether one arrived. They are tried again by themselves.',
    remedy:
      '`switchboard outbox --state queued,sending` lists them; look at the platform, or at the network.',
    look: ({ sendsWaiting }) =>
      sendsWaiting.map(({ integration, waiting, open, since }) => {
        const messages = waiting === 1 ? '1 message waits' : `${waiting} messages wait`
        const unsure = open === 0 ? '' : `; ${open} of them may have arrived already`
        const text = `: ${messages} to be sent, the oldest since ${iso(since)}${unsure}`
        const list = `switchboard outbox --integration ${integration} --state queued,sending`
        return about('integration', integration, text, list)
      }),
  },
  'sends-undelivered': {
    severity: 'high',
    word: 'undelivered',
    when: 'Answers, files or prompts ended `failed` or `unknown`, and no operator has decided about them.',
    remedy:
      '`switchboard outbox --state failed` and `--state unknown` list them; retry or bury each. A retry of an `unknown` one may show it twice: look in the chat first.',
    look({ undelivered: { failed, unknown } }) {
      const messages = (count: number) => (count === 1 ? '1 message' : `${count} messages`)
      const look = 'look in the chat before a retry, which may show it twice'
      const lost = gateway(`${messages(failed)} could not be delivered`, 'switchboard outbox --state failed')
      const unsure = `${messages(unknown)} may not have arrived`
      return [
        ...(failed > 0 ? [lost] : []),
        ...(unknown > 0 ? [gateway(unsure, `switchboard outbox --state unknown; ${look}`)] : []),
      ]
    },
  },
  'approvals-unreachable': {
    severity: 'high',
    word: 'reaches nobody',
    when: 'Approvals of an agent can reach no approver.',
    remedy:
      'List an approver: `access.approvers`, pair one with `--me` or `--approver`, or `switchboard access approver`.',
    look: ({ silentApprovals }) =>
      silentApprovals.map(({ agent, reason, key }) => ({
        subject: `agent ${agent}`,
        text: `approvals of ${agent} reach nobody: ${reason}`,
        remedy: `change ${key}`,
      })),
  },
} as const satisfies Readonly<Record<string, DeliveryCheck>>

export type CheckCode = keyof typeof CHECKS

/** Runs all checks of a table, in its order. */
export function findings<Facts>(
  checks: Readonly<Record<string, Check<Facts>>>,
  facts: Facts,
): readonly Finding[] {
  return Object.entries(checks).flatMap(([code, { severity, look }]) =>
    look(facts).map((found) => ({ code, severity, ...found })),
  )
}

/** Returns what stands in the way of messages, in the shape of `doctor` and `status`. */
export function problemsOf(facts: DeliveryFacts): readonly HealthFinding[] {
  return findings<DeliveryFacts>(CHECKS, facts).map(({ code, severity, subject, text, remedy }) => {
    const { word } = CHECKS[code as CheckCode]
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

/** `look` returns the text behind the subject, and the remedy. */
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

/** A finding whose text begins with its subject. */
function about(kind: 'module' | 'integration' | 'agent', id: string, text: string, remedy: string): Found {
  return { subject: `${kind} ${id}`, text: `${kind} ${id}${text}`, remedy }
}

/** A person starts the host of such an agent. */
const isHosted = (connector: string) => connector === 'channel'
const because = (detail: string | undefined) => (detail === undefined ? '' : `: ${detail}`)
const logsOf = (integration: string) => `switchboard logs --integration ${integration}`
const handedOf = (agent: string) => `switchboard turns --agent ${agent} --state handed`

/** A broken secret reference is solved by setting the secret; otherwise the log explains. */
function secretOr(detail: string | undefined, logs: string): string {
  const name = /secret:([A-Za-z0-9_.-]+)/.exec(detail ?? '')?.[1]
  return name === undefined ? logs : `switchboard secrets set ${name}`
}

function differences(nodes: readonly NodeView[]): readonly Found[] {
  const found: Found[] = []
  const up = nodes.filter(({ state }) => state === 'up')
  const named = (digest: string) => up.filter((one) => one.digest === digest).map(({ node }) => node)
  const same = (what: string) => `give all nodes the same ${what}; switchboard status lists them`
  const digests = [...new Set(up.map(({ digest }) => digest))]
  if (digests.length > 1) {
    const each = digests.map((digest) => `${named(digest).join(', ')} (digest ${digest.slice(0, 12)})`)
    found.push(gateway(`the nodes run different configurations: ${each.join('; ')}`, same('configuration')))
  }
  for (const node of new Set(up.map((one) => one.node))) {
    if (up.filter((one) => one.node === node).length === 1) continue
    const text = `two running daemons are called ${node}: give them hostnames or data folders that differ`
    found.push(gateway(text, 'stop one of them; switchboard status lists the nodes'))
  }
  const versions = [...new Set(up.map(({ version }) => version))]
  if (versions.length > 1)
    found.push(gateway(`the nodes run different versions: ${versions.join(', ')}`, same('version')))
  for (const { node, state, seen_at: seenAt } of nodes) {
    if (state === 'up') continue
    const text = `node ${node} is gone: it was last heard of at ${seenAt}`
    found.push(gateway(text, 'start it again; after an hour it is not named any more'))
  }
  return found
}

function closedGates({ integrations, agents }: DeliveryFacts): readonly Found[] {
  const byId = new Map(integrations.map((one) => [one.id, one]))
  const remedyOf = ({ key }: GateView) => (key === '' ? 'see the reason' : `change ${key}`)
  const ofIntegrations = integrations.flatMap(({ id, gates }) =>
    gates
      .filter(({ pass, gate }) => !pass && gate !== 'link')
      .map((one) => about('integration', id, `: ${one.gate}: ${one.reason}`, remedyOf(one))),
  )
  const ofBindings = agents.flatMap((agent) =>
    agent.bindings.flatMap(({ integration, gates }) =>
      gates
        .filter((one) => !one.pass && !isNamedAlready(agent, byId.get(integration), one))
        .map((one) => ({
          subject: `agent ${agent.id}`,
          text: `${integration} → ${agent.id}: ${one.gate}: ${one.reason}`,
          remedy: remedyOf(one),
        })),
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
function hostRemedy(agent: string, reason: string): string {
  if (reason.includes('may not be attached for'))
    return `give that host a token of ${agent}: switchboard token mint --kind agent --agent ${agent}`
  if (reason.includes('is configured with dialect'))
    return `change connector.dialect of ${agent}, or start the shim with another --dialect`
  return `switchboard init claude-code --agent ${agent}`
}
