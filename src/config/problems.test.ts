// Proves what does not load: place, nearest key, masked secrets, bombs, and that nothing is ever thrown.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadText, problemsFrom } from './fixtures/load-text.ts'
import { editDistance, nearest } from './schema/nearest.ts'

const web = 'integrations:\n  - { id: w, platform: web }\n'

describe('what does not load is told where', () => {
  it('[S3.unknown-key] [S3.nearest-key] an unknown key names line, column and the nearest right key', () => {
    expect(problemsFrom('server:\n  prot: 1\n')).toBe(
      'switchboard.yaml:2:3 unknown key "prot" — did you mean "port"?\n2 |   prot: •••\n      ^',
    )
    expect(problemsFrom('integrations:\n  - id: a\n    platfrom: web\n')).toContain(
      'switchboard.yaml:3:5 unknown key "platfrom" — did you mean "platform"?',
    )
  })

  it.each([
    ['integratons: []', '1:1 unknown key "integratons" — did you mean "integrations"?'],
    [
      'agents:\n  - id: a\n    conector: { type: demo }',
      '3:5 unknown key "conector" — did you mean "connector"?',
    ],
    ['agents:\n  - id: a\n    connector: { type: demo, x: 1 }', '3:30 unknown key "x" — known here: type'],
    [
      'agents:\n  - id: a\n    connector: { type: chorus, ulr: env:X }',
      'unknown key "ulr" — did you mean "url"?',
    ],
    ['agents:\n  - id: a\n    channels: { aproved: [] }', 'unknown key "aproved" — did you mean "approved"?'],
    [
      'integrations:\n  - { id: t, platform: telegram, token: env:T, scope: { agent: [a] } }',
      'unknown key "agent" — did you mean "agents"?',
    ],
    [
      'integrations:\n  - { id: t, platform: web, access: { groups: { g: { requires_mention: true } } } }',
      'unknown key "requires_mention" — did you mean "require_mention"?',
    ],
    ['mcp_servers: { s: { comand: x } }', 'unknown key "comand" — did you mean "command"?'],
    [
      'mcp_servers: { s: { command: x, url: "https://x" } }',
      'exactly one of "command", "url" and "plugin"; this one has command and url',
    ],
    ['__proto__: { polluted: 1 }', 'unknown key "__proto__"'],
    ['constructor: 1', 'unknown key "constructor"'],
    [
      'integrations:\n  - { id: a, platform: telegrm }',
      '2:24 unknown platform "telegrm" — did you mean "telegram"?',
    ],
    ['integrations:\n  - { id: a }', '"platform" is missing — known: web, webhook'],
    ['agents: [{ id: a, connector: { type: lllm } }]', 'unknown connector "lllm" — did you mean "llm"?'],
  ])('%s', (text, said) => {
    expect(problemsFrom(text)).toContain(said)
  })

  it.each([
    ['server: 5', '1:9 server must be a map of keys, but is a number'],
    ['server: { port: "80" }', '1:17 port must be a number, but is text'],
    ['server: { port: 80.5 }', 'port must be a whole number'],
    ['server: { port: 70000 }', 'port must be at most 65535'],
    ['server: { host: 5 }', 'host must be text, but is a number — write it in quotes: "5"'],
    ['server: { public_url: ftp://x }', 'starts with http:// or https://'],
    ['integrations: {}', 'integrations must be a list, but is a map of keys'],
    ['integrations: [5]', 'integrations[0] must be a map of keys, but is a number'],
    ['integrations: [null]', 'integrations[0] must be a map of keys, but is empty'],
    ['agents: [{ id: [] }]', 'id must be text, but is a list'],
    ['agents: [{ id: "a b" }]', 'letters, digits'],
    ['agents: [{ id: a, notify_on: always }]', 'notify_on must be one of none, completion, failure, both'],
    [
      'agents: [{ id: a, schedules: [{ id: s, cron: "61 * * * *", prompt: x }] }]',
      '"61" is not a cron field for the minute: 0 to 59',
    ],
    ['agents: [{ id: a, schedules: [{ id: s, cron: "0 0 31 2 *", prompt: x }] }]', 'never comes'],
    ['agents: [{ id: a, schedules: [{ id: s, cron: "0 0 31 apr,jun-jun *", prompt: x }] }]', 'never comes'],
    ['agents: [{ id: a, schedules: [{ id: s, cron: "* * * *", prompt: x }] }]', 'five cron fields'],
    ['agents: [{ id: a, schedules: [{ id: s, cron: "* * * * *", tz: Mars/Base, prompt: x }] }]', 'time zone'],
    ['agents: [{ id: a, messaging: { allow: [nonsense] } }]', 'expected platform:target, platform:* or *'],
    ['agents: [{ id: a, messaging: {} }]', 'messaging takes either "allow" or "file"'],
    [`${web}users: [{ id: u, roles: [boss] }]`, 'must be one of owner, approver, operator'],
    ['- a\n- b', '1:1 the file must be a map of keys, but is a list'],
    ['just text', 'the file must be a map of keys, but is text'],
    ['42', 'the file must be a map of keys, but is a number'],
  ])('[S3.wrong-type] [I3.yaml-wrong-types] %s', (text, said) => {
    expect(problemsFrom(text)).toContain(said)
  })

  it('an id longer than a number can hold is never rounded', () => {
    const text = 'integrations:\n  - { id: a, platform: web, access: { allow_from: [123456789012345678] } }'
    expect(problemsFrom(text)).toContain('write it in quotes: "123456789012345678"')
    const keyed = loadText(
      'integrations:\n  - { id: a, platform: web, access: { groups: { 123456789012345678: {} } } }',
    )
    if (!keyed.ok) throw new Error('it did not load')
    expect(keyed.settings.integrations[0]?.access).toMatchObject({ groups: { '123456789012345678': {} } })
  })

  it('secrets written inline are refused, and neither message nor excerpt repeats them', () => {
    const texts = [
      'integrations:\n  - { id: t, platform: telegram, token: "12345:PLANTED" }',
      'integrations:\n  - id: t\n    platform: telegram\n    tokn: PLANTED-12345\n',
      'integrations:\n  - id: t\n    platform: telegram\n    tokn: two words PLANTED here\n',
      'integrations:\n  - { id: t, platform: telegram, token: PLANTED, bogus: 1 }',
      'integrations:\n  - { id: t, platform: telegram, token: [PLANTED] }',
      'integrations:\n  - id: t\n    platform: telegram\n    token: "PLANTED\n',
      'integrations:\n  - id: t\n    token: PLANTED: x: y\n',
      'mcp_servers: { s: { command: x, env: { API_TOKEN: PLANTED } } }',
      'mcp_servers: { s: { url: "https://x", headers: { Authorization: "Bearer PLANTED" } } }',
      'mcp_servers: { s: { command: x, args: [--token, PLANTED, "--key=PLANTED"], bogus: 1 } }',
      'mcp_servers:\n  s:\n    command: "TOKEN=PLANTED x"\n    comand: y\n    command: "x PLANTED"\n',
      'agents: [{ id: a, connector: { type: acp, command: x, args: [PLANTED], bogus: 1 } }]',
      'server: { admin_token: PLANTED }',
      'store: [PLANTED]',
      'token: &a PLANTED\nx: *b\n',
      'token: !tag PLANTED\n',
      '# PLANTED comment\nbad: [\n',
      'note: |\n  PLANTED: x\n bad\n',
      'token: a, PLANTED: x\n',
    ]
    for (const text of texts) {
      const said = problemsFrom(text)
      expect(said, text).not.toBe('')
      expect(said, text).not.toContain('PLANTED')
    }
    expect(problemsFrom(texts[0] ?? '')).toContain(
      'a secret is never written here — write env:NAME, file:path or secret:NAME',
    )
  })

  it('[I3.yaml-duplicate-keys] duplicate keys name both lines', () => {
    expect(problemsFrom('server: { port: 1 }\nagents: []\nserver: { port: 2 }\n')).toContain(
      'switchboard.yaml:3:1 duplicate key "server": it stands on line 1 and on line 3',
    )
  })

  it.each([
    ['', 'the file is empty'],
    ['# nothing\n', 'the file is empty'],
    ['server:\n\tport: 1\n', 'indent with spaces'],
    ['a: [1, 2', 'not valid YAML'],
    ['a: b: c', 'not valid YAML'],
    ['x: *nowhere', 'alias'],
    ['server: {}\n---\nserver: {}\n', 'more than one document'],
    ['? [a, b]\n: 1\n', 'a key must be plain text'],
  ])('%j is told as what it is', (text, said) => {
    expect(problemsFrom(text)).toContain(said)
  })

  it('[I23.config-limit] bytes that are not UTF-8, UTF-16 and too many bytes are told', () => {
    expect(problemsFrom(Buffer.from([0x61, 0xff, 0x62]))).toContain('not UTF-8')
    expect(problemsFrom(Buffer.from('\ufeffa: 1', 'utf16le'))).toContain('UTF-16')
    expect(problemsFrom(Buffer.alloc(1_048_577, 0x23))).toMatch(/larger than 1 MiB[\s\S]*access: \{ file/)
    expect(problemsFrom(Buffer.from('\ufeffagents: []\r\n', 'utf8'))).toBe('')
  })

  it('[I3.yaml-bomb] a YAML bomb is refused at once', () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`,
    )
    const bomb = ['l0: &l0 [lol, lol, lol]', ...levels].join('\n')
    expect(problemsFrom(bomb)).toContain('aliases expand to too much data')
    expect(problemsFrom('a: &a { b: *a }')).not.toBe('')
    expect(problemsFrom('['.repeat(100_000))).toContain('nested too deeply')
    expect(problemsFrom('- '.repeat(100_000))).toContain('nested too deeply')
    expect(problemsFrom(Array.from({ length: 900 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'))).toContain(
      'nested too deeply',
    )
    expect(problemsFrom('a: {'.repeat(20_000))).toContain('nested too deeply')
  })

  it('[I14.yaml-linear] a long quoted line costs time that grows with its length, closed or not', () => {
    const lines: readonly ((n: number) => string)[] = [
      (n) => `store: "${'\\"'.repeat(n / 2)}`,
      (n) => `store: "${'\\"'.repeat(n / 2)}"`,
      (n) => `store: "postgres://${'a:@'.repeat(n / 3)}"`,
      (n) => `"${'x: '.repeat(n / 3)}": "${"'".repeat(10)}"`,
      (n) => `agents: [{ id: "${'a '.repeat(n / 2)}" }]`,
      (n) => `tunables: { ack_reaction: "${'[{'.repeat(n / 2)}`,
      // Each of many places of one line is told with what stands around it.
      (n) => `users: [${'{ id: u, prot: 1 }, '.repeat(n / 400)}]`,
      (n) => `users: [${'{ id: &a u, id: *a }\n, '.repeat(n / 400)}`,
    ]
    // Of the processor's own time, the best of three: neighbours on the machine do not count.
    const cost = (text: string) =>
      Math.min(
        ...[1, 2, 3].map(() => {
          const before = process.cpuUsage()
          problemsFrom(text)
          const { user, system } = process.cpuUsage(before)
          return (user + system) / 1_000
        }),
      )
    for (const line of lines) {
      const [half, whole] = [cost(line(250_000)), cost(line(500_000))]
      // Four times for what grows with the square; what is over in a moment has no shape.
      expect(whole < 100 || whole / half < 3, `${line(12)}: ${half} ms, ${whole} ms`).toBe(true)
      expect(whole, line(12)).toBeLessThan(4_000)
    }
  })

  it('ten thousand unknown keys are answered in good time, the first twenty in words', () => {
    const said = problemsFrom(Array.from({ length: 10_000 }, (_, i) => `key${i}: ${i}`).join('\n'))
    expect(said).toContain('unknown key "key0"')
    expect(said).toContain('… and 81 more')
    const result = loadText(Array.from({ length: 10_000 }, (_, i) => `key${i}: ${i}`).join('\n'))
    expect(!result.ok && result.problems.some((one) => one.message === '9900 more unknown keys')).toBe(true)
  })

  it('loading never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(loadText(bytes)).toHaveProperty('ok')
      }),
      { numRuns: 300 },
    )
  })

  it('loading never throws, whatever the YAML', () => {
    const key = fc.constantFrom(
      'server',
      'agents',
      'integrations',
      'id',
      'platform',
      'access',
      'channels',
      'rps',
      'x',
      '__proto__',
    )
    const leaf = fc.oneof(
      fc.string(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('web', 'telegram', 'demo'),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, tree), (data) => {
        expect(loadText(JSON.stringify(data))).toHaveProperty('ok')
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'a',
            ':',
            ' ',
            '\n',
            '-',
            '[',
            ']',
            '{',
            '}',
            '&a',
            '*a',
            '"',
            "'",
            '|',
            '>',
            '!',
            '#',
            '\t',
            '? ',
            '---\n',
          ),
        ),
        (parts) => {
          expect(loadText(parts.join(''))).toHaveProperty('ok')
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('the nearest word', () => {
  it.each([
    ['platfrom', 'platform', 1],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['kitten', 'sitting', 3],
  ])('%s is %s slips from %s', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
    expect(editDistance(b, a)).toBe(distance)
  })

  it('says nothing rather than something far', () => {
    expect(nearest('zzzz', ['host', 'port'])).toBeNull()
    expect(nearest('x'.repeat(100_000), ['host'])).toBeNull()
  })
})
