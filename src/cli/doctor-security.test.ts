// `switchboard doctor --security` over a canned daemon, and without one.
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { path: folder, data, start } = freshFolder()
const files = { config: [], secrets: [], database: null }
const OPEN_GROUP = { severity: 'medium', what: 'any member may talk', key: 'integrations[0].access' }
const ANYBODY = { severity: 'high', what: 'anybody may talk', key: 'integrations[1].access' }

function daemonWith(findings: readonly object[]) {
  const security = { findings, unjudged: ['tokens that were never used: their use is not recorded'], files }
  return start({ 'GET /api/doctor': { ok: true, security } })
}

describe('[I14.doctor-security] [I14.doctor-fix] doctor --security', () => {
  it('shows what the daemon found, worst first, and fails for a high one only', async () => {
    const { asked } = await daemonWith([OPEN_GROUP, ANYBODY])
    const told = await command(['doctor', '--security', ...data()])
    expect(told.code).toBe(1)
    expect(told.out).toMatch(/^high {4}anybody may talk \[integrations\[1\]\.access\]\nmedium {2}any member/)
    expect(told.out).toContain('not judged  tokens that were never used')
    expect(asked.map(({ path, query }) => [path, query])).toEqual([['/api/doctor', { security: 'true' }]])
  })

  it('[I35.b10] --send-test asks the daemon for trials, and shows what they told', async () => {
    const tried = ['mail: a forged Authentication-Results header was not believed: the server took it out']
    const { asked } = await start({
      'GET /api/doctor': { ok: true, security: { findings: [], unjudged: [], tried, files } },
    })
    const told = await command(['doctor', '--security', '--send-test', ...data()])
    expect(told.out).toContain('tried       mail: a forged Authentication-Results header was not believed')
    expect(asked.at(-1)?.query).toEqual({ security: 'true', send_test: 'true' })
    expect((await command(['doctor', '--send-test', ...data()])).code).toBe(2)
  })

  it('mends modes of our own with --fix, and then they stand no more', async () => {
    await daemonWith([OPEN_GROUP])
    const key = join(folder(), 'switchboard.key')
    writeFileSync(key, 'x')
    chmodSync(key, 0o644)
    const finding = { severity: 'high', key: `chmod 600 ${key}`, fix: `chmod 600 ${key}` }
    const before = await command(['doctor', '--security', '--json', ...data()])
    expect(before.code).toBe(1)
    expect(before.lines).toMatchObject([{ ok: false, findings: [finding, OPEN_GROUP] }])
    expect(statSync(key).mode & 0o777).toBe(0o644)

    const mended = await command(['doctor', '--security', '--fix', '--json', ...data()])
    expect(mended.code).toBe(0)
    expect(mended.lines).toMatchObject([{ ok: true, findings: [{ ...finding, fixed: true }, OPEN_GROUP] }])
    expect(statSync(key).mode & 0o777).toBe(0o600)
    const after = await command(['doctor', '--security', '--json', ...data()])
    expect(after.lines).toEqual([{ ok: true, findings: [OPEN_GROUP], unjudged: [expect.any(String)] }])
  })

  it.each([
    ['', '127.0.0.1', 'low', 'any program or user here can say who it is'],
    [', behind_proxy: true', '127.0.0.1', 'low', 'the proxy must set it itself'],
    [', behind_proxy: true', '0.0.0.0', 'high', 'anybody can say who they are'],
  ])(
    '[I35.b4-header] names a webhook that believes a header and has no secret%s on %s: %s',
    async (more, host, severity, words) => {
      const file = join(folder(), 'switchboard.yaml')
      const hook = (rest: string) =>
        `server: { host: ${host}, admin_token: env:ADMIN }\nintegrations:\n  - { id: ci, platform: webhook, ${rest} }\n`
      const findings = async (rest: string) => {
        writeFileSync(file, hook(rest))
        chmodSync(file, 0o600)
        const told = await command(['doctor', '--security', '--json', '--config', file, ...data()])
        const [{ findings: all }] = told.lines as [
          { findings: { key: string; what: string; severity: string }[] },
        ]
        return all.filter(({ key }) => key.startsWith('integrations[0]'))
      }
      expect(await findings(`sender_header: X-Sender${more}`)).toEqual([
        {
          severity,
          key: 'integrations[0].secret',
          what: expect.stringMatching(`^hook ci is unsigned and believes the header X-Sender.*${words}`),
        },
      ])
      expect(await findings('secret: env:HOOK')).toEqual([])
    },
  )

  it('judges the configuration without a daemon, and says what it could not judge', async () => {
    const file = join(folder(), 'switchboard.yaml')
    writeFileSync(file, 'tunables: { flood_limit: { rps: 0, burst: 0 } }\nserver: { host: 0.0.0.0 }\n')
    chmodSync(file, 0o666)
    const told = await command(['doctor', '--security', '--config', file, ...data()])
    expect(told.code).toBe(1)
    for (const word of ['others may change the configuration', '[tunables.flood_limit]', '[server.host]'])
      expect(told.out).toContain(word)
    expect(told.out.match(/not judged/g)).toHaveLength(4)

    writeFileSync(file, 'tunabels: {}\n')
    const broken = await command(['doctor', '--security', '--config', file, ...data()])
    expect(broken.out).toContain('not judged  doors, tokens, limits and plugins: no daemon was asked')
  })

  it('[I14.security-modules] knows what stands open at a mailbox, a hook by recipe, an http agent and a model', async () => {
    const file = join(folder(), 'switchboard.yaml')
    const written = (tls: boolean, url: string, more: string) => `
integrations:
  - id: mail
    platform: email
    address: bot@example.com
    imap: { host: mail.example.com, user: bot, password: env:P, tls: ${tls} }
    smtp: { host: mail.example.com, user: bot, password: env:P }
    require_auth_results: ${tls}
    authserv_id: mail.example.com
  - { id: ci, platform: webhook, recipe: ${tls ? 'github' : 'gitlab'}, secret: env:P }
agents:
  - id: kate
    connector: { type: http, url: "${url}", ${more} }
    inbound_bindings: [{ plugin: email, instance: mail }]
  - id: moe
    connector: { type: llm, provider: openai-compatible, base_url: "${url}", model: x, limits: { tokens_per_day: 9 } }
    inbound_bindings: [{ plugin: webhook, instance: ci }]
`
    writeFileSync(file, written(false, 'http://far.example.com/', 'allow_private: true'), { mode: 0o600 })
    const found = async () => {
      const { lines } = await command(['doctor', '--security', '--json', '--config', file, ...data()])
      const [report] = lines as { findings: { severity: string; key: string }[] }[]
      return report?.findings.map(({ severity, key }) => `${severity} ${key}`)
    }
    expect(await found()).toEqual([
      'high integrations[0].require_auth_results',
      'high integrations[0].imap.tls',
      'medium agents[0].connector.url',
      'medium agents[1].connector.base_url',
      'low integrations[1].auth',
      'low agents[0].connector.secret',
    ])
    writeFileSync(file, written(true, 'https://far.example.com/', 'secret: env:P'), { mode: 0o600 })
    expect(await found()).toEqual([])
  })

  it('is not satisfied by a daemon that does not know it, and --fix alone is a slip', async () => {
    await start({ 'GET /api/doctor': { ok: true } })
    expect((await command(['doctor', '--security', ...data()])).out).toContain('of an older version')
    const slip = await command(['doctor', '--fix', ...data()])
    expect([slip.code, slip.err]).toEqual([2, expect.stringContaining('--security')])
  })
})
