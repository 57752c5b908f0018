// Reading commands against a canned daemon: what they ask for, the shapes scripts rely on, tables for people.
import { describe, expect, it } from 'vitest'
import type { SendView, StatusReport, TurnView } from '../contract/index.ts'
import type { WireOptions } from './api.ts'
import { command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const turn = (n: number, more: Partial<TurnView> = {}): TurnView => ({
  id: `t_tag_${n.toString(36)}`,
  session: 'b0c7b1d2-0000-5000-8000-000000000000',
  agent: 'demo',
  integration: 'demo',
  source: 'webhook:demo',
  address: 'demo:dev',
  sender: 'dev',
  state: 'answered',
  reason: null,
  attempts: 1,
  received_at: '2026-01-02T11:59:00.000Z',
  updated_at: '2026-01-02T11:59:01.000Z',
  message_id: 'm1',
  text: 'hello',
  late: false,
  ...more,
})

const sendView = (n: number, more: Partial<SendView> = {}): SendView => ({
  id: `o_tag_${n.toString(36)}`,
  to: 'demo:dev',
  agent: 'demo',
  session: 'b0c7b1d2-0000-5000-8000-000000000000',
  state: 'sent',
  reason: null,
  detail: null,
  attempts: 1,
  platform_ids: ['7'],
  receipt: null,
  created_at: '2026-01-02T11:00:00.000Z',
  updated_at: '2026-01-02T11:00:00.000Z',
  cause: 'reply',
  turn: 't_tag_1',
  text: 'hi',
  ...more,
})

const statusReport: StatusReport = {
  ready: true,
  node: 'box-1',
  version: '0.1.0',
  uptime_ms: 725_000,
  instance: { name: 'default', config: null, data: '/home/k/.switchboard' },
  integrations: [
    {
      id: 'demo',
      platform: 'webhook',
      link: 'up',
      last_in_at: '2026-01-02T11:59:00.000Z',
      last_out_at: null,
      complete: { state: 'unchecked', until: null },
    },
  ],
  agents: [{ id: 'demo', connector: 'demo', attached: true, state: 'attached', queued: 2 }],
  counts: {
    received: 9,
    refused: 1,
    consumed: 0,
    queued: 2,
    handed: 0,
    seen: 0,
    answered: 6,
    failed: 0,
    expired: 0,
  },
  outbox: { queued: 0, sent: 6, deduplicated: 0, failed: 0, unknown: 0, outcome_open: 0 },
  stuck: { failed: 0, unknown: 0 },
  approvals: { pending: 1 },
  held: 0,
  asked: 0,
  config: { digest: 'abc', file: null, problem: null, warnings: ['a word'] },
  store: { kind: 'sqlite', durability: 'WAL, synchronous=FULL' },
}

const { path: folder, data, start } = freshFolder()

describe('status', () => {
  it('[I18.status-excerpt] shows what is wrong with the file, with its caret under the place', async () => {
    const problem = '/x/switchboard.yaml:3:5 unknown key "platfrom"\n3 |     platfrom: web\n      ^'
    await start({ 'GET /api/status': { ...statusReport, config: { ...statusReport.config, problem } } })
    expect((await command(['status', ...data()])).out).toContain(`configuration problem:\n${problem}\n`)
  })

  it('names the states that there are, in a line that fits', async () => {
    await start({ 'GET /api/status': statusReport })
    const { out } = await command(['status', ...data()])
    expect(out).toMatch(/^turns +9 received: 2 queued, 6 answered, 1 refused$/m)
  })

  it('[S14.json-status] [S14.cli-finds-daemon] --json is the report on one line', async () => {
    await start({ 'GET /api/status': statusReport })
    const told = await command(['status', '--json', ...data()])
    expect(told.code).toBe(0)
    expect(told.lines).toEqual([statusReport])
    expect(told.err).toBe('')
  })

  it('[S14.cli-status] people read the same in a table', async () => {
    await start({ 'GET /api/status': statusReport })
    const { out } = await command(['status', ...data()], rememberingTerminal({ columns: 80 }))
    for (const word of [
      'ready',
      'up 12m 5s',
      '9 received',
      'webhook',
      '1m ago',
      'attached',
      '1 pending',
      'a word',
    ]) {
      expect(out).toContain(word)
    }
  })

  it('[S14.cli-config-data] [S14.cli-json] global options stand before or after the command', async () => {
    await start({ 'GET /api/status': statusReport })
    expect((await command([...data(), '--json', 'status'])).lines).toEqual([statusReport])
  })
})

describe('turns and inbox', () => {
  it('[S14.json-lines] [S14.json-turn] [I14.list-cut] one object a line, all pages, in the names scripts rely on', async () => {
    const all = Array.from({ length: 1203 }, (_, n) => turn(1203 - n))
    await start({
      'GET /api/turns': ({ query }: { query: Record<string, string> }) => {
        const from = query.before === undefined ? 0 : all.findIndex((each) => each.id === query.before) + 1
        const items = all.slice(from, from + Number(query.limit))
        return { body: { items, next: items.length === Number(query.limit) ? items.at(-1)?.id : null } }
      },
    })
    const told = await command(['turns', '--json', ...data()])
    expect(told.lines).toHaveLength(1203)
    expect(told.lines).toEqual(all)
    const cut = await command(['turns', '--json', '--limit', '3', ...data()])
    expect(cut.lines).toEqual(all.slice(0, 3))
    expect(cut.err).toContain(`Cut at 3: more with --limit, or go on with --before ${all[2]?.id}`)
    expect(told.err).toBe('')
    const rest = await command(['turns', '--json', '--before', all[2]?.id ?? '', ...data()])
    expect(rest.lines).toEqual(all.slice(3))
    expect((await command(['turns', '--json', '--limit', '1203', ...data()])).err).toBe('')
    const people = await command(['turns', ...data()])
    expect(people.out.trimEnd().split('\n')).toHaveLength(51)
    expect(people.err).toContain('--limit')
  })

  it('[S14.cli-turns] filters are passed on, a duration counted back from now', async () => {
    const { asked } = await start({ 'GET /api/turns': { items: [], next: null } })
    const words = ['turns', '--source', 'channel:slack', '--since', '1d', '--until', '2026-01-02T11:00:00Z']
    const more = [
      '--agent',
      'kate',
      '--integration',
      'tg',
      '--session',
      's',
      '--state',
      'failed,expired',
      '--limit',
      '7',
    ]
    const told = await command([...words, ...more, ...data()])
    expect(told).toMatchObject({ code: 0, out: 'No turns match.\n' })
    expect(asked[0]?.query).toEqual({
      source: 'channel:slack',
      since: '2026-01-01T12:00:00.000Z',
      until: '2026-01-02T11:00:00.000Z',
      agent: 'kate',
      integration: 'tg',
      session: 's',
      state: 'failed,expired',
      limit: '8',
    })
  })

  it.each([
    [['turns', '--state', 'faild'], /--state.*"faild"/, /failed/],
    [['turns', '--since', 'soon'], /--since/, /1d/],
    [['turns', '--limit', '0'], /--limit/, /whole number/],
    [['audit', 'export', '--format', 'xml'], /--format/, /csv/],
  ])('%j is a usage error that names the option', async (words, error, hint) => {
    await start({})
    const told = await command([...words, ...data()])
    expect(told.code).toBe(2)
    expect(told.err).toMatch(error)
    expect(told.err).toMatch(hint)
    expect(told.out).toBe('')
  })

  it('[S14.cli-inbox] the inbox is what is not settled', async () => {
    const { asked } = await start({ 'GET /api/turns': { items: [turn(1, { state: 'queued' })], next: null } })
    const told = await command(['inbox', '--json', ...data()])
    expect(told.lines).toEqual([turn(1, { state: 'queued' })])
    expect(asked[0]?.query.state).toBe('queued,handed,seen')
  })

  it('[I9.tools-kept] shows what the agent told of its work, made harmless', async () => {
    const event = (n: number, more: object) => ({
      n,
      at: '2026-01-01T00:00:00.000Z',
      call: 'tc_1',
      name: null,
      ...more,
    })
    const events = [
      event(1, { kind: 'tool_call', name: 'web_search', text: '{"query":"oslo"}' }),
      event(2, { kind: 'tool_result', text: 'cold\u001b[2J' }),
      event(3, { kind: 'tool_result', text: null }),
      event(4, { kind: 'omitted', text: null }),
    ]
    await start({ 'GET /api/turns/t_tag_1': { ...turn(1), events } })
    const shown = await command(['turns', 'show', 't_tag_1', ...data()])
    expect(shown.out).toContain('→ web_search {"query":"oslo"}\n← cold\ufffd[2J\n← (no longer kept)\n… more')
    expect((await command(['turns', 'show', 't_tag_1', '--json', ...data()])).lines).toMatchObject([
      { events },
    ])
  })

  it('[I16.tokens-counted] shows what a model used, and its cost where there are prices', async () => {
    const usage = { input_tokens: 1200, output_tokens: 30, cache_read_tokens: 900, cache_write_tokens: 0 }
    await start({
      'GET /api/turns/t_tag_1': turn(1, { usage }),
      'GET /api/turns/t_tag_2': turn(2, { usage: { ...usage, cache_read_tokens: 0, cost: 0.0042 } }),
      'GET /api/turns/t_tag_3': turn(3),
    })
    const shown = async (id: string) => (await command(['turns', 'show', id, ...data()])).out
    expect(await shown('t_tag_1')).toMatch(/^tokens +1200 in \(900 from the cache\), 30 out$/m)
    expect(await shown('t_tag_2')).toMatch(/^tokens +1200 in, 30 out, cost 0\.0042$/m)
    expect(await shown('t_tag_3')).not.toContain('tokens')
  })

  it('shows, retries and cancels one; an id that is none is not found', async () => {
    await start({
      'GET /api/turns/t_tag_1': turn(1, { state: 'failed', reason: 'agent_failed' }),
      'POST /api/turns/t_tag_1/retry': turn(1, { state: 'queued' }),
      'POST /api/turns/t_tag_1/cancel': turn(1, { state: 'failed', reason: 'cancelled' }),
    })
    const shown = await command(['turns', 'show', 't_tag_1', ...data()])
    expect(shown.out).toContain('agent_failed: The agent answered with an error.')
    expect(shown.out).not.toContain('→')
    expect((await command(['turns', 'retry', 't_tag_1', ...data()])).out).toBe('t_tag_1 is queued\n')
    expect((await command(['turns', 'cancel', 't_tag_1', '--json', ...data()])).lines).toHaveLength(1)
    const missing = await command(['turns', 'show', 'nope', ...data()])
    expect(missing).toMatchObject({ code: 1, out: '' })
    expect(missing.err).toMatch(/^error: there is no turn "nope"\nhint: /)
  })

  it('text from strangers cannot act on the terminal, in a table or in full', async () => {
    const evil = turn(1, { text: 'a\u001b]0;owned\u0007b\nFAKE LINE', sender: '\u001b[31mdev' })
    await start({ 'GET /api/turns': { items: [evil], next: null }, 'GET /api/turns/t_tag_1': evil })
    const table = await command(['turns', ...data()])
    expect(table.out).not.toMatch(/[^\P{Cc}\n]/u)
    expect(table.out.trimEnd().split('\n')).toHaveLength(2)
    expect((await command(['turns', 'show', 't_tag_1', ...data()])).out).not.toMatch(/[^\P{Cc}\n]/u)
    expect((await command(['turns', '--json', ...data()])).lines).toEqual([evil])
  })

  it('[I2.no-color] colour follows the terminal and NO_COLOR', async () => {
    await start({ 'GET /api/turns': { items: [turn(1)], next: null } })
    const look = async (env: Record<string, string>, words: string[] = []) =>
      (
        await command(
          ['turns', ...words, ...data()],
          rememberingTerminal({ outputIsTty: true, columns: 100, env }),
        )
      ).out
    expect(await look({})).toContain('\u001b[32manswered')
    expect(await look({ NO_COLOR: '1' })).not.toContain('\u001b')
    expect(await look({}, ['--no-color'])).not.toContain('\u001b')
    expect((await command(['turns', ...data()])).out).not.toContain('\u001b')
    expect((await command(['turns', '--color', ...data()])).out).toContain('\u001b')
  })

  it('--follow prints what comes and what moves, each once', async () => {
    const { createContext } = await import('./context.ts')
    const { followTurns } = await import('./commands/reading/turns-follow.ts')
    const { createApi } = await import('./api.ts')
    const looks = [
      [turn(1, { state: 'queued' })],
      [turn(2, { state: 'queued' }), turn(1, { state: 'queued' })],
      [turn(2, { state: 'queued' }), turn(1, { state: 'answered', updated_at: '2026-01-02T12:00:00.000Z' })],
    ]
    const terminal = rememberingTerminal()
    const context = createContext(terminal, { json: true, data: folder() })
    const look = async () => ({ items: looks.shift() ?? [], next: null })
    const api = createApi({ call: look, stream: async () => [] as never }, true)
    await followTurns(context, api, { query: {}, limit: null }, { rounds: 3, pause: async () => {} })
    const seen = terminal.printed.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TurnView)
    expect(seen.map((each) => `${each.id} ${each.state}`)).toEqual([
      't_tag_1 queued',
      't_tag_2 queued',
      't_tag_1 answered',
    ])
  })

  it('--follow opens with as many as were asked for, and never tells history as news', async () => {
    const { createContext } = await import('./context.ts')
    const { followTurns } = await import('./commands/reading/turns-follow.ts')
    const { createApi } = await import('./api.ts')
    // Newest first, ten of the same moment.
    const all = Array.from({ length: 300 }, (_, at) =>
      turn(300 - at, { received_at: new Date(Math.floor((300 - at) / 10) * 1_000).toISOString() }),
    )
    const seqOf = (id: string) => Number.parseInt(id.slice(6), 36)
    const page = async (_method: string, _path: string, { query = {} }: WireOptions) => {
      const limit = Number(query.limit)
      const before = query.before === undefined ? Number.POSITIVE_INFINITY : seqOf(String(query.before))
      const items = all.filter((one) => seqOf(one.id) < before).slice(0, limit)
      return { items, next: items.length === limit ? items.at(-1)?.id : null }
    }
    const terminal = rememberingTerminal()
    const context = createContext(terminal, { json: true, data: folder() })
    const printedLines = () => terminal.printed.out.split('\n').length - 1
    const news: number[] = []
    const pause = async () => {
      news.push(printedLines())
      // A burst far beyond what is watched, then one that leaves the list, so that older ones move up in it.
      if (news.length === 3)
        for (let n = 301; n <= 1_000; n++) all.unshift(turn(n, { received_at: '2026-01-02T11:59:30.000Z' }))
      if (news.length === 4) all.splice(0, 650)
    }
    await followTurns(
      context,
      createApi({ call: page, stream: async () => [] as never }, true),
      { query: {}, limit: 50 },
      { rounds: 6, pause },
    )
    expect([...news, printedLines()]).toEqual([50, 50, 50, 750, 750, 750])
  })
})

describe('outbox and audit', () => {
  it('[S14.json-send] [S14.cli-outbox] lists, shows, retries and buries', async () => {
    const { asked } = await start({
      'GET /api/outbox': { items: [sendView(2), sendView(1)], next: null },
      'GET /api/outbox/o_tag_1': sendView(1, { state: 'unknown', reason: 'unconfirmed' }),
      'POST /api/outbox/o_tag_1/retry': sendView(1, { state: 'queued' }),
      'POST /api/outbox/o_tag_1/bury': sendView(1, { state: 'failed', reason: 'buried' }),
    })
    expect((await command(['outbox', '--json', ...data()])).lines).toEqual([sendView(2), sendView(1)])
    expect((await command(['outbox', 'list', '--state', 'failed', '--json', ...data()])).code).toBe(0)
    expect(asked.at(-1)?.query.state).toBe('failed')
    expect((await command(['outbox', 'show', 'o_tag_1', ...data()])).out).toContain('never confirmed')
    expect((await command(['outbox', 'retry', 'o_tag_1', ...data()])).out).toBe('o_tag_1 is queued\n')
    expect((await command(['outbox', 'bury', 'o_tag_1', ...data()])).out).toBe('o_tag_1 is failed\n')
  })

  it('[S14.json-audit] [S14.cli-audit] verify says so in the shape of scripts, and fails when broken', async () => {
    const good = {
      ok: true,
      entries: 12,
      chain: 'intact',
      head: 'h',
      conservation: { received: 9, accounted: 9, ok: true },
    }
    const { asked } = await start({
      'GET /api/audit/verify': ({ query }: { query: Record<string, string> }) => ({
        body:
          query.expect === undefined
            ? good
            : {
                ...good,
                ok: false,
                chain: 'broken',
                brokenAt: { seq: 5, problem: 'the head is not in the chain' },
              },
      }),
      'GET /api/audit/head': () => ({ body: { head: 'h', entries: 9 } }),
      'GET /api/audit/export': () => ({ body: '{"seq":1}\n{"seq":2}\n' }),
    })
    const fine = await command(['audit', 'verify', '--json', ...data()])
    expect(fine).toMatchObject({ code: 0, lines: [good] })
    const broken = await command(['audit', 'verify', '--expect', 'x', '--json', ...data()])
    expect(broken.code).toBe(1)
    expect(broken.lines).toEqual([
      { ...good, ok: false, chain: 'broken', broken_at: 5, problem: 'the head is not in the chain' },
    ])
    asked.length = 0
    expect((await command(['audit', 'head', ...data()])).out).toBe('h\n')
    expect((await command(['audit', 'head', '--json', ...data()])).lines).toEqual([{ head: 'h', entries: 9 }])
    expect(asked.some(({ path }) => path.includes('verify'))).toBe(false)
    expect((await command(['audit', 'export', ...data()])).lines).toEqual([{ seq: 1 }, { seq: 2 }])
    expect(asked.at(-1)?.query).toEqual({ format: 'ndjson' })
  })
})
