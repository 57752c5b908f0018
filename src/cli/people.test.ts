// Who may talk and who may approve, by command, against a canned daemon: what is sent, what is said, how it ends.
import { describe, expect, it } from 'vitest'
import type { PairingView } from '../contract/index.ts'
import { type Asked, command, freshFolder } from './fixtures/fake-daemon.ts'

const { data, start } = freshFolder()

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
      'POST /api/pairings/a1b2c3/approve': {
        ...pairing,
        approver: true,
        granted: 'may talk and approve tool calls on tg',
      },
      'POST /api/pairings/a1b2c3/deny': '',
    })
    expect((await command(['pair', 'list', '--json', ...data()])).lines).toEqual([pairing])
    const table = await command(['pair', ...data()])
    expect(table.out).toContain('in 30m')
    expect(table.out).not.toContain('\u001b')
    for (const words of [['--approver'], ['--me'], ['--user', 'ann'], []])
      expect((await command(['pair', 'approve', 'a1b2c3', ...words, ...data()])).out).toBe(
        'Kim�[2J (42) may talk and approve tool calls on tg\n',
      )
    expect(asked.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual([
      ...[{ approver: true }, { me: true }, { user: 'ann' }, {}],
    ])
    expect((await command(['pair', 'deny', 'a1b2c3', ...data()])).code).toBe(0)
    expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(5)
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

  it('[I18.access-default] whom the platform lets in by default: no key is named that is not there', async () => {
    const origin = 'default of web (integrations[0].access names no approvers)'
    await start({
      'GET /api/access': {
        items: [{ integration: 'web', sender: 'owner', right: 'approve', origin, at: null }],
        next: null,
      },
      'POST /api/access/revoke': { revoked: false },
    })
    expect(await command(['access', 'remove', 'web', 'owner', ...data()])).toMatchObject({
      code: 1,
      err: `error: owner may still approve on web: ${origin} lists owner\nhint: name others there: access: { approvers: ["ID"] }, or switch web off with enabled: false\n`,
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
