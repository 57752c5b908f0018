// What a person is shown of the file: no secret, however it is written; and enough to find the wrong place.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LoadedAdapters, PlatformModule } from '../../contract/index.ts'
import { BOOK, loadText } from '../fixtures/load-text.ts'
import { FORMS, PLACES, SECRETS, TRACE, VALUES, written } from '../fixtures/planted.ts'
import { renderProblems } from '../problem.ts'
import { maskedLines } from './masked-text.ts'

/** All that is ever printed of a file. */
async function printed(text: string, catalog: LoadedAdapters = BOOK): Promise<string> {
  const result = loadText(text, {}, catalog)
  const told = result.ok
    ? result.warnings
    : [JSON.stringify(result.problems), renderProblems('switchboard.yaml', result.problems)]
  return [...told, ...(await maskedLines(text, catalog))].join('\n')
}

describe('[I13.mask-tree] a secret of the file', () => {
  it('stands in every place that is marked', () => {
    const names = PLACES.map(({ keys }) => keys.join('.'))
    expect(names.length).toBeGreaterThan(30)
    for (const one of [
      'store',
      'integrations.0.token',
      'agents.0.connector.url',
      'mcp_servers.user.env.user',
    ])
      expect(names).toContain(one)
  })

  it.each(Object.keys(VALUES))('is not printed where it is written as: %s', async (name) => {
    const value = VALUES[name]
    if (value === undefined) throw new Error('no such value')
    const leaks: string[] = []
    for (const [at, place] of PLACES.entries()) {
      // Half of the forms at each place, in turn.
      for (const [index, form] of FORMS.entries()) {
        if ((at + index) % 2 === 1) continue
        const secret = SECRETS[(at + index) % SECRETS.length] ?? ''
        const text = written(place, value, secret, form)
        const all = await printed(text)
        if (TRACE.test(all)) leaks.push(`${text}\n>>>\n${all}`)
      }
    }
    expect(leaks[0]).toBeUndefined()
  })

  const BREAKS = ['\n', '\r\n', '\r', '\u0085', '\u2028', '\u2029', '\v', '\f']
  const SIGNS = [
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '\t',
    '- ',
    '? ',
    '|',
    '#',
    '&',
    '*',
    '!',
    '%',
    '@',
    '`',
    '\n',
    '---\n',
  ]
  it('is not printed by a file that is cut off, has other line breaks, or a sign too many or too few', async () => {
    const file = fc
      .tuple(
        fc.constantFrom(...PLACES),
        fc.constantFrom(...Object.values(VALUES)),
        fc.constantFrom(...SECRETS),
        fc.constantFrom(...FORMS),
      )
      .map((parts) => ({ text: written(...parts), secret: parts[2] }))
    const harm = fc.record({
      from: fc.nat(),
      kind: fc.constantFrom('cut', 'cut off', 'drop', 'add', 'breaks'),
      sign: fc.constantFrom(...SIGNS),
      lineBreak: fc.constantFrom(...BREAKS),
    })
    await fc.assert(
      fc.asyncProperty(file, harm, async ({ text, secret }, { from, kind, sign, lineBreak }) => {
        const at = from % text.length
        // Without its anchor what is lent is the value of a key that is no secret.
        const isLent = text.includes('ack_reaction: &a')
        const inSecret = [
          ...text.matchAll(new RegExp(secret.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g')),
        ].some(({ index }) => at > index && at < index + secret.length)
        const harmed = {
          cut: text.slice(0, at),
          'cut off': text.slice(at),
          drop: isLent || inSecret || text[at] === '#' ? text : text.slice(0, at) + text.slice(at + 1),
          add: isLent || inSecret ? text : text.slice(0, at) + sign + text.slice(at),
          breaks: text.replaceAll('\n', lineBreak),
        }[kind]
        expect(await printed(harmed)).not.toMatch(TRACE)
      }),
      { numRuns: 300 },
    )
  })
})

const FOREIGN: PlatformModule = {
  name: 'pager',
  docs: 'x',
  options: {
    '~standard': {
      version: 1,
      vendor: 'hand',
      validate: (value) => {
        const { user } = value as { readonly user?: unknown }
        return user === 'env:U' ? { value } : { issues: [{ message: `no user ${user}`, path: ['user'] }] }
      },
      jsonSchema: {
        input: () => ({
          type: 'object',
          properties: { user: { type: 'string', 'x-secret': 'or-text' }, mode: { type: 'string' } },
        }),
      },
    },
  },
  create: () => ({}) as never,
}
const STANDING = { from: './p.mjs', file: null, version: null, connectors: [], problem: null }
const WITH_MODULE: LoadedAdapters = {
  ...BOOK,
  platform: (name) => (name === 'pager' ? FOREIGN : BOOK.platform(name)),
  platformNames: [...BOOK.platformNames, 'pager'],
  modules: [{ ...STANDING, platforms: ['pager'] }],
}

describe('[I13.mask-tree] is masked where it stands in ordinary YAML', () => {
  it.each([
    'integrations:\n  - { id: tg,\n platform: telegram, token: 4815162:Zx7Planted }',
    "integrations:\n  - { id: tg2, name: Kate's bot, platform: telegram, token: 4815162:Zx7Planted }",
    'integrations:\n  - { id: tg2, name: Kate"s bot, platform: telegram, token: 4815162:Zx7Planted }',
    'integrations:\n  - { id: tg, platform: telegram, token:4815162:Zx7Planted }',
    'integrations: [{"id":tg,token:Zx7Planted}]',
    'integrations:\n  - id: tg, token:Zx7Planted\n    platform: web\n',
    'integrations:\n  - id: tg\n    platform: telegram token:Zx7Planted\n',
    'integrations:\n  - id: tg\n    platform: telegram\n     Zx7Planted\n',
    'integrations:\n  - { id: tg } # , id: Zx7Planted',
    'integrations:\n  - { id: tg, platform: telegram, token: 4815162342 }',
    'agents: [{ id: a, connector: { type: http, allow_private: false, url: "https://h.example/s/Zx7Planted" } }]',
    'agents: [{ id: a, connector: { type: llm, base_url: "https://user:Zx7Planted@llm.example/v1" } }]',
    'server: { public_url: "https://Zx7Planted@x.example" }',
    'server: { public_url: "https://x.example/?Zx7Planted" }',
    "agents: [{ id: a, schedules: [{ id: s, cron: '* * * * *', prompt: Don't sleep }] }] # the key was Zx7Planted",
    'mcp_servers: { s: { url: "https://x", headers: { user: "Zx7Planted" } } }',
    'mcp_servers: { s: { command: x, env: { id: Zx7Planted, name: "Zx7Planted" } } }',
    'agents: [{ id: a, schedules: [{ id: s, cron: "* * * * *", prompt: "say hi, tokn:Zx7Planted" }] }]',
    'agents: [{ id: a, schedules: [{ id: s, cron: "* * * * *", prompt: token=Zx7Planted }] }]',
    'agents: [{ id: a, channels: { approved: [{ server: s, outbound_arguments: { text: Zx7Planted } }] } }]',
    'integrations: [{ id: w, platform: webhook, secret: env:S, when: { user: Zx7Planted, type: [Zx7Planted] } }]',
    'tunables: { ack_reaction: "\\x74oken: Zx7Planted" }',
    'integrations:\n  - { id: tg, platform: telegram, token: &a Zx7Planted }\nserver: { host: *a }\nusers: [*a]',
    'integrations:\n  - { id: &a Zx7Planted, platform: telegram, token: *a }\n  - { id: *a, platform: web }',
    'integrations:\n  - { id: tg, platform: &a Zx7Planted, token: *a }',
    'server: { &a Zx7Planted: y, host: *a }\nstore: *a',
    'server: { Zx7Planted: *nowhere }',
    'store: &a Zx7[Planted]\nagents: [{ id: b, channels: { approved: [{ server: *a, rate_limit: { rps: -1 } }] } }]',
    'server: { public_url: "https://a:b:Zx7Planted@x.example" }',
    'server: { public_url: "https://a://b?Zx7Planted" }',
    'server: [\nZx7Planted: 1\nZx7Planted: 2',
    '%Zx7Planted x\n---\nid: x',
    'server: { host: "\\Zx7Planted" }',
  ])('%j', async (text) => {
    expect(await printed(text)).not.toMatch(TRACE)
  })

  it('[I13.modules-secrets] options of a module of others are masked, whatever their names and what its schema says', async () => {
    const entry = (user: string) =>
      `integrations:\n  - { id: p, platform: pager, enabled: false, user: ${user}, mode: Zx7Planted, other: Zx7Planted }\n`
    expect((await maskedLines(entry('env:U'), WITH_MODULE))[1]).toBe(
      '  - { id: p, platform: pager, enabled: false, user: •••, mode: •••, •••: ••• }',
    )
    // The console knows no module at all.
    expect((await maskedLines(entry('env:U'), BOOK))[1]).toBe(
      '  - { id: p, platform: pager, enabled: false, user: •••, mode: •••, •••: ••• }',
    )
    const wrong = await printed(entry('Zx7Planted'), WITH_MODULE)
    expect(wrong).toContain('user: no user •••')
    expect(wrong).not.toMatch(TRACE)
  })
})

const problem = (text: string) => {
  const result = loadText(text)
  return result.ok ? '' : renderProblems('f', result.problems)
}

describe('what is no secret helps to find the place', () => {
  it('is shown, whichever way its key is written', async () => {
    const text = [
      'server: { "host":"::1", port: 8080, public_url: https://x.example/here#there }',
      'store: env:STORE # mine',
      '# a whole line',
      'integrations:\r',
      "  - { id: 'tg', platform: telegram, token: secret:tg.main,",
      '      access: { dm: pairing, allow_from: ["1", kate], groups: { "-1": { require_mention: true } } } }',
      'agents:',
      '  - id: a\t',
      '    connector: { type: claude-code, command: x y, args: [--a, b], model: opus }',
      '    schedules: [{ id: s, cron: "0 9 * * 1-5", prompt: Say good morning }]',
      'mcp_servers: { mine: { command: x, cwd: /srv, env: { A: env:B, C: d } } }',
      '',
    ]
    expect(await maskedLines(text.join('\n'), BOOK)).toEqual([
      'server: { "host":"::1", port: 8080, public_url: ••• }',
      'store: env:STORE # …',
      '# …',
      'integrations:',
      "  - { id: 'tg', platform: telegram, token: secret:tg.main,",
      '      access: { dm: pairing, allow_from: ["1", kate], groups: { •••: { require_mention: true } } } }',
      'agents:',
      '  - id: a',
      '    connector: { type: claude-code, command: •••, args: [•••, •••], model: opus }',
      '    schedules: [{ id: s, cron: "0 9 * * 1-5", prompt: Say good morning }]',
      'mcp_servers: { •••: { command: •••, cwd: /srv, env: { •••: env:B, •••: ••• } } }',
      '',
    ])
  })

  it('the caret stands under the wrong place, also behind what is masked and in a long line', () => {
    expect(
      problem('integrations:\n  - { id: w, platform: telegram, token: env:T, secret_token: "a b", mod: 1 }'),
    ).toBe(
      [
        'f:2:62 secret_token: a secret is never written here — write env:NAME, file:path or secret:NAME',
        '2 |   - { id: w, platform: telegram, token: env:T, secret_token: •••, •••: ••• }',
        '                                                                 ^',
        'f:2:69 unknown key "mod" — did you mean "mode"?',
        '2 |   - { id: w, platform: telegram, token: env:T, secret_token: •••, mod: ••• }',
        '                                                                      ^',
      ].join('\n'),
    )
    const [, line = '', caret = ''] = problem(
      `users: [${'{ id: u }, '.repeat(500)}{ id: v, prot: 1 }]`,
    ).split('\n')
    expect(line.length).toBeLessThan(180)
    expect(line.slice(caret.indexOf('^'))).toMatch(/^prot: ••• /)
  })

  it('a file that is not sound shows its signs and the keys that are known', () => {
    expect(problem('server:\n  host: here\n  port: [80, "x" # why\n  own: y\n')).toContain('4 |   •••: •••\n')
    expect(problem('server: {\n  host: here,, port: 1 }')).toContain('2 |   host: •••,, port: ••• }\n')
  })

  it('a key that lost its space is told as that', () => {
    expect(problem('integrations: [{ id: w, platform: telegram, token:Zx7Planted }]')).toContain(
      [
        'f:1:45 unknown key "token…" — write "token", a colon and a space',
        '1 | integrations: [{ id: w, platform: telegram, token••• }]',
        '                                                ^',
      ].join('\n'),
    )
  })
})
