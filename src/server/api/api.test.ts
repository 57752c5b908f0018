// The desk over HTTP: every route, its inputs and refusals, the export, the description.
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ApprovalView,
  type Desk,
  type LedgerEntry,
  SwitchboardError,
  type TurnView,
} from '../../contract/index.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { type Opened, openServer, TOKEN } from '../fixtures/open-server.ts'

let open: Opened | null = null
const opened = async (answers: Partial<Desk> = {}): Promise<Opened> => {
  open = await openServer({}, {}, answers)
  return open
}
afterEach(async () => {
  await open?.server.close({ graceMs: 100 })
  open = null
})

const NOW = 1_700_000_000_000
const turn = (seq: number) => ({ id: `t_tag_${seq.toString(36)}` }) as TurnView

describe('lists', () => {
  it('turn filters are passed on, and a full page gives a cursor', async () => {
    const { api, calls } = await opened({ turns: async () => [turn(80), turn(79)] })
    const first = await api(
      'GET',
      '/api/turns?state=queued,failed&state=seen&agent=kate&source=channel:slack&since=2h&until=2023-11-14&limit=2',
    )
    expect(first.json).toEqual({ items: [turn(80), turn(79)], next: 't_tag_27' })
    expect(calls.at(-1)).toEqual([
      'turns',
      {
        ...{ states: ['queued', 'failed', 'seen'], agent: 'kate', source: 'channel:slack', limit: 2 },
        ...{ sinceMs: NOW - 7_200_000, untilMs: Date.parse('2023-11-14') },
      },
    ])
    await api('GET', '/api/turns?limit=3&before=t_tag_27')
    expect(calls.at(-1)).toEqual(['turns', { limit: 3, beforeSeq: 79 }])
    expect((await api('GET', '/api/turns?limit=3')).json.next).toBeNull()
  })

  it('[I14.list-pages] approvals and notifications give a cursor too, and take it back', async () => {
    const answers = {
      approvals: async () => [
        { id: 'abcde', seq: 12 },
        { id: 'abcde', seq: 7 },
      ],
      notifications: async () => [{ id: 'n_2' }, { id: 'n_1' }],
    }
    const { api, calls } = await opened(answers as unknown as Partial<Desk>)
    expect((await api('GET', '/api/approvals?limit=2')).json.next).toBe('7')
    expect((await api('GET', '/api/approvals?limit=3')).json.next).toBeNull()
    await api('GET', '/api/approvals?limit=2&before=7&id=abcde')
    expect(calls.at(-1)).toEqual(['approvals', null, 2, { id: 'abcde', before: 7 }])
    expect((await api('GET', '/api/notifications?limit=2')).json.next).toBe('n_1')
    await api('GET', '/api/notifications?limit=2&before=n_1')
    expect(calls.at(-1)).toEqual(['notifications', 2, 'n_1'])
  })

  it('[S16.names-field] [S16.400] a slip is answered with the name of the field', async () => {
    const { api, calls } = await opened()
    for (const [path, field] of [
      ['/api/turns?state=sleeping', 'state'],
      ['/api/turns?limit=0', 'limit'],
      ['/api/turns?limit=x', 'limit'],
      ['/api/turns?since=yesterday', 'since'],
      ['/api/turns?before=%20', 'before'],
      ['/api/turns?stat=queued', 'stat'],
      ['/api/outbox?state=handed', 'state'],
      ['/api/audit/export?format=xml', 'format'],
    ] as const) {
      const { status, json } = await api('GET', path)
      expect([path, status, json.code]).toEqual([path, 400, 'input_invalid'])
      expect(json.error).toMatch(new RegExp(`^${field}[.:]`))
    }
    for (const [path, body, field] of [
      ['/api/send', { to: 'demo:dev' }, 'text'],
      ['/api/send', { to: '', text: 'x' }, 'to'],
      ['/api/send', { to: 'a', text: 'x', wait: 1 }, 'wait'],
      ['/api/approvals/abcde/decide', { behavior: 'maybe' }, 'behavior'],
      ['/api/access/grant', { integration: 'x', sender: 'y', right: 'rule' }, 'right'],
      ['/api/tokens', { kind: 'agent', ttl_ms: -1 }, 'ttl_ms'],
    ] as const) {
      const { status, json } = await api('POST', path, body)
      expect([path, status]).toEqual([path, 400])
      expect(json.error).toMatch(new RegExp(`^${field}:`))
    }
    expect(calls).toEqual([])
  })

  it('other lists are items with no further page', async () => {
    const { api } = await opened({ secretNames: async () => ['A'], pairings: async () => [] })
    expect((await api('GET', '/api/secrets?limit=200')).json).toEqual({ items: [{ name: 'A' }], next: null })
    expect((await api('GET', '/api/pairings')).json).toEqual({ items: [], next: null })
  })
})

describe('verbs', () => {
  it('each does what it says, in the name of who asked', async () => {
    const { api, calls } = await opened({
      revokeToken: async () => true,
      removeSecret: async () => true,
      grant: async () => {},
    })
    for (const [method, path, body, call] of [
      ['POST', '/api/turns/t_1/retry', undefined, ['operateTurn', 't_1', 'retry', 'admin']],
      ['POST', '/api/turns/t_1/cancel', {}, ['operateTurn', 't_1', 'cancel', 'admin']],
      ['POST', '/api/outbox/o_1/retry', undefined, ['operateSend', 'o_1', 'retry', 'admin']],
      ['POST', '/api/outbox/o_1/bury', undefined, ['operateSend', 'o_1', 'bury', 'admin']],
      ['POST', '/api/pairings/a1b2c3/approve', undefined, ['approvePairing', 'a1b2c3', 'admin', {}]],
      [
        'POST',
        '/api/pairings/a1b2c3/approve',
        { me: true },
        ['approvePairing', 'a1b2c3', 'admin', { user: 'local' }],
      ],
      ['POST', '/api/pairings/a1b2c3/deny', undefined, ['denyPairing', 'a1b2c3', 'admin']],
      [
        'POST',
        '/api/access/grant',
        { integration: 'demo', sender: 'a/b' },
        ['grant', 'demo', 'a/b', 'talk', 'admin'],
      ],
      [
        'POST',
        '/api/access/revoke',
        { integration: 'demo', sender: 'x', right: 'approve' },
        ['revoke', 'demo', 'x', 'approve', 'admin'],
      ],
      [
        'POST',
        '/api/send',
        { to: 'demo:dev', text: 'hi', wait_ms: 5 },
        ['order', { to: 'demo:dev', text: 'hi', wait_ms: 5 }, 'admin'],
      ],
      [
        'POST',
        '/api/tokens',
        { kind: 'agent', scope: { agent: 'kate' } },
        ['mintToken', { kind: 'agent', scope: { agent: 'kate' }, ttl_ms: null }, 'admin'],
      ],
      ['DELETE', '/api/tokens/k1', undefined, ['revokeToken', 'k1', 'admin']],
      ['PUT', '/api/secrets/TOKEN', { value: 'v' }, ['setSecret', 'TOKEN', 'v', 'admin']],
      ['DELETE', '/api/secrets/TOKEN', undefined, ['removeSecret', 'TOKEN', 'admin']],
      ['POST', '/api/secrets/rotate', {}, ['rotateSecrets', 'admin']],
      ['POST', '/api/reload', {}, ['reload', 'admin']],
      ['POST', '/api/chat-link', {}, ['chatLink', 'admin']],
      ['GET', '/api/audit/verify?expect=abc', undefined, ['verifyAudit', 'abc']],
      ['GET', '/api/doctor', undefined, ['doctor']],
      ['GET', '/api/doctor?security=true', undefined, ['doctor', { security: true }]],
    ] as const) {
      expect([path, (await api(method, path, body)).status]).toEqual([path, 200])
      expect(calls.at(-1)).toEqual(call)
    }
  })

  it('[S10.surface-api] [S16.409] who decides second is told who was first', async () => {
    let approval = { id: 'abcde', decided_by: 'kate', state: 'decided', cause: 'person' } as ApprovalView
    const { api, calls } = await opened({ decide: async () => ({ won: false, approval }) })
    const { status, json } = await api('POST', '/api/approvals/abcde/decide', { behavior: 'deny' })
    expect([status, json.code, json.error]).toEqual([409, 'conflict', 'already answered by kate'])
    expect(calls.at(-1)).toEqual(['decide', 'abcde', 'deny', 'admin', 'api'])
    approval = { ...approval, decided_by: 'switchboard', state: 'expired', cause: 'expired' }
    const late = await api('POST', '/api/approvals/abcde/decide', { behavior: 'deny' })
    expect([late.status, late.json.error]).toEqual([409, 'expired'])
  })

  it('[S16.415] [S16.400] a body must be JSON and say so', async () => {
    const { fetch } = await opened()
    const headers = { authorization: `Bearer ${TOKEN}` }
    const form = await fetch('/api/send', {
      method: 'POST',
      headers,
      body: new URLSearchParams({ to: 'x', text: 'y' }),
    })
    expect(form.status).toBe(415)
    const json = { ...headers, 'content-type': 'application/json; charset=utf-8' }
    for (const body of ['{', '', '"x"', 'null']) {
      expect([body, (await fetch('/api/send', { method: 'POST', headers: json, body })).status]).toEqual([
        body,
        400,
      ])
    }
  })

  it('[S16.404] [S16.410] unknown things are 404, wrong methods 405, errors as the desk means them', async () => {
    const gone = () => Promise.reject(new SwitchboardError('gone', 'the code has expired'))
    const { api, fetch } = await opened({
      turn: async () => null,
      approvePairing: gone,
      removeSecret: async () => false,
    })
    expect((await api('GET', '/api/turns/t_x')).status).toBe(404)
    expect((await api('GET', '/api/nothing')).status).toBe(404)
    expect((await api('GET', '/api/turns/')).status).toBe(404)
    expect((await api('DELETE', '/api/secrets/NONE')).status).toBe(404)
    expect((await api('POST', '/api/pairings/x/approve')).json).toMatchObject({ code: 'gone' })
    expect((await api('PUT', '/api/secrets/a%2Fb', { value: 'x' })).json.error).toMatch(/^name:/)
    const wrong = await fetch('/api/turns', {
      method: 'DELETE',
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET'])
  })
})

describe('audit export', () => {
  const entry = (seq: number, detail = ''): LedgerEntry => ({
    ...{ seq, chain: 'n/1', n: seq, at: NOW, kind: 'turn', ref: 't', integration: 'demo' },
    ...{ from: '', to: 'queued', reason: '', count: 1, digest: 'd', detail, mac: 'm' },
  })
  const ledger: Desk['ledger'] = async (after, limit) =>
    Array.from({ length: Math.min(limit, 1_203 - after) }, (_, at) => entry(after + at + 1, '=1+1,"x"\n'))

  it('streams every entry, page by page, as NDJSON and CSV', async () => {
    const { fetch, calls } = await opened({ ledger })
    const headers = { authorization: `Bearer ${TOKEN}` }
    const lines = (await (await fetch('/api/audit/export', { headers })).text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: 1_203 }, (_, at) => at + 1),
    )
    expect(calls.map((call) => call[1])).toEqual([0, 500, 1000])
    const csv = await (await fetch('/api/audit/export?format=csv', { headers })).text()
    expect(csv.split('\r\n')[0]).toBe(
      'seq,chain,n,at,kind,ref,integration,from,to,reason,count,digest,detail,mac',
    )
    expect(csv.split('\r\n')[1]).toContain(`"'=1+1,""x""\n"`)
  })

  it('an export that breaks is seen to be broken', async () => {
    const { fetch } = await opened({
      ledger: (after, limit) => (after === 0 ? ledger(after, limit) : Promise.reject(new Error('disk'))),
    })
    const response = await fetch('/api/audit/export', { headers: { authorization: `Bearer ${TOKEN}` } })
    await expect(response.text()).rejects.toThrow()
  })
})

describe('description and events', () => {
  it('[S14.http-openapi] describes exactly what is served', async () => {
    const { api } = await opened()
    const { json } = await api('GET', '/api/openapi.json')
    const paths = json.paths as unknown as Record<
      string,
      Record<string, { parameters: { name: string }[]; requestBody?: unknown }>
    >
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual(
      [...OPERATIONS.map(({ method, path }) => `${method} ${path}`), 'GET /api/openapi.json'].sort(),
    )
    expect(json.openapi).toBe('3.1.0')
    expect(paths['/api/turns']?.get?.parameters.map(({ name }) => name)).toContain('since')
    expect(JSON.stringify(paths['/api/send']?.post?.requestBody)).toContain('idempotency_key')
    for (const route of described) {
      const [method = '', path = ''] = route.split(' ')
      const given = method === 'PUT' ? { value: 'x' } : undefined
      const { status, json: told } = await api(method, path.replace(/\{\w+\}/g, 'x'), given)
      expect([route, status === 405, told.error === 'there is nothing at this path']).toEqual([
        route,
        false,
        false,
      ])
    }
  })

  it('[S14.http-events] streams hints until the reader goes', async () => {
    let tell: Parameters<Desk['watch']>[0] = () => undefined
    const { fetch, server } = await opened({
      watch: (listen) => {
        tell = listen
        return () => {}
      },
    })
    const response = await fetch('/events', { headers: { authorization: `Bearer ${TOKEN}` } })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    tell({ kind: 'turn', id: 't_1', scope: 'demo' })
    const closed = server.close({ graceMs: 1_000 })
    expect(await response.text()).toBe(
      ': connected\n\nevent: turn\ndata: {"kind":"turn","id":"t_1","scope":"demo"}\n\n',
    )
    await closed
  })
})
