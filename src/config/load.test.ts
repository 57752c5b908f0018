// Proves what loads: the example of the specification, the seed's YAML, durations, tunables.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_TUNABLES } from '../contract/index.ts'
import { loadText, problemsFrom, settingsFrom } from './fixtures/load-text.ts'
import { configError } from './problem.ts'

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8')

describe('what loads', () => {
  it('[S3.example-loads] the example of the specification loads as it stands', () => {
    const settings = settingsFrom(fixture('spec-example.yaml'))
    expect(settings.server).toEqual({
      host: '127.0.0.1',
      port: 4747,
      portChosen: true,
      publicUrl: 'https://sb.example.com',
    })
    expect(settings.store).toBe('sqlite:/etc/sb/switchboard.db')
    expect(settings.integrations[0]).toMatchObject({
      id: 'kate_tg',
      platform: 'telegram',
      default: true,
      scope: { agents: ['kate'] },
      access: { readable: true, dm: 'pairing', allowFrom: ['412587349'], approvers: ['412587349'] },
      options: { token: 'env:TELEGRAM_BOT_TOKEN' },
      origin: 'integrations[0]',
    })
    expect(settings.agents[0]).toMatchObject({
      connector: { type: 'chorus', options: { url: 'env:KATE_CONNECTION_STRING' } },
      bindings: [
        { plugin: 'telegram', instance: 'kate_tg', allowedChannelServers: ['slack', 'telegram'] },
        { plugin: 'mcp', instance: 'channel:slack@kate', allowedChannelServers: [] },
      ],
      schedules: [{ id: 'standup', cron: '0 9 * * 1-5', tz: 'Europe/Oslo', missed: 'run' }],
      notifyOn: 'failure',
      messagingAllow: ['slack:C0123ABC', 'telegram:-100123'],
    })
    expect(settings.mcpServers.map((server) => server.name)).toEqual(['slack', 'pager'])
    expect(settings.mcpServers[0]?.options).toMatchObject({ cwd: '/etc/sb/slack' })
    expect(settings.warnings).toEqual([
      'agents[0].channels.approved: server "telegram" is configured nowhere under mcp_servers',
      'mcp_servers.pager is mentioned by no agent: it is not started',
    ])
  })

  it('[S3.channels-shape] [I3.nexo-yaml] the YAML of the channels seed loads as it stands, with words about what is absent', () => {
    const settings = settingsFrom(fixture('nexo-seed.yaml'))
    expect(settings.agents[0]?.channels).toEqual({
      enabled: true,
      maxContentChars: 16_000,
      defaultRateLimit: { rps: 5, burst: 20 },
      approved: [
        {
          server: 'slack',
          pluginSource: 'slack@anthropic',
          outboundToolName: 'chat.postMessage',
          rateLimit: { rps: 10, burst: 50 },
        },
        { server: 'telegram', pluginSource: null, outboundToolName: 'send_message', rateLimit: null },
      ],
    })
    expect(settings.agents[0]?.connector.type).toBe('channel')
    expect(settings.warnings.join('\n')).toMatch(/"kate_tg" \(telegram\), but no integrations are configured/)
    expect(settings.warnings.join('\n')).toMatch(/server "slack" is configured nowhere/)
  })

  it('[S3.server-keys] host, port and public_url are taken as written', () => {
    const settings = settingsFrom(
      'server: { host: 0.0.0.0, port: 0, public_url: "https://a.example/x/", admin_token: env:ADMIN }',
    )
    expect(settings.server).toEqual({
      host: '0.0.0.0',
      port: 0,
      portChosen: true,
      publicUrl: 'https://a.example/x',
      adminToken: 'env:ADMIN',
    })
  })

  it('[I13.option-keys] options of adapters are what their schemas give, whatever they are called', () => {
    const { agents } = settingsFrom(`
agents:
  - { id: a, connector: { type: acp, command: x, cwd: ./work } }
  - { id: b, connector: { type: claude-code, cwd: ./work } }
`)
    expect(agents.map(({ connector }) => connector.options.cwd)).toEqual(['./work', './work'])
  })

  it('a relative store starts at the file, an absolute one and others stay', () => {
    expect(settingsFrom('store: sqlite:./a/b.db').store).toBe('sqlite:/etc/sb/a/b.db')
    expect(settingsFrom('store: sqlite:/x/b.db').store).toBe('sqlite:/x/b.db')
    expect(settingsFrom('store: postgres://db/sb').store).toBe('postgres://db/sb')
    expect(settingsFrom('store: env:DATABASE_URL').store).toBe('env:DATABASE_URL')
    expect(settingsFrom('agents: []').store).toBe('sqlite:/data/switchboard.db')
    expect(problemsFrom('store: mysql://x')).toContain('expected sqlite:path, postgres://')
  })

  it('a password in the store is told, and never in the words about it', () => {
    const settings = settingsFrom('store: postgres://sb:hunter2hunter2@db/sb')
    expect(settings.warnings.join()).toContain('store holds a password')
    expect(settings.warnings.join()).not.toContain('hunter2')
  })

  it.each([
    ['1500', 1500],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['0', 0],
  ])('a duration may be written %s', (written, ms) => {
    expect(settingsFrom(`tunables: { queue_expiry: ${written} }`).tunables.queueExpiryMs).toBe(ms)
  })

  it.each(['soon', '-5', '10 m', '5y', '""', '[]', 'true', '.inf', '.nan'])(
    '%s is not a duration',
    (written) => {
      expect(problemsFrom(`tunables: { queue_expiry: ${written} }`)).toContain(
        'expected a duration such as 30s',
      )
    },
  )

  it('[S3.tunables-in-schema] [S3.max-attempts-default] [S3.queue-expiry-default] [S3.approval-expiry-default] [S3.tool-wait-default] everything tunable has its default', () => {
    expect(settingsFrom('agents: []').tunables).toEqual(DEFAULT_TUNABLES)
  })

  it('[S3.unknown-policy-values] [S12.retention-config] [I14.retain-config] everything tunable can be written', () => {
    const { tunables } = settingsFrom(`
tunables:
  max_attempts: 2
  redeliver_after: 1m
  unseen_notice: 90s
  queue_expiry: 1d
  approval_expiry: 30s
  sender_limit: { rps: 1, burst: 2 }
  flood_limit: { rps: 3, burst: 4 }
  stranger_limit: { rps: 5, burst: 6 }
  recipient_limit: { rps: 0, burst: 0 }
  tool_wait: 1s
  takeover_timeout: 5m
  unknown_policy: hold
  max_body_bytes: 2048
  send_retry_base: 2s
  send_retry_max: 3s
  send_expiry: 4h
  ack_reaction: "👀"
  send_roots: [out, /srv/reports]
retention: { bodies: 30d, rows: 90d, ledger: 365d }
`)
    expect(tunables).toEqual({
      maxAttempts: 2,
      redeliverAfterMs: 60_000,
      unseenNoticeMs: 90_000,
      queueExpiryMs: 86_400_000,
      approvalExpiryMs: 30_000,
      senderLimit: { rps: 1, burst: 2 },
      floodLimit: { rps: 3, burst: 4 },
      strangerLimit: { rps: 5, burst: 6 },
      recipientLimit: { rps: 0, burst: 0 },
      toolWaitMs: 1_000,
      takeoverTimeoutMs: 300_000,
      unknownPolicy: 'hold',
      bodyRetentionMs: 30 * 86_400_000,
      attachmentRetentionMs: 30 * 86_400_000,
      rowRetentionMs: 90 * 86_400_000,
      ledgerRetentionMs: 365 * 86_400_000,
      maxBodyBytes: 2048,
      sendRetryBaseMs: 2_000,
      sendRetryMaxMs: 3_000,
      sendExpiryMs: 4 * 3_600_000,
      ackReaction: '👀',
      sendRoots: ['out', '/srv/reports'],
    })
    expect(problemsFrom('tunables: { unknown_policy: hodl }')).toContain(
      'unknown_policy must be one of note, hold — did you mean "hold"?',
    )
  })

  it('manners are set for all and can be changed per integration', () => {
    const { integrations } = settingsFrom(`
tunables: { mention_patterns: ["^sb\\\\b"], reply_to_mode: all, text_chunk_limit: 500, ack_reaction: ok }
integrations:
  - { id: a, platform: web }
  - { id: b, platform: web, ack_reaction: "", reply_to_mode: "off", text_chunk_limit: 100, access: { mention_patterns: [bob] } }
`)
    expect(integrations[0]).toMatchObject({ ackReaction: 'ok', replyToMode: 'all', textChunkLimit: 500 })
    expect(integrations[0]?.access).toMatchObject({ mentionPatterns: ['^sb\\b'] })
    expect(integrations[1]).toMatchObject({ ackReaction: '', replyToMode: 'off', textChunkLimit: 100 })
    expect(integrations[1]?.access).toMatchObject({ mentionPatterns: ['bob'] })
    expect(problemsFrom('tunables: { mention_patterns: ["("] }')).toContain('regular expression')
  })

  it('the error for the command line has exit code 2 and all places', () => {
    const result = loadText('a: 1\nb: 2\n')
    if (result.ok) throw new Error('it loaded')
    const error = configError('switchboard.yaml', result.problems)
    expect(error.nature.exitCode).toBe(2)
    expect(error.message).toContain('switchboard.yaml:1:1 unknown key "a"')
    expect(error.message).toContain('switchboard.yaml:2:1 unknown key "b"')
    expect(error.hint).toBe('switchboard.yaml has 2 problems')
  })
})
