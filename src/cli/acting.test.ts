// Commands that act, against a canned daemon: what they send, what they say, how they end.

import { renderUnicodeCompact } from 'uqr'
import { describe, expect, it } from 'vitest'
import type { ApprovalView, SendResult } from '../contract/index.ts'
import { type Asked, command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const { data, start } = freshFolder()

describe('send', () => {
  const sent: SendResult = {
    ok: true,
    status: 'sent',
    platform_ids: ['7'],
    outbox_id: 'o_1',
    code: null,
    error: null,
  }

  it('[S14.cli-send] joins the words, passes the options on and says what came of it', async () => {
    const { asked } = await start({ 'POST /api/send': sent })
    const words = ['send', 'demo:dev', 'hello', 'there', '--thread', 't', '--integration', 'i', '--key', 'k']
    const told = await command([...words, '--wait', '2s', ...data()])
    expect(told).toMatchObject({ code: 0, out: 'sent (7)\n' })
    expect(asked[0]?.body).toEqual({
      to: 'demo:dev',
      text: 'hello there',
      thread: 't',
      integration: 'i',
      idempotency_key: 'k',
      wait_ms: 2000,
    })
    expect((await command(['send', 'demo:dev', 'hi', '--json', ...data()])).lines).toEqual([sent])
  })

  it('reads the text from standard input with -, and words after -- as they are', async () => {
    const { asked } = await start({ 'POST /api/send': sent })
    await command(['send', 'a:b', '-', ...data()], rememberingTerminal({ input: 'two\nlines\n' }))
    await command(['send', 'a:b', ...data(), '--', '--json', 'is', 'text'])
    expect(asked.map(({ body }) => (body as { text: string }).text)).toEqual(['two\nlines', '--json is text'])
    const empty = await command(['send', 'a:b', '-', ...data()], rememberingTerminal({ input: ' \n' }))
    expect(empty).toMatchObject({ code: 2, out: '' })
    expect(asked).toHaveLength(2)
  })

  it('queued and deduplicated are ok but say so; failed is exit 1 with the reason', async () => {
    const results: SendResult[] = [
      { ...sent, status: 'queued', platform_ids: [] },
      { ...sent, status: 'deduplicated' },
      { ...sent, ok: false, status: 'failed', code: 'execution_failed', error: 'the platform refused it' },
      { ...sent, ok: false, status: 'failed', code: 'execution_failed', error: 'the platform refused it' },
    ]
    await start({ 'POST /api/send': () => ({ body: results.shift() }) })
    const queued = await command(['send', 'a:b', 'x', ...data()])
    expect(queued.code).toBe(0)
    expect(queued.out).toMatch(/^queued, .*outbox show o_1/)
    expect((await command(['send', 'a:b', 'x', ...data()])).out).toMatch(/^deduplicated/)
    const failed = await command(['send', 'a:b', 'x', ...data()])
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toBe('error: the platform refused it\nhint: see: switchboard outbox show o_1\n')
    expect(await command(['send', 'a:b', 'x', '--json', ...data()])).toMatchObject({ code: 1, err: '' })
  })
})

describe('approvals', () => {
  const approval: ApprovalView = {
    seq: 7,
    id: 'abcde',
    agent: 'demo',
    session: 's',
    turn: null,
    tool_name: 'deploy',
    description: 'Deploy to production',
    input: 'deploy --all\nforce',
    input_hash: 'f00',
    state: 'pending',
    behavior: null,
    cause: null,
    decided_by: null,
    decided_via: null,
    decided_at: null,
    created_at: '2026-01-02T11:59:00.000Z',
    expires_at: '2026-01-02T12:09:00.000Z',
  }

  it('[I14.list-cut] [I14.list-pages] prints all that wait to scripts, and tells people where a cut table goes on', async () => {
    const all = Array.from({ length: 1_203 }, (_, n) => ({ ...approval, seq: 1_203 - n }))
    await start({
      'GET /api/approvals': ({ query }: Asked) => {
        const from =
          query.before === undefined ? 0 : all.findIndex(({ seq }) => String(seq) === query.before) + 1
        const items = all.slice(from, from + Number(query.limit))
        return {
          body: { items, next: items.length === Number(query.limit) ? String(items.at(-1)?.seq) : null },
        }
      },
    })
    const scripts = await command(['approvals', '--json', ...data()])
    expect(scripts.lines).toEqual(all)
    expect(scripts.err).toBe('')
    const people = await command(['approvals', ...data()])
    expect(people.err).toContain('Cut at 50: more with --limit, or go on with --before 1154')
    const rest = await command(['approvals', '--json', '--before', '1154', ...data()])
    expect(rest.lines).toEqual(all.slice(50))
  })

  it('[S14.json-approvals] [S14.cli-approvals] [S10.surface-cli] lists the pending, shows the whole input, decides', async () => {
    const { asked } = await start({
      'GET /api/approvals': { items: [approval], next: null },
      'POST /api/approvals/abcde/decide': ({ body }: Asked) => ({
        body: {
          won: true,
          approval: { ...approval, state: 'relayed', behavior: (body as { behavior: string }).behavior },
        },
      }),
    })
    expect((await command(['approvals', 'list', '--json', ...data()])).lines).toEqual([approval])
    expect(asked[0]?.query.state).toBe('pending')
    await command(['approvals', '--all', ...data()])
    expect(asked[1]?.query.state).toBeUndefined()
    expect((await command(['approvals', 'show', 'ABCDE', ...data()])).out).toContain('deploy --all\nforce')
    expect((await command(['approvals', 'allow', 'abcde', ...data()])).out).toBe('abcde: allowed\n')
    expect((await command(['approvals', 'deny', 'abcde', ...data()])).out).toBe('abcde: denied\n')
  })

  it('[S10.asked-where] tells who was asked, where, and whether the question came there', async () => {
    const place = { integration: 'tg', conversation: '7', thread: null, who: '7', name: 'Anna' }
    const asked = [
      { ...place, state: 'sent', reason: null, detail: null },
      {
        ...place,
        conversation: 'ops',
        thread: '9',
        who: null,
        name: null,
        state: 'failed',
        reason: 'not_allowed',
        detail: 'no \u001b[2J',
      },
    ]
    await start({ 'GET /api/approvals': { items: [{ ...approval, asked }], next: null } })
    const shown = (await command(['approvals', 'show', 'abcde', ...data()])).out
    expect(shown).toContain('asked Anna (7) in tg:7: sent\n')
    expect(shown).toMatch(/asked its approvers in tg:ops:9: failed \(not_allowed, no .*\)\n/)
    expect(shown).not.toContain('\u001b[2J')
    expect((await command(['approvals', 'show', 'abcde', '--json', ...data()])).lines).toMatchObject([
      { asked },
    ])
  })

  it('[S10.asked-where] says that no chat was asked', async () => {
    await start({ 'GET /api/approvals': { items: [{ ...approval, asked: [] }], next: null } })
    expect((await command(['approvals', 'show', 'abcde', ...data()])).out).toContain('No chat was asked')
  })

  it('says "decided" and not "allowed" while the agent has not been told', async () => {
    await start({
      'POST /api/approvals/abcde/decide': { won: true, approval: { ...approval, state: 'undeliverable' } },
    })
    const told = await command(['approvals', 'allow', 'abcde', ...data()])
    expect(told.out).toBe('abcde: decided (allow), but the agent is gone\n')
  })

  it('whoever comes second is told who was first, and fails', async () => {
    const answer = {
      ok: false,
      code: 'conflict',
      error: 'already answered by dev',
      hint: null,
      won: false,
      approval,
    }
    await start({ 'POST /api/approvals/abcde/decide': () => ({ status: 409, body: answer }) })
    const told = await command(['approvals', 'allow', 'abcde', ...data()])
    expect(told).toMatchObject({ code: 1, out: '', err: 'error: already answered by dev\n' })
  })
})

describe('secrets, links, reload, doctor', () => {
  it('[S14.cli-secrets] a value comes from a pipe or a hidden prompt and is printed nowhere', async () => {
    const { asked } = await start({
      'GET /api/secrets': { items: [{ name: 'TG' }], next: null },
      'PUT /api/secrets/TG': '',
      'DELETE /api/secrets/TG': { removed: true },
      'POST /api/secrets/rotate': { rotated: 1 },
    })
    const piped = await command(
      ['secrets', 'set', 'TG', ...data()],
      rememberingTerminal({ input: 's3cret-pipe\n' }),
    )
    const hidden: boolean[] = []
    const typing = rememberingTerminal({
      inputIsTty: true,
      ask: async (_question, options) => {
        hidden.push(options?.hidden === true)
        return 's3cret-typed'
      },
    })
    const typed = await command(['secrets', 'set', 'TG', ...data()], typing)
    const flagged = await command(['secrets', 'set', 'TG', '--value', 's3cret-flag', ...data()])
    expect(flagged.err).toContain('warning:')
    expect(hidden).toEqual([true])
    expect(asked.map(({ body }) => body)).toEqual([
      { value: 's3cret-pipe' },
      { value: 's3cret-typed' },
      { value: 's3cret-flag' },
    ])
    expect([piped, typed, flagged].map(({ out, err }) => out + err).join()).not.toContain('s3cret')
    expect((await command(['secrets', '--json', ...data()])).lines).toEqual([{ name: 'TG' }])
    expect((await command(['secrets', 'remove', 'TG', ...data()])).code).toBe(0)
    expect((await command(['secrets', 'rotate', '--json', ...data()])).lines).toEqual([{ rotated: 1 }])
  })

  it('a secret with no value or on the command line in place of a name is refused', async () => {
    const { asked } = await start({})
    expect((await command(['secrets', 'set', 'TG', ...data()])).code).toBe(2)
    expect((await command(['secrets', 'set', 'TG=s3cret', ...data()])).code).toBe(2)
    expect((await command(['secrets', 'set', 'TG', 's3cret', ...data()])).code).toBe(2)
    expect(asked).toEqual([])
  })

  it('prints a fresh link and nothing else on standard output', async () => {
    const made = { url: 'http://127.0.0.1:4747/chat#x', expires_at: '2026-01-02T12:10:00.000Z' }
    await start({ 'POST /api/chat-link': made })
    expect((await command(['link', ...data()])).out).toBe(`${made.url}\n`)
    expect((await command(['link', '--json', ...data()])).lines).toEqual([made])
  })

  it('[I18.link-qr] [I18.link-address] [I18.link-unreachable] is shown for a phone, with its own address and what stands against it', async () => {
    const made = {
      ...{ url: 'http://0.0.0.0:4747/chat#ticket=abc', expires_at: null },
      phone: { url: 'http://192.168.1.20:4747/chat#ticket=abc', warning: null as string | null },
    }
    await start({ 'POST /api/chat-link': () => ({ body: made }) })
    const shown = await command(['link', '--qr', ...data()])
    expect(shown.out).toContain(`on another device: ${made.phone.url}\n`)
    expect(shown.out).toContain(renderUnicodeCompact(made.phone.url))
    expect((await command(['link', ...data()])).out).not.toContain('█')
    made.phone = { url: made.url, warning: 'only this machine reaches it' }
    expect((await command(['link', ...data()])).err).toContain(
      'warning: for another device: only this machine',
    )
  })

  it('a reload that does not hold exits 2 and tells where', async () => {
    const wrong = {
      ok: false,
      problem: 'switchboard.yaml:3:5 unknown key "platfrom"',
      digest: 'd',
      warnings: [],
    }
    const answers = [{ ...wrong, ok: true, problem: null }, wrong, wrong]
    await start({ 'POST /api/reload': () => ({ body: answers.shift() }) })
    expect((await command(['reload', ...data()])).code).toBe(0)
    const told = await command(['reload', ...data()])
    expect(told).toMatchObject({ code: 2, out: '' })
    expect(told.err).toContain('switchboard.yaml:3:5')
    expect(await command(['reload', '--json', ...data()])).toMatchObject({ code: 2, lines: [wrong] })
  })

  it('[S14.cli-doctor] [I18.doctor-numbered] [I18.doctor-verbose] begins with numbered problems, and shows each gate with pass or the reason and the key, and fails when one needs a hand', async () => {
    const down = { code: 'link-down', severity: 'problem', word: 'down', subject: 'integration tg' }
    const report = {
      ok: false,
      problems: [
        {
          ...{ ...down, text: 'integration tg is down: no token' },
          remedy: 'switchboard logs --integration tg',
        },
        {
          ...{ ...down, code: 'gate-closed', word: 'closed' },
          text: 'integration tg: access: nobody is allowed',
          remedy: 'change integrations[0].access.allow_from',
        },
      ],
      config: { file: null, digest: 'abc', problem: null, warnings: [] },
      store: { kind: 'sqlite', durability: 'FULL' },
      integrations: [
        {
          id: 'tg',
          platform: 'telegram',
          link: 'down',
          detail: 'no token',
          gates: [
            {
              gate: 'access',
              pass: false,
              reason: 'nobody is allowed',
              key: 'integrations[0].access.allow_from',
            },
          ],
          last_in_at: null,
          last_out_at: null,
          drops: { rate_limited: 3 },
          sends_waiting: 1,
          sends_failed: 0,
          complete: { state: 'complete', until: '2026-01-02T12:00:00.000Z', late: 3 },
        },
      ],
      agents: [
        {
          id: 'kate',
          connector: 'demo',
          attached: true,
          queued: 4,
          bindings: [
            {
              integration: 'tg',
              conversations: 'all',
              gates: [{ gate: 'bound', pass: true, reason: 'bound', key: '' }],
            },
          ],
          last_message_at: null,
          approvals_pending: 2,
        },
      ],
    }
    await start({ 'GET /api/doctor': report })
    const short = await command(['doctor', ...data()])
    expect(short.code).toBe(1)
    expect(short.out).toMatch(
      /^2 problems:\n1\. integration tg is down: no token\n {3}→ switchboard logs --integration tg\n2\. /,
    )
    expect(short.out).toContain('→ change integrations[0].access.allow_from')
    expect(short.out).not.toContain('pass  ')
    const told = await command(['doctor', '--verbose', ...data()])
    expect(told.code).toBe(1)
    expect(told.out.startsWith(short.out.trimEnd())).toBe(true)
    for (const word of [
      'stop  access: nobody is allowed [integrations[0].access.allow_from]',
      'pass  bound',
      'rate_limited 3',
      '4 waiting, 2 approvals',
    ]) {
      expect(told.out).toContain(word)
    }
    expect((await command(['doctor', '--json', ...data()])).lines).toEqual([report])
  })
})

describe('integrations', () => {
  it('add says why the link is down', async () => {
    const view = {
      id: 'p',
      platform: 'webhook',
      enabled: true,
      default: false,
      scope: 'bound',
      origin: 'store',
    }
    const detail = 'env:FOO leads to nothing'
    await start({ 'POST /api/integrations': { ...view, link: 'down', detail } })
    const words = ['integrations', 'add', 'p', '--platform', 'webhook', '--set', 'secret=env:FOO']
    const told = await command([...words, ...data()])
    expect(told).toMatchObject({ code: 0, out: `p (webhook) is kept, encrypted; link: down (${detail})\n` })
  })
})
