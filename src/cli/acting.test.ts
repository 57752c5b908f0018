// Commands that act, against a canned daemon: what they send, what they say, how they end.
import { describe, expect, it } from 'vitest'
import type { ApprovalView, PairingView, SendResult } from '../contract/index.ts'
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

describe('pair and access', () => {
  const pairing: PairingView = {
    code: 'a1b2c3',
    integration: 'tg',
    sender: '42',
    sender_name: 'Kim\u001b[2J',
    expires_at: '2026-01-02T12:30:00.000Z',
  }

  it('[S14.json-pair] [S14.cli-pair] [S4.pairing-approve-cli] lists, approves and denies by code', async () => {
    const { asked } = await start({
      'GET /api/pairings': { items: [pairing], next: null },
      'POST /api/pairings/a1b2c3/approve': { ...pairing, approver: true },
      'POST /api/pairings/a1b2c3/deny': '',
    })
    expect((await command(['pair', 'list', '--json', ...data()])).lines).toEqual([pairing])
    const table = await command(['pair', ...data()])
    expect(table.out).toContain('in 30m')
    expect(table.out).not.toContain('\u001b')
    expect((await command(['pair', 'approve', 'a1b2c3', ...data()])).out).toBe(
      'Kim�[2J (42) may talk and approve on tg\n',
    )
    expect((await command(['pair', 'deny', 'a1b2c3', ...data()])).code).toBe(0)
    expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(2)
  })

  it('approving without a code lists what waits and exits 2, even if only one does', async () => {
    const { asked } = await start({ 'GET /api/pairings': { items: [pairing], next: null } })
    const told = await command(['pair', 'approve', ...data()])
    expect(told.code).toBe(2)
    expect(told.out).toContain('a1b2c3')
    expect(told.err).toMatch(/^error: pair approve needs a code\nhint: .*pair approve CODE\n$/)
    expect(asked.some(({ method }) => method === 'POST')).toBe(false)
  })

  it('[S14.cli-access] lists, grants, and takes both rights from who is removed', async () => {
    const row = { integration: 'tg', sender: '41', right: 'talk', origin: 'granted by cli', at: null }
    const { asked } = await start({
      'GET /api/access': { items: [row], next: null },
      'POST /api/access/grant': '',
      'POST /api/access/revoke': ({ body }: Asked) => ({
        body: { revoked: (body as { right: string }).right === 'talk' },
      }),
    })
    expect((await command(['access', '--json', ...data()])).lines).toEqual([row])
    expect((await command(['access', 'allow', 'tg', '42', ...data()])).out).toBe('42 may talk on tg\n')
    expect((await command(['access', 'approver', 'tg', '42', ...data()])).out).toBe('42 may approve on tg\n')
    expect((await command(['access', 'approver', 'tg', '42', '--remove', ...data()])).code).toBe(0)
    const removed = await command(['access', 'remove', 'tg', '42', '--json', ...data()])
    expect(removed.lines).toEqual([{ ok: true, integration: 'tg', sender: '42', removed: ['talk'] }])
    expect(asked.filter(({ method }) => method === 'POST').map(({ path, body }) => [path, body])).toEqual([
      ['/api/access/grant', { integration: 'tg', sender: '42', right: 'talk' }],
      ['/api/access/grant', { integration: 'tg', sender: '42', right: 'approve' }],
      ['/api/access/revoke', { integration: 'tg', sender: '42', right: 'approve' }],
      ['/api/access/revoke', { integration: 'tg', sender: '42', right: 'talk' }],
      ['/api/access/revoke', { integration: 'tg', sender: '42', right: 'approve' }],
    ])
  })

  it('[S14.cli-access] a right that the configuration gives is not said to be gone', async () => {
    const row = (sender: string, right: string, origin: string) => ({
      ...{ integration: 'tg', sender, right, origin, at: null },
    })
    const rows = [
      row('42', 'approve', 'integrations[1].access.approvers'),
      row('*', 'talk', 'integrations[1].access.allow_from'),
      { ...row('43', 'approve', 'elsewhere'), integration: 'other' },
    ]
    let revoked = true
    await start({
      'GET /api/access': { items: rows, next: null },
      'POST /api/access/revoke': () => ({ body: { revoked } }),
    })
    const approver = (sender: string) => command(['access', 'approver', 'tg', sender, '--remove', ...data()])
    const left = '42 may still approve on tg: integrations[1].access.approvers lists 42'
    expect(await approver('42')).toMatchObject({
      code: 1,
      out: '',
      err: `error: what was granted was taken back (approve), but\n${left}\nhint: change it there, in the configuration\n`,
    })
    expect(await approver('43')).toMatchObject({ code: 0, out: '43 may no longer approve on tg\n' })
    revoked = false
    expect((await approver('42')).err).toContain(`error: ${left}\n`)
    expect(await approver('43')).toMatchObject({ code: 0, out: '43 was not allowed to approve on tg\n' })
    const removed = await command(['access', 'remove', 'tg', '43', '--json', ...data()])
    expect(removed).toMatchObject({ code: 1, out: '' })
    expect(JSON.parse(removed.err)).toMatchObject({
      ok: false,
      error: '43 may still talk on tg: integrations[1].access.allow_from lists "*"',
    })
  })

  it('[S14.cli-access] an integration that there is not is an error, unless something was left of it', async () => {
    const absent = { ok: false, code: 'not_found', error: 'there is no integration "nope"', hint: null }
    const left = new Set(['approve'])
    await start({
      'GET /api/access': { items: [], next: null },
      'POST /api/access/revoke': ({ body }: Asked) =>
        left.delete((body as { right: string }).right)
          ? { body: { revoked: true } }
          : { status: 404, body: absent },
    })
    const remove = () => command(['access', 'remove', 'nope', 'x', ...data()])
    expect(await remove()).toMatchObject({ code: 0, out: 'x lost what was granted on nope: approve\n' })
    expect(await remove()).toMatchObject({ code: 1, out: '' })
    expect((await command(['access', 'approver', 'nope', 'x', '--remove', ...data()])).code).toBe(1)
  })
})

describe('approvals', () => {
  const approval: ApprovalView = {
    id: 'abcde',
    agent: 'demo',
    session: 's',
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

  it('[S14.cli-doctor] shows each gate with pass or the reason and the key, and fails when one needs a hand', async () => {
    const report = {
      ok: false,
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
    const told = await command(['doctor', ...data()])
    expect(told.code).toBe(1)
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
    const told = await command(['integrations', 'add', 'p', '--platform', 'webhook', ...data()])
    expect(told).toMatchObject({ code: 0, out: `p (webhook) is kept, encrypted; link: down (${detail})\n` })
  })
})
