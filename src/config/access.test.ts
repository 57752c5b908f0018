// Proves the doors: defaults of access per platform, policy files, messaging.json, the embedded default, the digest.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { WEB_OWNER } from '../contract/index.ts'
import { listedRights } from '../core/people/approvers.ts'
import { defaultSettings } from './default-settings.ts'
import { BOOK, loadText, problemsFrom, settingsFrom } from './fixtures/load-text.ts'

const first = (integration: string, files = {}) =>
  settingsFrom(`integrations: [${integration}]`, files).integrations[0]

describe('[I18.access-default] approvers whom the file does not name', () => {
  const keys = (web: string) => {
    const settings = settingsFrom(`integrations: [${web}]`)
    return settings.integrations.flatMap((one) => listedRights(settings, one).map(({ key }) => key))
  }

  it('are told as the default of the platform, and as the key where one is written', () => {
    expect(keys('{ id: x, platform: web }')).toEqual([
      'default of web (integrations[0].access names no approvers)',
    ])
    expect(keys('{ id: x, platform: web, access: { approvers: [ann] } }')).toEqual([
      'integrations[0].access.approvers',
    ])
  })
})

describe('the door of each platform', () => {
  it.each([
    ['{ id: x, platform: telegram, token: env:T }', 'pairing'],
    ['{ id: x, platform: slack, bot_token: env:T, app_token: env:A }', 'pairing'],
    ['{ id: x, platform: discord, token: env:T }', 'pairing'],
    [
      '{ id: x, platform: whatsapp, phone_number_id: "1", access_token: env:A, app_secret: env:B, verify_token: env:C }',
      'pairing',
    ],
    ['{ id: x, platform: email, address: a@b.example, imap: { host: i }, smtp: { host: s } }', 'allowlist'],
    ['{ id: x, platform: imessage }', 'allowlist'],
    ['{ id: x, platform: imessage, addresses: ["+49 151", Me@x.example] }', 'allowlist'],
    ['{ id: x, platform: web }', 'credential'],
    ['{ id: x, platform: chorus }', 'credential'],
    ['{ id: x, platform: webhook, secret: env:S }', 'credential'],
    ['{ id: x, platform: webhook, sender_header: X-Sender }', 'allowlist'],
    ['{ id: x, platform: telegram, token: env:T, access: { dm: disabled } }', 'disabled'],
    ['{ id: x, platform: web, access: { dm: disabled } }', 'disabled'],
  ])('%s is %s', (integration, dm) => {
    expect(first(integration)?.access).toMatchObject({ readable: true, dm })
  })

  it('[I14.proxy-check] what takes requests of this machine alone is told of where a public URL makes that nobody', () => {
    const hook = (server: string, keys: string) =>
      settingsFrom(
        `server: { ${server} }\nintegrations: [{ id: h, platform: webhook, access: { allow_from: [dev] }, ${keys} }]`,
      ).warnings
    const open = 'public_url: https://sb.example.com'
    expect(hook(open, 'sender_header: X-Sender')).toEqual([
      expect.stringMatching(
        /^integrations\[0\]\.sender_header: "h" .* it refuses everybody .*behind_proxy: true/,
      ),
    ])
    expect(hook(open, 'auth: loopback')).toEqual([
      expect.stringMatching(/^integrations\[0\]\.auth: .* refuses everybody/),
    ])
    expect(hook(open, 'auth: { type: loopback }')).toHaveLength(1)
    for (const quiet of [
      hook(open, 'sender_header: X-Sender, behind_proxy: true'),
      hook(open, 'secret: env:S'),
      hook(open, 'sender_header: X-Sender, enabled: false'),
      hook('public_url: http://127.0.0.1:4747', 'sender_header: X-Sender'),
      hook('port: 4747', 'sender_header: X-Sender'),
      hook('port: 4747', 'auth: loopback'),
    ])
      expect(quiet).toEqual([])
  })

  it('[I13.option-keys] what options mean is said by the module alone, and one that throws says nothing', () => {
    const throwing = () => {
      throw new Error('boom')
    }
    const loaded = (more: object) => {
      const foreign = {
        ...{ name: 'pager', docs: 'x', create: throwing },
        options: z.looseObject({}),
        ...more,
      }
      const catalog = { ...BOOK, platform: () => foreign, platformNames: ['pager'] }
      const { warnings, integrations } = settingsFrom(
        `server: { public_url: https://sb.example.com }
integrations: [{ id: duty, platform: pager, default: true, access: { allow_from: [kate] }, two_way: false, sender_header: X, require_auth_results: false }]
agents: [{ id: a, connector: { type: demo }, inbound_bindings: [{ plugin: pager }] }]`,
        {},
        catalog,
      )
      const { oneWay, unproven } = integrations[0] ?? {}
      return { warnings, oneWay, unproven }
    }
    expect(loaded({})).toEqual({ warnings: [], oneWay: undefined, unproven: undefined })
    expect(loaded({ oneWay: throwing, nearOnly: throwing, provesSenders: throwing })).toEqual({
      ...{ warnings: [], oneWay: undefined, unproven: true },
    })
    const open = { oneWay: () => true, nearOnly: () => 'door', provesSenders: () => true }
    const bare = [
      'integrations[0].default: "duty" is one-way, so no notification is sent there',
      'integrations[0].door: "duty" takes requests of this machine alone, and with server.public_url none counts as that: it refuses everybody',
    ]
    expect(loaded(open)).toEqual({ warnings: bare, oneWay: true, unproven: undefined })
    expect(loaded({ ...open, hints: { oneWay: 'ring it', nearOnly: 'lock it' } }).warnings).toEqual([
      ...[`${bare[0]} (ring it)`, `${bare[1]} (lock it)`],
    ])
  })

  it('[S6.ch-permission-cap] a mailbox whose senders nothing proves is marked, and no other', () => {
    const mail = (more: string) =>
      first(
        `{ id: m, platform: email, address: a@b.example, imap: { host: h, password: env:P }, smtp: { host: h, password: env:P }${more} }`,
      )?.unproven
    expect(mail(', require_auth_results: false')).toBe(true)
    expect([mail(', require_auth_results: true'), mail('')]).toEqual([undefined, undefined])
    expect(first('{ id: w, platform: webhook, secret: env:S }')?.unproven).toBe(undefined)
  })

  it('a webhook without a gate is an error that names both keys', () => {
    const said = problemsFrom('integrations:\n  - { id: h, platform: webhook }')
    expect(said).toContain('switchboard.yaml:2:5 a webhook needs "auth", "secret"')
    expect(said).toContain('"sender_header"')
  })

  it('a trusted header with an empty list lets nobody speak, and that is said', () => {
    expect(
      settingsFrom('integrations: [{ id: h, platform: webhook, sender_header: X-Sender }]').warnings,
    ).toEqual(['integrations[0].access.allow_from is empty: nobody may speak through h'])
    expect(problemsFrom('integrations: [{ id: h, platform: webhook, sender_header: "a b" }]')).toContain(
      'HTTP header',
    )
  })

  it.each([
    ['{ id: x, platform: telegram }', '"token" is missing'],
    [
      '{ id: x, platform: webhook, secret: env:S, sender_header: X }',
      'either "secret" or "sender_header", not both',
    ],
    [
      '{ id: x, platform: webhook, secret: env:S, two_way: true, out: { url: "https://x" } }',
      'either "two_way"',
    ],
    ['{ id: x, platform: telegram, token: env:T, mode: webhook }', 'mode webhook needs "secret_token"'],
    ['{ id: x, platform: slack, bot_token: env:T }', 'slack in mode socket needs "app_token"'],
    [
      '{ id: x, platform: slack, bot_token: env:T, mode: events }',
      'slack in mode events needs "signing_secret"',
    ],
  ])('%s is not whole', (integration, said) => {
    expect(problemsFrom(`integrations: [${integration}]`)).toContain(said)
  })

  it('groups take their defaults, and one that is open to all is told', () => {
    const settings = settingsFrom(
      'integrations: [{ id: x, platform: web, access: { groups: { g: {}, h: { require_mention: false, allow_from: ["*"] } } } }]',
    )
    expect(settings.integrations[0]?.access).toMatchObject({
      groups: { g: { requireMention: true, allowFrom: [] }, h: { requireMention: false, allowFrom: ['*'] } },
    })
    expect(settings.warnings).toEqual(['integrations[0].access.groups["h"]: any member may speak'])
  })

  it('the holder of the web page’s token may approve, unless others are named', () => {
    expect(first('{ id: w, platform: web }')?.access).toMatchObject({ approvers: [WEB_OWNER] })
    expect(first('{ id: w, platform: web, access: { approvers: [kate] } }')?.access).toMatchObject({
      approvers: ['kate'],
    })
  })

  it('a policy file is taken; unreadable, it closes that door only and says so', () => {
    const text =
      'integrations: [{ id: t, platform: telegram, token: env:T, access: { file: t.yaml } }, { id: w, platform: web }]'
    const good = settingsFrom(text, { '/etc/sb/t.yaml': 'dm: allowlist\nallow_from: ["1"]\n' })
    expect(good.integrations[0]?.access).toMatchObject({ readable: true, dm: 'allowlist', allowFrom: ['1'] })
    const bad = [
      [{}, 'access file t.yaml cannot be read'],
      [{ '/etc/sb/t.yaml': 'dm: open\n' }, 'access file t.yaml:1:1 dm must be one of'],
      [{ '/etc/sb/t.yaml': 'dm: [\n' }, 'not valid YAML'],
      [{ '/etc/sb/t.yaml': 'alow_from: []\n' }, 'unknown key "alow_from"'],
      [{ '/etc/sb/t.yaml': '' }, 'must be a map of keys'],
    ] as const
    for (const [files, problem] of bad) {
      const settings = settingsFrom(text, files)
      expect(settings.integrations[0]?.access).toMatchObject({
        readable: false,
        problem: expect.stringContaining(problem),
      })
      expect(settings.integrations[1]?.access).toMatchObject({ readable: true })
      expect(settings.warnings.join()).toContain('the door stays closed')
    }
    expect(
      problemsFrom('integrations: [{ id: w, platform: web, access: { file: a, dm: disabled } }]'),
    ).toContain('not both')
  })
})

describe('messaging.json', () => {
  it('[I14.messaging-beside] beside the file counts for agents that say nothing of messaging, and denies all when it is broken', () => {
    const beside = (text: string | null) =>
      settingsFrom(
        'agents: [{ id: engineer }, { id: other }, { id: own, messaging: { allow: ["slack:C9"] } }]',
        text === null ? {} : { '/etc/sb/messaging.json': text },
      )
    const lists = (text: string | null) => beside(text).agents.map(({ messagingAllow }) => messagingAllow)
    expect(lists('{"engineer": ["slack:C1"], "own": ["*"]}')).toEqual([['slack:C1'], [], ['slack:C9']])
    expect(lists(null)).toEqual([[], [], ['slack:C9']])
    expect(beside(null).warnings.filter((warning) => warning.includes('messaging'))).toEqual([])
    expect(lists('{')).toEqual([[], [], ['slack:C9']])
    expect(beside('{').warnings.join()).toContain('messaging file messaging.json is not JSON')
  })

  const text =
    'agents: [{ id: engineer, messaging: { file: messaging.json } }, { id: other, messaging: { file: messaging.json } }]'
  const path = '/etc/sb/messaging.json'
  /** Nothing is bound in these files, which is told as well. */
  const warned = ({ warnings }: { readonly warnings: readonly string[] }) =>
    warnings.filter((warning) => !warning.includes('is unbound'))

  it('[S3.messaging-file] gives each agent its own list; other names in it are nobody’s', () => {
    const file = JSON.stringify({ engineer: ['slack:C0123ABC', 'telegram:-100123'], researcher: ['*'] })
    const settings = settingsFrom(text, { [path]: file })
    expect(settings.agents.map((agent) => agent.messagingAllow)).toEqual([
      ['slack:C0123ABC', 'telegram:-100123'],
      [],
    ])
    expect(warned(settings)).toEqual([])
    const result = loadText(text, { [path]: file })
    expect(result.files).toContain(path)
  })

  it('[I35.b45-tilde] may stand in the home folder, as ~', () => {
    const at = join(homedir(), 'lists/messaging.json')
    const tilde = 'agents: [{ id: engineer, messaging: { file: ~/lists/messaging.json } }]'
    const settings = settingsFrom(tilde, { [at]: JSON.stringify({ engineer: ['slack:C1'] }) })
    expect(settings.agents[0]?.messagingAllow).toEqual(['slack:C1'])
    expect(warned(settings)).toEqual([])
  })

  it('[S3.messaging-allow] lists targets inline, and nothing listed is nothing allowed', () => {
    const { agents } = settingsFrom(
      'agents: [{ id: a, messaging: { allow: ["slack:C1", "telegram:*", "*"] } }, { id: b }]',
    )
    expect(agents.map((agent) => agent.messagingAllow)).toEqual([['slack:C1', 'telegram:*', '*'], []])
  })

  it.each([
    [null, 'cannot be read'],
    ['{', 'is not JSON'],
    ['[]', 'must be an object'],
    ['{"engineer": "*"}', '"engineer" must be a list'],
    ['{"engineer": [5]}', '"engineer" must be a list'],
    ['{"x": ["*", "bad"]}', '"x" must be a list'],
  ])('%s denies all and is reported once', (content, said) => {
    const settings = settingsFrom(text, content === null ? {} : { [path]: content })
    expect(settings.agents.map((agent) => agent.messagingAllow)).toEqual([[], []])
    expect(warned(settings)).toEqual([expect.stringContaining(said)])
    expect(warned(settings)[0]).toContain('is denied')
  })
})

describe('the embedded default', () => {
  it('is web chat, the two-way webhook of the seed and the demo agent', () => {
    const settings = defaultSettings({ defaultStore: 'sqlite:/d/switchboard.db' })
    expect(settings.store).toBe('sqlite:/d/switchboard.db')
    expect(settings.integrations.map((one) => [one.id, one.platform])).toEqual([
      ['web', 'web'],
      ['demo', 'webhook'],
    ])
    expect(settings.integrations[1]).toMatchObject({
      options: { sender_header: 'X-Sender', two_way: true },
      access: { dm: 'allowlist', allowFrom: ['dev'], approvers: ['dev'] },
    })
    expect(settings.agents[0]).toMatchObject({ id: 'demo', connector: { type: 'demo' } })
    expect(settings.agents[0]?.bindings.map((binding) => binding.instance)).toEqual(['web', 'demo'])
  })

  it('[I13.default-access] means the same as the file one would write for it: no default of a module differs in it', () => {
    const written = settingsFrom(`
integrations:
  - { id: web, platform: web, default: true }
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: web, instance: web }, { plugin: webhook, instance: demo }]
`)
    const plain = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll(/"origin":"[^"]*"/g, '"origin":""'))
    const embedded = defaultSettings({ defaultStore: written.store })
    expect(plain({ ...written, digest: '' })).toEqual(plain({ ...embedded, digest: '' }))
  })
})

describe('the digest', () => {
  it('is the same for the same meaning, and another for another', () => {
    const one = settingsFrom('agents: [{ id: a }]\nserver: { port: 1, host: h }\nstore: sqlite:/a')
    const same = settingsFrom(
      '# a word\nstore: sqlite:/b\nserver:\n  host: h\n  port: 1\nagents:\n  - id: "a"\n',
    )
    const other = settingsFrom('agents: [{ id: b }]\nserver: { port: 1, host: h }')
    expect(one.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(same.digest).toBe(one.digest)
    expect(other.digest).not.toBe(one.digest)
  })
})
