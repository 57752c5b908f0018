// Proves the rules that span the file: channels to the letter, bindings, names that must agree.
import { describe, expect, it } from 'vitest'
import { demoModule } from '../agents/demo/module.ts'
import { CONNECTORS, PLANNED_PLATFORMS } from '../modules/registry.ts'
import { BOOK, loadText, problemsFrom, settingsFrom } from './fixtures/load-text.ts'
import { openStoredIntegrations } from './stored-integrations.ts'

const channels = (inside: string) => `agents: [{ id: kate, channels: { ${inside} } }]`
const TG = '{ id: tg, platform: telegram, token: env:T }'

describe('channels, to the letter of the seed', () => {
  it.each([1, 63])(
    '[S3.content-chars-rules] [F7.config-chars-63] max_content_chars %i is rejected',
    (chars) => {
      expect(problemsFrom(channels(`max_content_chars: ${chars}`))).toContain(
        `channels.max_content_chars (${chars}) is below minimum 64`,
      )
    },
  )

  it.each([0, 64, 16_000, 4_000_000])(
    '[S3.content-chars-rules] [F7.config-chars-0] [F7.config-chars-64] max_content_chars %i is accepted',
    (chars) => {
      expect(settingsFrom(channels(`max_content_chars: ${chars}`)).agents[0]?.channels?.maxContentChars).toBe(
        chars,
      )
    },
  )

  it('[S3.content-chars-default] absent keys take the seed’s defaults', () => {
    const made = settingsFrom(channels('approved: [{ server: s }]')).agents[0]?.channels
    expect(made).toEqual({
      enabled: false,
      maxContentChars: 16_000,
      defaultRateLimit: null,
      approved: [{ server: 's', pluginSource: null, outboundToolName: 'send_message', rateLimit: null }],
    })
    expect(settingsFrom('agents: [{ id: kate }]').agents[0]?.channels).toBeNull()
  })

  it.each([
    ['.nan', 'channels.default_rate_limit.rps must be a non-negative finite float, got NaN'],
    ['.inf', 'channels.default_rate_limit.rps must be a non-negative finite float, got Infinity'],
    ['-1', 'channels.default_rate_limit.rps must be a non-negative finite float, got -1'],
    ['"5"', 'channels.default_rate_limit.rps must be a non-negative finite float, got text'],
    ['1000.1', 'channels.default_rate_limit.rps 1000.1 exceeds soft cap of 1000'],
  ])('[S3.rps-rules] [F7.config-rps-bad] rps %s is rejected', (rps, said) => {
    expect(problemsFrom(channels(`default_rate_limit: { rps: ${rps}, burst: 1 }`))).toContain(said)
    const server = said.replace('channels.default_rate_limit', 'channels.approved[server=slack].rate_limit')
    expect(
      problemsFrom(channels(`approved: [{ server: slack, rate_limit: { rps: ${rps}, burst: 1 } }]`)),
    ).toContain(server)
  })

  it.each([0, 0.5, 1000])('[S3.rps-rules] [F7.config-rps-1000] rps %d is accepted', (rps) => {
    const made = settingsFrom(channels(`default_rate_limit: { rps: ${rps}, burst: 20 }`))
    expect(made.agents[0]?.channels?.defaultRateLimit).toEqual({ rps, burst: 20 })
  })

  it('[F7.config-zero-overrides] 0/0 of a server stands beside the default, and is not taken for absent', () => {
    const made = settingsFrom(
      channels(
        'default_rate_limit: { rps: 5, burst: 5 }, approved: [{ server: s, rate_limit: { rps: 0, burst: 0 } }]',
      ),
    )
    expect(made.agents[0]?.channels?.approved[0]?.rateLimit).toEqual({ rps: 0, burst: 0 })
  })

  it('[S3.approved-duplicates] [F7.config-duplicates] a server approved twice is rejected', () => {
    expect(problemsFrom(channels('approved: [{ server: s }, { server: s }]'))).toContain(
      'channels.approved lists server "s" twice',
    )
  })

  it('[F7.config-unknown-keys] an unknown key inside channels is rejected', () => {
    expect(problemsFrom(channels('enabeld: true'))).toContain(
      'unknown key "enabeld" — did you mean "enabled"?',
    )
  })

  it.each(['server: ""', 'server: s, plugin_source: ""', 'server: s, outbound_tool_name: ""'])(
    '%s is empty',
    (entry) => {
      expect(problemsFrom(channels(`approved: [{ ${entry} }]`))).toContain('must not be empty')
    },
  )

  it('[S3.approved-nowhere] [F7.config-not-approved] servers that are configured nowhere or not approved are warnings', () => {
    const { warnings } = settingsFrom(`
integrations: [${TG}]
agents:
  - id: kate
    channels: { approved: [{ server: slack }] }
    inbound_bindings: [{ plugin: telegram, instance: tg, allowed_channel_servers: [slack, pager] }]
`)
    expect(warnings).toEqual([
      'agents[0].channels.approved: server "slack" is configured nowhere under mcp_servers',
      'agents[0].inbound_bindings allow server "pager", but agents[0].channels.approved does not list it',
    ])
  })
})

describe('bindings', () => {
  const bound = (...bindings: string[]) =>
    `integrations: [${TG}]\nagents:\n${bindings.map((one, i) => `  - { id: a${i}, inbound_bindings: [${one}] }`).join('\n')}\n`

  it('[S3.binding-shape] take plugin, instance, servers and conversations', () => {
    const text = bound(
      '{ plugin: telegram, instance: tg, conversations: ["-1", "-2/42"], allowed_channel_servers: [s], rate_limit: { rps: 1, burst: 2 }, context: ops }',
    )
    expect(settingsFrom(text).agents[0]?.bindings).toEqual([
      {
        plugin: 'telegram',
        instance: 'tg',
        conversations: ['-1', '-2/42'],
        allowedChannelServers: ['s'],
        senderLimit: { rps: 1, burst: 2 },
        context: 'ops',
      },
    ])
  })

  it('several agents share one bot by conversations, one takes the rest', () => {
    const text = bound(
      '{ plugin: telegram, instance: tg, conversations: ["-1"] }',
      '{ plugin: telegram, instance: tg, conversations: ["-2/1", "-2/2", "-11"] }',
      '{ plugin: telegram }',
    )
    expect(settingsFrom(text).agents.map((agent) => agent.bindings[0]?.instance)).toEqual(['tg', 'tg', 'tg'])
  })

  it.each([
    [
      '{ plugin: telegram, instance: tg }',
      '{ plugin: telegram, instance: tg }',
      'two bindings take all of integration "tg"',
    ],
    [
      '{ plugin: telegram, instance: tg }',
      '{ plugin: telegram }',
      'two bindings take all of integration "tg"',
    ],
    [
      '{ plugin: telegram, instance: tg, conversations: ["-1"] }',
      '{ plugin: telegram, instance: tg, conversations: ["-2", "-1"] }',
      'two bindings overlap on integration "tg": "-1" and "-1"',
    ],
    [
      '{ plugin: telegram, instance: tg, conversations: ["-1/42"] }',
      '{ plugin: telegram, instance: tg, conversations: ["-1"] }',
      'overlap',
    ],
  ])('[S3.bindings-overlap] %s and %s meet', (one, two, said) => {
    expect(problemsFrom(bound(one, two))).toContain(said)
  })

  it.each([
    ['{ plugin: telegram, instance: tgg }', 'unknown integration "tgg" — did you mean "tg"?'],
    [
      '{ plugin: slack, instance: tg }',
      'integration "tg" is of platform telegram, not slack — write plugin: telegram',
    ],
    ['{ plugin: slack }', 'not exactly one integration of platform "slack"'],
    ['{ plugin: telegram, instance: tg, conversations: [] }', 'lists no conversation'],
    ['{ instance: tg }', '"plugin" is missing'],
  ])('%s', (binding, said) => {
    expect(problemsFrom(bound(binding))).toContain(said)
  })
})

describe('[I14.retain-config] retention', () => {
  it.each([
    ['{ rows: 29d }', 'keep rows for 30d or more'],
    ['{ ledger: 90d }', 'set rows, and ledger not below it'],
    ['{ rows: 90d, ledger: 60d }', 'set rows, and ledger not below it'],
    ['{ attachments: soon }', 'expected a duration'],
  ])('%s does not hold', (written, said) => {
    expect(problemsFrom(`retention: ${written}`)).toContain(said)
  })
})

describe('[I14.chorus-needs-url] several nodes and an agent that calls back', () => {
  const AGENT = 'agents: [{ id: kate, connector: { type: chorus, url: env:KATE } }]'
  const said = (text: string) =>
    settingsFrom(text).warnings.filter((warning) => warning.includes('public_url'))

  it.each(['postgres://db/sb', 'env:DATABASE_URL'])(
    'store %s and no shared address: what is lost is told',
    (store) => {
      const [warning, ...more] = said(`store: ${store}\n${AGENT}`)
      expect(more).toEqual([])
      expect(warning).toContain(
        'when a node dies, what "kate" answers to turns that were handed over there is lost',
      )
    },
  )

  it('one node, a shared address, or an agent of another kind: nothing is lost', () => {
    expect(said(AGENT)).toEqual([])
    expect(said(`store: sqlite:./x.db\n${AGENT}`)).toEqual([])
    expect(said(`store: postgres://db/sb\nserver: { public_url: https://sb.example.com }\n${AGENT}`)).toEqual(
      [],
    )
    expect(said('store: postgres://db/sb\nagents: [{ id: d, connector: { type: demo } }]')).toEqual([])
  })
})

describe('names that must agree', () => {
  it.each([
    [`integrations: [${TG}, ${TG}]`, 'duplicate integration id "tg": integrations[0] has it too'],
    ['agents: [{ id: a }, { id: a }]', 'duplicate agent id "a"'],
    ['users: [{ id: a }, { id: a }]', 'duplicate user id "a"'],
    [
      'agents: [{ id: a, schedules: [{ id: s, cron: "0 9 * * mon-fri", prompt: x }, { id: s, cron: "*/5 * 1,15 jan *", prompt: x }] }]',
      'duplicate schedule id "s"',
    ],
    [
      'integrations: [{ id: a, platform: web, default: true }, { id: b, platform: web, default: true }]',
      'two integrations are the default: "a" and "b"',
    ],
    [
      'integrations: [{ id: a, platform: web, scope: { agents: [kat] } }]\nagents: [{ id: kate }]',
      'scope names an unknown agent "kat" — did you mean "kate"?',
    ],
    ['integrations: [{ id: a, platform: web, scope: some }]', 'expected "all" or { agents: [id, …] }'],
    [
      `integrations: [${TG}]\nusers: [{ id: u, identities: ["gt:1"] }]`,
      'unknown integration "gt" — did you mean "tg"?',
    ],
    [
      `integrations: [${TG}]\nusers: [{ id: u, identities: ["tg:1"] }, { id: v, identities: ["tg:1"] }]`,
      'two users are "tg:1"',
    ],
    [`integrations: [${TG}]\nusers: [{ id: u, notify_to: nowhere }]`, 'notify_to is not an address'],
    [
      'integrations: [{ id: m, platform: mcp, server: slack }]\nmcp_servers: { slack: { command: x } }',
      'mcp_servers',
    ],
  ])('%s', (text, said) => {
    expect(problemsFrom(text)).toContain(said)
  })

  it('scope is all, named agents, or those that are bound', () => {
    const { integrations } = settingsFrom(
      'integrations: [{ id: a, platform: web }, { id: b, platform: web, scope: all }, { id: c, platform: web, scope: { agents: [k] } }]\nagents: [{ id: k }]',
    )
    expect(integrations.map((one) => one.scope)).toEqual(['bound', 'all', { agents: ['k'] }])
  })

  it.each([
    '0 0 29 2 *',
    '0 0 31 */2 *',
    '0 0 31 2 mon',
    '0 0 1-31 feb *',
    '0 0 31 nov-jan *',
    '0 0 31 2/1 *',
  ])('%s comes', (cron) => {
    const { agents } = settingsFrom(`agents: [{ id: a, schedules: [{ id: s, cron: "${cron}", prompt: x }] }]`)
    expect(agents[0]?.schedules).toHaveLength(1)
  })

  it('a public address without an admin token is a warning: the start would refuse it', () => {
    const warned = (server: string) => settingsFrom(`server: { ${server} }`).warnings
    expect(warned('host: 0.0.0.0')).toEqual([expect.stringMatching(/server\.host .*server\.admin_token/)])
    expect(warned('host: 0.0.0.0, admin_token: env:T')).toEqual([])
    expect(warned('host: localhost')).toEqual([])
    expect(warned('host: "::1"')).toEqual([])
  })

  it('an integration that no agent hears is a warning, unless its scope says that it is for sending', () => {
    const { warnings } = settingsFrom(`
integrations:
  - { id: w, platform: web }
  - { id: ci, platform: webhook, secret: env:S }
  - { id: out, platform: webhook, secret: env:S, scope: all }
  - { id: off, platform: webhook, secret: env:S, enabled: false }
agents:
  - { id: a, connector: { type: demo }, inbound_bindings: [{ plugin: web }] }
`)
    expect(warnings).toEqual([
      'integrations[1]: no agent takes what arrives at "ci" (inbound_bindings), so it is refused',
    ])
  })

  it('[I14.one-way-no-sends] a one-way hook that notifications would be sent through is told', () => {
    const warned = (text: string) => settingsFrom(text).warnings.filter((one) => one.includes('one-way'))
    const hook = (more = '') => `integrations:\n  - { id: ci, platform: webhook, secret: env:S${more} }\n`
    const agent =
      'agents:\n  - { id: a, connector: { type: demo }, notify_on: both, inbound_bindings: [{ plugin: webhook }] }\n'
    expect(warned(hook(', default: true'))).toEqual([
      'integrations[0].default: "ci" is one-way, so no notification is sent there (two_way or out would take it)',
    ])
    expect(warned(`${hook()}users:\n  - { id: ann, notify_to: "ci:x", roles: [owner] }\n`)).toEqual([
      'users[0].notify_to: "ci" is one-way, so no notification is sent there (two_way or out would take it)',
    ])
    expect(warned(`${hook()}${agent}`)).toEqual([
      'agents[0].notify_on: every integration is one-way, so nobody is told',
    ])
    for (const more of [
      ', two_way: true, default: true',
      ', out: { url: "https://x.example" }, default: true',
    ])
      expect(warned(`${hook(more)}${agent}`)).toEqual([])
    expect(warned(`${hook()}  - { id: w, platform: web }\n${agent}`)).toEqual([])
  })

  it('[I35.b45-notify-channel] completions of a channel host, whose final text is not seen, are warned of', () => {
    const warned = (connector: string, on: string) =>
      settingsFrom(`
integrations: [{ id: w, platform: web }]
agents:
  - { id: a, connector: { type: ${connector} }, notify_on: ${on}, inbound_bindings: [{ plugin: web }] }
`).warnings.filter((one) => one.includes('notify_on'))
    for (const on of ['completion', 'both'])
      expect(warned('channel', on)).toEqual([
        expect.stringMatching(
          /^agents\[0\]\.notify_on: \w+: the final text of a channel host is not seen.*notify_user/,
        ),
      ])
    expect([...warned('channel', 'failure'), ...warned('demo', 'both')]).toEqual([])
  })

  it('[I14.connector-not-built] a connector that is not built is an error: where it stands, and what is built', () => {
    // One that is planned: known by its name and options, and nothing makes it.
    const planned = { name: 'later', options: demoModule.options }
    const catalog = {
      ...BOOK,
      connectorNames: [...BOOK.connectorNames, 'later'],
      connector: (name: string) => (name === 'later' ? planned : BOOK.connector(name)),
    }
    const result = loadText('agents:\n  - id: a\n    connector: { type: later }\n', {}, catalog)
    if (result.ok) throw new Error('it loads')
    expect(result.problems).toMatchObject([
      {
        line: 3,
        column: 24,
        path: 'agents[0].connector.type',
        message: 'connector later is not built in this version',
        hint: `built: ${Object.keys(CONNECTORS).join(', ')}`,
      },
    ])
  })

  it('what is not built yet is told as such, and every platform and connector is known', () => {
    const result = loadText(
      `
integrations:
  - { id: w, platform: web }
  - { id: h, platform: webhook, secret: env:S }
  - { id: t, platform: telegram, token: env:T, mode: webhook, secret_token: secret:t }
  - { id: s, platform: slack, bot_token: env:B, app_token: env:A }
  - { id: d, platform: discord, token: file:discord.token }
  - { id: e, platform: email, address: a@b.example, imap: { host: i }, smtp: { host: s, tls: starttls, port: 587 } }
  - { id: c, platform: chorus }
  - { id: i, platform: imessage }
  - { id: wa, platform: whatsapp, phone_number_id: "1", access_token: env:A, app_secret: env:B, verify_token: env:C }
agents:
  - { id: a, connector: { type: channel, dialect: nexo } }
  - { id: b, connector: { type: chorus, url: env:U } }
  - { id: f, connector: { type: demo } }
`,
    )
    if (!result.ok) throw new Error(JSON.stringify(result.problems))
    expect(result.warnings.filter((one) => one.includes('is not built yet'))).toHaveLength(
      Object.keys(PLANNED_PLATFORMS).length,
    )
  })

  it('[S7.not-built-told] [I18.planned-platform] a platform that is planned is told as such, its keys are known, and none is kept', async () => {
    const { create: _, ...planned } = BOOK.platform('imessage') ?? {}
    const catalog = {
      ...BOOK,
      platform: (name: string) => (name === 'imessage' ? planned : BOOK.platform(name)),
    } as typeof BOOK
    const load = (keys: string) =>
      loadText(`integrations: [{ id: i, platform: imessage${keys} }]`, {}, catalog)
    expect(load('')).toMatchObject({
      ok: true,
      warnings: expect.arrayContaining(['platform imessage is not built yet: i is loaded but stays off']),
    })
    expect(load(', alow_sms: true')).toMatchObject({ ok: false })
    const shelf = await openStoredIntegrations({ reserved: () => [] } as never, async () => catalog)
    await expect(shelf.add({ id: 'i', platform: 'imessage' }, null, 'operator')).rejects.toMatchObject({
      code: 'not_built',
      nature: { exitCode: 2 },
    })
    expect(shelf.all()).toEqual([])
  })
})

it('[I14.limit-doctor] limits that are lifted are told, those by default are not', () => {
  expect(settingsFrom('store: sqlite:./x.db').warnings.join()).not.toContain('is lifted')
  const lifted = settingsFrom(
    'tunables: { sender_limit: { rps: 0, burst: 0 }, stranger_limit: { rps: 0, burst: 0 } }',
  )
  expect(lifted.warnings.filter((one) => one.includes('is lifted'))).toEqual([
    'tunables.sender_limit is lifted: nothing holds back a flood',
    'tunables.stranger_limit is lifted: nothing holds back a flood',
  ])
})

it('[I35.b23] an agent that asks people, and has nobody who can approve, is a warning', () => {
  const file = (access: string, connector = '{ type: acp, command: agent }', more = '') =>
    settingsFrom(
      `${more}\nintegrations: [{ id: tg, platform: telegram, token: env:T, access: ${access} }]\n` +
        `agents: [{ id: kate, connector: ${connector}, inbound_bindings: [{ plugin: telegram, instance: tg }] }]`,
    ).warnings.filter((one) => one.includes('approvers'))
  const listed = '{ dm: allowlist, allow_from: ["7"] }'
  expect(file(listed)).toEqual([expect.stringContaining('integrations[0].access.approvers: nobody is named')])
  expect(file('{ dm: allowlist, allow_from: ["7"], approvers: ["7"] }')).toEqual([])
  expect(file('{ dm: allowlist, allow_from: ["7"], groups: { "-1": { approvals: true } } }')).toEqual([])
  expect(file(listed, undefined, 'users: [{ id: ann, identities: ["tg:7"], roles: [approver] }]')).toEqual([])
  expect(
    file(listed, undefined, 'users: [{ id: ann, identities: ["tg:7"], roles: [operator] }]'),
  ).toHaveLength(1)
  // Whoever is paired may be let in as an approver.
  expect(file('{ dm: pairing }')).toEqual([])
  expect(file(listed, '{ type: demo }')).toEqual([])
  expect(
    file(listed, '{ type: llm, provider: anthropic, model: m, api_key: env:K, risky_tools: [] }'),
  ).toEqual([])
})

it('[I35.b46-trust] trust is read from the file, and where an agent runs tools of its own that is said', () => {
  const file = (connector: string) =>
    settingsFrom(
      `integrations: [${TG}]\nagents: [{ id: kate, connector: ${connector}, read_only_tools: [Read], inbound_bindings: [{ plugin: telegram, instance: tg, trust: read_only }] }]`,
    )
  const acp = file('{ type: acp, command: agent }')
  expect(acp.agents[0]).toMatchObject({ readOnlyTools: ['Read'], bindings: [{ trust: 'read_only' }] })
  const llm = file('{ type: llm, provider: openai, model: m, api_key: env:K }')
  expect(llm.warnings.filter((one) => one.includes('trust'))).toEqual([])
  for (const [type, more] of [
    ['acp', ', command: agent'],
    ['claude-code', ''],
  ])
    expect(file(`{ type: ${type}${more} }`).warnings).toContainEqual(
      expect.stringContaining(
        `agents[0].inbound_bindings[0].trust: kate (${type}) runs without asking what its own mode lets it run`,
      ),
    )
  for (const [type, more] of [
    ['http', ', url: "https://a.test"'],
    ['chorus', ', url: env:U'],
    ['channel', ''],
  ])
    expect(file(`{ type: ${type}${more} }`).warnings).toContainEqual(
      expect.stringContaining(`agents[0].inbound_bindings[0].trust: kate (${type}) may run tools of its own`),
    )
  expect(problemsFrom('agents: [{ id: kate, inbound_bindings: [{ plugin: x, trust: some }] }]')).toContain(
    'trust',
  )
})
