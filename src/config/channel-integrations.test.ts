// Channel servers become integrations and bindings of the agents that mention them, under names that stay.
import { describe, expect, it } from 'vitest'
import { settingsFrom } from './fixtures/load-text.ts'

const FILE = `
integrations: [{ id: tg, platform: telegram, token: "env:TG" }]
mcp_servers:
  slack: { command: npx, args: [slack-channel], access: { dm: allowlist, allow_from: ["U1"] } }
  pager: { url: "https://pager.example.com/mcp" }
  quiet: { command: x }
  off: { command: x, enabled: false }
agents:
  - id: kate
    channels: { enabled: true, approved: [{ server: slack, outbound_tool_name: chat.postMessage }, { server: off }] }
    inbound_bindings:
      - { plugin: telegram, instance: tg, allowed_channel_servers: [slack] }
      - { plugin: mcp, instance: slack, allowed_channel_servers: [slack], rate_limit: { rps: 1, burst: 2 }, context: work }
  - id: bob
    inbound_bindings: [{ plugin: mcp, instance: pager, allowed_channel_servers: [pager] }]
`

describe('channel servers as integrations', () => {
  it('[I14.binding-limit-server] a limit of the binding that admits a server counts for it, under its own key', () => {
    const limited = settingsFrom(
      FILE.replace(
        'allowed_channel_servers: [pager] }',
        'allowed_channel_servers: [pager], rate_limit: { rps: 3, burst: 4 } }',
      ).replace(
        '- { plugin: telegram, instance: tg, allowed_channel_servers: [slack] }',
        '- { plugin: telegram, instance: tg, allowed_channel_servers: [slack, quiet], rate_limit: { rps: 7, burst: 8 } }',
      ),
    )
    const limits = limited.agents.flatMap(({ bindings }) =>
      bindings
        .filter(({ instance }) => instance.startsWith('channel:'))
        .map(({ instance, senderLimit, limitedBy }) => [instance, senderLimit, limitedBy]),
    )
    expect(limits).toEqual([
      ['channel:slack@kate', { rps: 1, burst: 2 }, 1],
      ['channel:quiet@kate', { rps: 7, burst: 8 }, 0],
      ['channel:off@kate', undefined, undefined],
      ['channel:pager@bob', { rps: 3, burst: 4 }, 0],
    ])
  })

  const settings = settingsFrom(FILE)
  const made = settings.integrations.filter((one) => one.platform === 'mcp')

  it('one per server and agent that mention each other, however many bindings do', () => {
    expect(made.map((one) => one.id)).toEqual(['channel:slack@kate', 'channel:pager@bob', 'channel:off@kate'])
    expect(made.map((one) => one.source)).toEqual(['channel:slack', 'channel:pager', 'channel:off'])
    expect(made.map((one) => one.enabled)).toEqual([true, true, false])
  })

  it('whatever a server is called, its id is its own; what cannot be told apart is no name', () => {
    const named = (name: string) => `
mcp_servers: { ${JSON.stringify(name)}: { command: x } }
agents: [{ id: kate, channels: { enabled: true, approved: [{ server: ${JSON.stringify(name)} }] } }]
`
    for (const name of ['a@kate', 'plugin:slack:default', 'a/b', '100%', 'Ünïcode 名', 'a b'])
      expect(settingsFrom(named(name)).integrations.at(-1)?.id).toBe(`channel:${name}@kate`)
    for (const name of [' ', ' a', 'a\n', 'a\u0007b', 'a'.repeat(129)])
      expect(() => settingsFrom(named(name))).toThrow(/name of a server/)
  })

  it('a program runs where the file lies unless it says otherwise', () => {
    const { mcpServers } = settingsFrom(`
mcp_servers: { a: { command: x }, b: { command: x, cwd: ./y }, c: { url: "http://127.0.0.1/" }, d: { plugin: p@m } }
`)
    expect(mcpServers.map(({ options }) => options.cwd)).toEqual([
      '/etc/sb',
      '/etc/sb/y',
      undefined,
      undefined,
    ])
  })

  it('they are granted to their agent alone, and carry what the gates look at', () => {
    expect(made[0]).toMatchObject({
      scope: { agents: ['kate'] },
      origin: 'mcp_servers.slack',
      access: { readable: true, dm: 'allowlist', allowFrom: ['U1'] },
      options: {
        server: 'slack',
        agent: 'kate',
        agent_origin: 'agents[0]',
        channels: { enabled: true, approved: [{ outboundToolName: 'chat.postMessage' }, {}] },
        bindings: [
          { plugin: 'telegram', instance: 'tg', allowedChannelServers: ['slack'] },
          { plugin: 'mcp', instance: 'slack' },
        ],
      },
    })
    expect(made[1]).toMatchObject({ access: { readable: true, dm: 'credential', allowFrom: [] } })
    expect(made[1]?.options).toMatchObject({ channels: null, agent_origin: 'agents[1]' })
  })

  it('the agent is bound to them, with the limits of a binding that names the server', () => {
    const bound = settings.agents[0]?.bindings.filter((one) => one.instance.startsWith('channel:'))
    expect(bound).toEqual([
      {
        plugin: 'mcp',
        instance: 'channel:slack@kate',
        allowedChannelServers: [],
        senderLimit: { rps: 1, burst: 2 },
        limitedBy: 1,
        context: 'work',
      },
      { plugin: 'mcp', instance: 'channel:off@kate', allowedChannelServers: [] },
    ])
  })

  it('what cannot work is said', () => {
    expect(settings.warnings).toEqual([
      'agents[0].channels.approved lists server "off", but no allowed_channel_servers of agents[0].inbound_bindings does',
      'agents[1].inbound_bindings allow server "pager", but agents[1].channels.approved does not list it',
      'mcp_servers.quiet is mentioned by no agent: it is not started',
    ])
  })

  it('people may be known through a channel server', () => {
    const identity =
      'users: [{ id: ann, identities: ["channel:slack@kate:U1"], notify_to: "channel%3Aslack%40kate:chat_id%3DC1" }]'
    expect(settingsFrom(FILE + identity).users[0]?.identities).toEqual(['channel:slack@kate:U1'])
  })
})
