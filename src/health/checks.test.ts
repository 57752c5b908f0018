// Each row of the health table, from a report in which it applies; and none where nothing is wrong.
import { describe, expect, it } from 'vitest'
import type { NodeView } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'
import { CHECKS, type CheckCode, type DeliveryFacts, problemsOf, severityWord } from './checks.ts'

type Integration = DeliveryFacts['integrations'][number]
type Agent = DeliveryFacts['agents'][number]

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

const WELL: DeliveryFacts = {
  config: { file: null, digest: 'd', problem: null, warnings: [] },
  store: { kind: 'sqlite', durability: 'full' },
  ledger: { foreign_chains: 0, problem: null },
  integrations: [integration],
  agents: [agent],
  undelivered: { failed: 0, unknown: 0 },
  waiting: [],
  sendsWaiting: [],
  freeDiskBytes: 1e12,
  silentApprovals: [],
  overLimit: [],
  windowsFull: [],
}

const withAgent = (change: Partial<Agent>) => ({ ...WELL, agents: [{ ...agent, ...change }] })
const withIntegration = (change: Partial<Integration>) => ({
  ...WELL,
  integrations: [{ ...integration, ...change }],
})
const module = { from: './pager.mjs', file: '/pager.mjs', version: '1', platforms: [], connectors: [] }

const nodes = (...changes: readonly Partial<NodeView>[]) => ({
  cluster: {
    nodes: changes.map(
      (change, at): NodeView => ({
        node: `n${at}`,
        state: 'up',
        version: '1',
        url: '',
        started_at: '09:00',
        seen_at: '10:00',
        digest: 'd',
        clock_skew_ms: 0,
        links: [],
        agents: [],
        ...change,
      }),
    ),
    warnings: [],
  },
})

interface Case {
  readonly facts?: Partial<DeliveryFacts>
  readonly text: string
  readonly remedy: string
}

const CASES: Readonly<Record<CheckCode, readonly Case[]>> = {
  'store-away': [
    {
      facts: { store: { ...WELL.store, problem: 'the database is gone' } },
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
      facts: { config: { ...WELL.config, problem: 'line 3' } },
      text: 'the file does not hold, the one before stays in force: line 3',
      remedy: 'switchboard check',
    },
  ],
  'ledger-foreign': [
    {
      facts: { ledger: { foreign_chains: 1, problem: 'another key' } },
      text: 'another key',
      remedy:
        'put the old ledger.key back, or set SWITCHBOARD_LEDGER_KEY, and restart; switchboard audit verify says which part it is',
    },
  ],
  'nodes-differ': [
    {
      facts: nodes({}, { node: 'b', state: 'gone' }),
      text: 'node b is gone: it was last heard of at 10:00',
      remedy: 'start it again; after an hour it is not named any more',
    },
    {
      facts: nodes({}, { version: '2' }),
      text: 'the nodes run different versions: 1, 2',
      remedy: 'give all nodes the same version; switchboard status lists them',
    },
    {
      facts: nodes({}, { digest: 'e' }, {}),
      text: 'the nodes run different configurations: n0, n2 (digest d); n1 (digest e)',
      remedy: 'give all nodes the same configuration; switchboard status lists them',
    },
    {
      facts: nodes({ node: 'b' }, { node: 'b' }, {}),
      text: 'two running daemons are called b: give them hostnames or data folders that differ',
      remedy: 'stop one of them; switchboard status lists the nodes',
    },
  ],
  'clock-off': [
    {
      facts: nodes({}, { node: 'b', clock_skew_ms: 9_000 }),
      text: "the clock of node b is 9 s ahead of the database's (which decides)",
      remedy: 'let that machine keep time by NTP',
    },
    {
      facts: nodes({}, { node: 'b', clock_skew_ms: -2_000 }),
      text: "the clock of node b is 2 s behind the database's (which decides)",
      remedy: 'let that machine keep time by NTP',
    },
  ],
  'module-failed': [
    {
      facts: { modules: [{ ...module, problem: 'it throws', changed: false }] },
      text: 'module ./pager.mjs: it throws',
      remedy: 'switchboard check',
    },
  ],
  'module-changed': [
    {
      facts: { modules: [{ ...module, problem: null, changed: true }] },
      text: 'module ./pager.mjs changed since it was loaded',
      remedy: 'switchboard restart',
    },
    {
      facts: { modules: [{ ...module, problem: null, changed: true, gone: true }] },
      text: 'the file of module ./pager.mjs is gone (no such file): what was loaded runs until the next start',
      remedy: 'put it back, or take it out of modules:',
    },
  ],
  'link-down': [
    {
      facts: withIntegration({ link: 'down', detail: 'refused' }),
      text: 'integration tg is down: refused',
      remedy: 'switchboard logs --integration tg',
    },
    {
      facts: withIntegration({ link: 'down', detail: 'secret:TOKEN is not set' }),
      text: 'integration tg is down: secret:TOKEN is not set',
      remedy: 'switchboard secrets set TOKEN',
    },
  ],
  'history-behind': [
    {
      facts: withIntegration({
        complete: { state: 'behind', until: null, late: 0, detail: 'missing_scope' },
      }),
      text: 'integration tg is behind: missing_scope',
      remedy: 'switchboard logs --integration tg',
    },
  ],
  'limit-hit': [
    {
      facts: {
        ...withIntegration({
          refusals: [{ reason: 'rate_limited', count: 9, text: '', key: 'tunables.sender_limit' }],
        }),
        overLimit: [{ integration: 'tg', reason: 'rate_limited', count: 4 }],
      },
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
      facts: withIntegration({ gates: [CLOSED] }),
      text: 'integration tg: direct messages: off',
      remedy: 'change integrations[0].access.dm',
    },
    {
      facts: withAgent({
        bindings: [{ integration: 'tg', conversations: 'all others', gates: [{ ...CLOSED, key: '' }] }],
      }),
      text: 'tg → kate: direct messages: off',
      remedy: 'see the reason',
    },
  ],
  'agent-absent': [
    {
      facts: withAgent({
        attached: false,
        state: 'absent',
        connector: 'acp',
        detail: '"x" cannot be started',
      }),
      text: 'agent kate is absent: "x" cannot be started',
      remedy: 'switchboard logs',
    },
    {
      facts: withAgent({ attached: false, state: 'absent', connector: 'channel' }),
      text: 'agent kate is absent',
      remedy: 'switchboard init claude-code --agent kate, then start Claude Code as it says',
    },
  ],
  'agent-unreachable': [
    {
      facts: withAgent({ state: 'unreachable', since: '10:00', detail: 'connection refused' }),
      text: 'agent kate is unreachable since 10:00: connection refused',
      remedy: 'start the agent, or mend its url; waiting messages follow by themselves',
    },
  ],
  'agent-was-unreachable': [
    {
      facts: withAgent({ state: 'attached', was_unreachable: '10:00: connection refused' }),
      text: 'agent kate was unreachable at its last message, 10:00: connection refused',
      remedy: 'write to it, or look whether it runs',
    },
  ],
  'agent-failing': [
    {
      facts: withAgent({ state: 'failing', since: '10:00', detail: '401' }),
      text: 'agent kate is failing since 10:00: 401',
      remedy: 'mend what it says; the state goes with the next good answer',
    },
  ],
  'agent-trouble': [
    {
      facts: withAgent({ detail: 'not signed in' }),
      text: 'agent kate: not signed in',
      remedy: 'mend what it says; it goes on by itself',
    },
    {
      facts: withAgent({ detail: 'at node b: not signed in' }),
      text: 'agent kate: at node b: not signed in',
      remedy: 'mend what it says; it goes on by itself',
    },
  ],
  'agent-unbound': [
    {
      facts: withAgent({ bindings: [] }),
      text: 'agent kate is bound to nothing: nobody can reach it',
      remedy: 'agents: kate: inbound_bindings',
    },
  ],
  'turn-unseen': [
    {
      facts: {
        unseen: [{ turn: 't_1', agent: 'kate', host: null, since: '10:00', why: 'a gate is closed' }],
      },
      text: 'turn t_1 of kate was handed over, and nothing shows that it was seen: a gate is closed',
      remedy: 'switchboard logs --turn t_1',
    },
  ],
  'turns-waiting': [
    {
      facts: { waiting: [{ agent: 'kate', turn: 't_1', since: 36e6, behind: 3 }] },
      text: '3 messages wait behind turn t_1 of kate, which has not ended since 1970-01-01T10:00:00.000Z',
      remedy: 'switchboard turns show t_1; /stop in that chat ends it',
    },
  ],
  'host-turned-away': [
    {
      facts: { turned_away: [{ agent: 'kate', reason: 'another file', at: '10:00' }] },
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
      facts: { turned_away: [{ agent: 'kate', reason, at: '10:00' }] },
      text: `a host for kate was turned away: ${reason}`,
      remedy,
    })),
  ],
  'tools-left-out': [
    {
      facts: {
        tools_left_out: [{ session: 's', server: 'search', problem: 'no answer', at: '10:00' }],
      },
      text: 'tools of search are left out: no answer',
      remedy:
        'let its service mend that server, or set allow_private where its address is private; it is asked again by itself',
    },
  ],
  'sends-waiting': [
    {
      facts: { sendsWaiting: [{ integration: 'tg', waiting: 3, open: 1, since: 0 }] },
      text: 'integration tg: 3 messages wait to be sent, the oldest since 1970-01-01T00:00:00.000Z; 1 of them may have arrived already',
      remedy: 'switchboard outbox --integration tg --state queued,sending',
    },
    {
      facts: { sendsWaiting: [{ integration: 'tg', waiting: 1, open: 0, since: 0 }] },
      text: 'integration tg: 1 message waits to be sent, the oldest since 1970-01-01T00:00:00.000Z',
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
      facts: { silentApprovals: [{ agent: 'kate', reason: 'no approver', key: 'access.approvers' }] },
      text: 'approvals of kate reach nobody: no approver',
      remedy: 'change access.approvers',
    },
  ],
}

describe('[I35.a4-table] the health table', () => {
  const cases = Object.entries(CASES).flatMap(([code, some]) =>
    some.map((one) => [code as CheckCode, one] as const),
  )

  it.each(cases)('%s: $text', (code, { facts, text, remedy }) => {
    const { word } = wordsIn().health.checks[code]
    const severity = severityWord(CHECKS[code].severity)
    expect(problemsOf({ ...WELL, ...facts })).toMatchObject([{ code, severity, word, text, remedy }])
  })

  it('[I35.a4-well] names nothing where nothing is wrong', () => {
    expect(problemsOf(WELL)).toEqual([])
    expect(problemsOf({ ...WELL, freeDiskBytes: null })).toEqual([])
  })

  it('[I35.a4-unbound] an agent with a schedule works without a binding', () => {
    const schedules = [
      {
        ...{ id: 'noon', agent: 'kate', cron: '0 12 * * *', tz: 'UTC', prompt: 'x' },
        next_at: null,
        last: null,
      },
    ]
    expect(problemsOf({ ...withAgent({ bindings: [] }), schedules })).toEqual([])
  })

  it('names a closed gate of an integration once, and an absent agent not again for each binding', () => {
    const both = {
      ...withIntegration({ gates: [CLOSED] }),
      agents: [{ ...agent, bindings: [{ ...agent.bindings[0], gates: [CLOSED] }] }],
    }
    expect(problemsOf(both as DeliveryFacts)).toHaveLength(1)
    const absent = withAgent({
      attached: false,
      state: 'absent',
      bindings: [{ integration: 'tg', conversations: 'all', gates: [{ ...CLOSED, gate: 'agent' }] }],
    })
    expect(problemsOf(absent).map(({ code }) => code)).toEqual(['agent-absent'])
  })

  it('names the closed link of a binding not again where the integration is down', () => {
    const bindings = [{ integration: 'tg', conversations: 'all', gates: [{ ...CLOSED, gate: 'link' }] }]
    const down = { ...withIntegration({ link: 'down' }), agents: [{ ...agent, bindings }] }
    expect(problemsOf(down).map(({ code }) => code)).toEqual(['link-down'])
    expect(problemsOf(withAgent({ bindings })).map(({ code }) => code)).toEqual(['gate-closed'])
  })

  it('calls a high finding a problem and any other one a warning', () => {
    const severities = (change: Partial<Agent>) =>
      problemsOf(withAgent(change)).map(({ severity }) => severity)
    expect(severities({ was_unreachable: '10:00' })).toEqual(['warning'])
    expect(severities({ bindings: [] })).toEqual(['problem'])
  })

  it('[I22.cc-missing] takes the detail of a host, or of a node that has it, for no trouble', () => {
    expect(problemsOf(withAgent({ connector: 'channel', detail: 'host 1 of Claude Code' }))).toEqual([])
    expect(problemsOf(withAgent({ detail: 'at node b' }))).toEqual([])
  })
})
