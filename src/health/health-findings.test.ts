// Each row of the health table, from a report in which it applies; and none where nothing is wrong.
import { describe, expect, it } from 'vitest'
import { HEALTH, type HealthCode } from '../contract/index.ts'
import { type HealthFacts, healthFindings, type ReportBeforeHealth } from './health-findings.ts'

type Integration = ReportBeforeHealth['integrations'][number]
type Agent = ReportBeforeHealth['agents'][number]

const OPEN = { gate: 'policy', pass: true, reason: 'open', key: 'k' }
const CLOSED = { gate: 'direct messages', pass: false, reason: 'off', key: 'integrations[0].access.dm' }

const integration: Integration = {
  id: 'tg',
  platform: 'telegram',
  link: 'up',
  gates: [OPEN],
  last_in_at: null,
  last_out_at: null,
  complete: { state: 'complete', until: null, late: 0 },
  drops: {},
  refusals: [],
  sends_waiting: 0,
  sends_failed: 0,
}

const agent: Agent = {
  id: 'kate',
  connector: 'http',
  attached: true,
  state: 'attached',
  queued: 0,
  bindings: [{ integration: 'tg', conversations: 'all others', gates: [OPEN] }],
  last_message_at: null,
  approvals_pending: 0,
}

const WELL: ReportBeforeHealth = {
  config: { file: null, digest: 'd', problem: null, warnings: [] },
  store: { kind: 'sqlite', durability: 'full' },
  ledger: { foreign_chains: 0, problem: null },
  integrations: [integration],
  agents: [agent],
}

const NO_FACTS: HealthFacts = {
  undelivered: { failed: 0, unknown: 0 },
  waiting: [],
  sendsWaiting: [],
  freeDiskBytes: 1e12,
  approvalsReachNobody: [],
  overLimit: [],
  windowsFull: [],
}

const withAgent = (change: Partial<Agent>) => ({ ...WELL, agents: [{ ...agent, ...change }] })
const withIntegration = (change: Partial<Integration>) => ({
  ...WELL,
  integrations: [{ ...integration, ...change }],
})
const module = { from: './pager.mjs', file: '/pager.mjs', version: '1', platforms: [], connectors: [] }

interface Case {
  readonly report?: ReportBeforeHealth
  readonly facts?: Partial<HealthFacts>
  readonly text: string
  readonly remedy: string
}

const CASES: Readonly<Record<HealthCode, readonly Case[]>> = {
  'store-away': [
    {
      report: { ...WELL, store: { ...WELL.store, problem: 'the database is gone' } },
      text: 'the database is gone',
      remedy: 'mend what it says; it goes on by itself',
    },
  ],
  'window-full': [
    {
      facts: { windowsFull: [{ agent: 'kate', reason: 'the window of a conversation is full' }] },
      text: 'agent kate: the window of a conversation is full',
      remedy:
        'answer or acknowledge them in the session of its host; switchboard turns --agent kate --state handed',
    },
  ],
  'disk-low': [
    {
      facts: { freeDiskBytes: 150_000_000 },
      text: 'the disk of the data folder has 150 MB left',
      remedy: 'free space there',
    },
  ],
  'config-rejected': [
    {
      report: { ...WELL, config: { ...WELL.config, problem: 'line 3' } },
      text: 'the file does not hold, the one before stays in force: line 3',
      remedy: 'switchboard check',
    },
  ],
  'ledger-foreign': [
    {
      report: { ...WELL, ledger: { foreign_chains: 1, problem: 'another key' } },
      text: 'another key',
      remedy:
        'put the old ledger.key back, or set SWITCHBOARD_LEDGER_KEY, and restart; switchboard audit verify says which part it is',
    },
  ],
  'nodes-differ': [
    {
      report: { ...WELL, cluster: { nodes: [], warnings: ['node b is gone'] } },
      text: 'node b is gone',
      remedy: 'start it again; after an hour it is not named any more',
    },
    ...(
      [
        ['the nodes run different versions: 1, 2', 'give all nodes the same version'],
        ['the nodes run different configurations: a; b', 'give all nodes the same configuration'],
        ['two running daemons are called b', 'stop one of them'],
      ] as const
    ).map(([warning, remedy]) => ({
      report: { ...WELL, cluster: { nodes: [], warnings: [warning] } },
      text: warning,
      remedy: `${remedy}; switchboard status lists ${remedy.startsWith('stop') ? 'the nodes' : 'them'}`,
    })),
  ],
  'clock-off': [
    {
      report: { ...WELL, cluster: { nodes: [], warnings: ['the clock of node b is 9 s ahead'] } },
      text: 'the clock of node b is 9 s ahead',
      remedy: 'let that machine keep time by NTP',
    },
  ],
  'module-failed': [
    {
      report: { ...WELL, modules: [{ ...module, problem: 'it throws', changed: false }] },
      text: 'module ./pager.mjs: it throws',
      remedy: 'switchboard check',
    },
  ],
  'module-changed': [
    {
      report: { ...WELL, modules: [{ ...module, problem: null, changed: true }] },
      text: 'module ./pager.mjs changed since it was loaded',
      remedy: 'switchboard restart',
    },
    {
      report: { ...WELL, modules: [{ ...module, problem: null, changed: true, gone: true }] },
      text: 'the file of module ./pager.mjs is gone (no such file): what was loaded runs until the next start',
      remedy: 'put it back, or take it out of modules:',
    },
  ],
  'link-down': [
    {
      report: withIntegration({ link: 'down', detail: 'refused' }),
      text: 'integration tg is down: refused',
      remedy: 'switchboard logs --integration tg',
    },
    {
      report: withIntegration({ link: 'down', detail: 'secret:TOKEN is not set' }),
      text: 'integration tg is down: secret:TOKEN is not set',
      remedy: 'switchboard secrets set TOKEN',
    },
  ],
  'history-behind': [
    {
      report: withIntegration({
        complete: { state: 'behind', until: null, late: 0, detail: 'missing_scope' },
      }),
      text: 'integration tg is behind: missing_scope',
      remedy: 'switchboard logs --integration tg',
    },
  ],
  'limit-hit': [
    {
      report: withIntegration({
        refusals: [{ reason: 'rate_limited', count: 9, text: '', key: 'tunables.sender_limit' }],
      }),
      facts: { overLimit: [{ integration: 'tg', reason: 'rate_limited', count: 4 }] },
      text: 'integration tg: 4 messages were refused within the last hour. The sender is over its limit.',
      remedy: 'change tunables.sender_limit',
    },
    {
      facts: { overLimit: [{ integration: 'tg', reason: 'flood', count: 1 }] },
      text: 'integration tg: 1 message was refused within the last hour. The integration received more than its flood guard lets through.',
      remedy: 'switchboard turns --integration tg --state refused',
    },
  ],
  'gate-closed': [
    {
      report: withIntegration({ gates: [CLOSED] }),
      text: 'integration tg: direct messages: off',
      remedy: 'change integrations[0].access.dm',
    },
    {
      report: withAgent({
        bindings: [{ integration: 'tg', conversations: 'all others', gates: [{ ...CLOSED, key: '' }] }],
      }),
      text: 'tg → kate: direct messages: off',
      remedy: 'see the reason',
    },
  ],
  'agent-absent': [
    {
      report: withAgent({
        attached: false,
        state: 'absent',
        connector: 'acp',
        detail: '"x" cannot be started',
      }),
      text: 'agent kate is absent: "x" cannot be started',
      remedy: 'switchboard logs',
    },
    {
      report: withAgent({ attached: false, state: 'absent', connector: 'channel' }),
      text: 'agent kate is absent',
      remedy: 'switchboard init claude-code --agent kate, then start Claude Code as it says',
    },
  ],
  'agent-unreachable': [
    {
      report: withAgent({ state: 'unreachable', since: '10:00', detail: 'connection refused' }),
      text: 'agent kate is unreachable since 10:00: connection refused',
      remedy: 'start the agent, or mend its url; waiting messages follow by themselves',
    },
  ],
  'agent-was-unreachable': [
    {
      report: withAgent({ state: 'attached', was_unreachable: '10:00: connection refused' }),
      text: 'agent kate was unreachable at its last message, 10:00: connection refused',
      remedy: 'write to it, or look whether it runs',
    },
  ],
  'agent-failing': [
    {
      report: withAgent({ state: 'failing', since: '10:00', detail: '401' }),
      text: 'agent kate is failing since 10:00: 401',
      remedy: 'mend what it says; the state goes with the next good answer',
    },
  ],
  'agent-trouble': [
    {
      report: withAgent({ detail: 'not signed in' }),
      text: 'agent kate: not signed in',
      remedy: 'mend what it says; it goes on by itself',
    },
    {
      report: withAgent({ detail: 'at node b: not signed in' }),
      text: 'agent kate: at node b: not signed in',
      remedy: 'mend what it says; it goes on by itself',
    },
  ],
  'agent-unbound': [
    {
      report: withAgent({ bindings: [] }),
      text: 'agent kate is bound to nothing: nobody can reach it',
      remedy: 'agents: kate: inbound_bindings',
    },
  ],
  'turn-unseen': [
    {
      report: {
        ...WELL,
        unseen: [{ turn: 't_1', agent: 'kate', host: null, since: '10:00', why: 'a gate is closed' }],
      },
      text: 'turn t_1 of kate was handed over, and nothing shows that it was seen: a gate is closed',
      remedy: 'switchboard logs --turn t_1',
    },
  ],
  'turns-waiting': [
    {
      facts: { waiting: [{ agent: 'kate', turn: 't_1', since: '10:00', behind: 3 }] },
      text: '3 messages wait behind turn t_1 of kate, which has not ended since 10:00',
      remedy: 'switchboard turns show t_1; /stop in that chat ends it',
    },
  ],
  'host-turned-away': [
    {
      report: { ...WELL, turned_away: [{ agent: 'kate', reason: 'another file', at: '10:00' }] },
      text: 'a host for kate was turned away: another file',
      remedy: 'switchboard init claude-code --agent kate',
    },
    ...(
      [
        [
          'agent "kate" may not be attached for: this token belongs to another agent',
          'give that host a token of kate: switchboard token mint --kind agent --agent kate',
        ],
        [
          'agent "kate" is configured with dialect nexo, the shim has claude',
          'change connector.dialect of kate, or start the shim with another --dialect',
        ],
      ] as const
    ).map(([reason, remedy]) => ({
      report: { ...WELL, turned_away: [{ agent: 'kate', reason, at: '10:00' }] },
      text: `a host for kate was turned away: ${reason}`,
      remedy,
    })),
  ],
  'tools-left-out': [
    {
      report: {
        ...WELL,
        tools_left_out: [{ session: 's', server: 'search', problem: 'no answer', at: '10:00' }],
      },
      text: 'tools of search are left out: no answer',
      remedy:
        'let its service mend that server, or set allow_private where its address is private; it is asked again by itself',
    },
  ],
  'sends-waiting': [
    {
      facts: { sendsWaiting: [{ integration: 'tg', waiting: 3, open: 1, since: 'T' }] },
      text: 'integration tg: 3 messages wait to be sent, the oldest since T; 1 of them may have arrived already',
      remedy: 'switchboard outbox --integration tg --state queued,sending',
    },
    {
      facts: { sendsWaiting: [{ integration: 'tg', waiting: 1, open: 0, since: 'T' }] },
      text: 'integration tg: 1 message waits to be sent, the oldest since T',
      remedy: 'switchboard outbox --integration tg --state queued,sending',
    },
  ],
  'sends-undelivered': [
    {
      facts: { undelivered: { failed: 2, unknown: 0 } },
      text: '2 messages could not be delivered',
      remedy: 'switchboard outbox --state failed',
    },
    {
      facts: { undelivered: { failed: 0, unknown: 1 } },
      text: '1 message may not have arrived',
      remedy: 'switchboard outbox --state unknown; look in the chat before a retry, which may show it twice',
    },
  ],
  'approvals-unreachable': [
    {
      facts: { approvalsReachNobody: [{ agent: 'kate', reason: 'no approver', key: 'access.approvers' }] },
      text: 'approvals of kate reach nobody: no approver',
      remedy: 'change access.approvers',
    },
  ],
}

describe('[I35.a4-table] the health table', () => {
  const cases = Object.entries(CASES).flatMap(([code, some]) =>
    some.map((one) => [code as HealthCode, one] as const),
  )

  it.each(cases)('%s: $text', (code, { report = WELL, facts = {}, text, remedy }) => {
    const { severity, word } = HEALTH[code]
    expect(healthFindings(report, { ...NO_FACTS, ...facts })).toMatchObject([
      { code, severity, word, text, remedy },
    ])
  })

  it('[I35.a4-well] names nothing where nothing is wrong', () => {
    expect(healthFindings(WELL, NO_FACTS)).toEqual([])
    expect(healthFindings(WELL, { ...NO_FACTS, freeDiskBytes: null })).toEqual([])
  })

  it('[I35.a4-unbound] an agent with a schedule works without a binding', () => {
    const schedules = [
      {
        ...{ id: 'noon', agent: 'kate', cron: '0 12 * * *', tz: 'UTC', prompt: 'x' },
        next_at: null,
        last: null,
      },
    ]
    expect(healthFindings({ ...withAgent({ bindings: [] }), schedules }, NO_FACTS)).toEqual([])
  })

  it('names a closed gate of an integration once, and an absent agent not again for each binding', () => {
    const both = {
      ...withIntegration({ gates: [CLOSED] }),
      agents: [{ ...agent, bindings: [{ ...agent.bindings[0], gates: [CLOSED] }] }],
    }
    expect(healthFindings(both as ReportBeforeHealth, NO_FACTS)).toHaveLength(1)
    const absent = withAgent({
      attached: false,
      state: 'absent',
      bindings: [{ integration: 'tg', conversations: 'all', gates: [{ ...CLOSED, gate: 'agent' }] }],
    })
    expect(healthFindings(absent, NO_FACTS).map(({ code }) => code)).toEqual(['agent-absent'])
  })

  it('[I22.cc-missing] takes the detail of a host, or of a node that has it, for no trouble', () => {
    expect(
      healthFindings(withAgent({ connector: 'channel', detail: 'host 1 of Claude Code' }), NO_FACTS),
    ).toEqual([])
    expect(healthFindings(withAgent({ detail: 'at node b' }), NO_FACTS)).toEqual([])
  })
})
