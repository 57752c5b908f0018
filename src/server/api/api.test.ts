// The operations over HTTP: every route, its inputs and refusals, the export, the description.
import { afterEach, describe, expect, it } from 'vitest'
import { type LedgerEntry, SwitchboardError } from '../../contract/index.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { turnView } from '../../operations/turns/turn-view.ts'
import { createTestClock } from '../../testing/index.ts'
import type { ServerDeps } from '../deps.ts'
import type { Answers } from '../fixtures/fake-context.ts'
import { type Opened, openServer, TOKEN } from '../fixtures/open-server.ts'
import { approvalRow, sendRow, turnRow } from '../fixtures/rows.ts'
import { createApi } from './api.ts'

let open: Opened | null = null
const opened = async (answers: Answers = {}, more: Partial<ServerDeps> = {}): Promise<Opened> => {
  open = await openServer(more, {}, answers)
  return open
}
afterEach(async () => {
  await open?.server.close({ graceMs: 100 })
  open = null
})

const NOW = 1_700_000_000_000
const PAIRING = {
  code: 'a1b2c3',
  integration: 'demo',
  sender: 'ann',
  senderName: null,
  conversation: 'dev',
  expiresAt: NOW,
}

it('a literal segment of a path beats a parameter, wherever the operation stands in the list', async () => {
  const read = (path: string) => ({
    ...({ method: 'GET', path, summary: '', action: 'admin.read' } as const),
    run: async () => ({ path }),
  })
  const routes = [read('/api/things/{id}'), read('/api/things/newest')]
  const api = createApi({ clock: createTestClock(), authorize: () => ({ allowed: true }) }, routes)
  const ask = async (id: string) =>
    (
      await api({
        request: { method: 'GET', headers: {} },
        segments: ['api', 'things', id],
        query: new URLSearchParams(),
        body: Buffer.alloc(0),
        principal: { kind: 'operator', id: 'op' },
        via: 'cli',
      })
    ).body
  expect([await ask('newest'), await ask('7')].map((body) => JSON.parse(String(body)).path)).toEqual([
    '/api/things/newest',
    '/api/things/{id}',
  ])
})

describe('lists', () => {
  it('turn filters are passed on, and a full page gives a cursor', async () => {
    const { api, calls } = await opened({ turns: async () => [turnRow(80), turnRow(79)] })
    const first = await api(
      'GET',
      '/api/turns?state=queued,failed&state=seen&agent=kate&source=channel:slack&since=2h&until=2023-11-14&limit=2',
    )
    expect(first.json).toEqual({ items: [turnView(turnRow(80)), turnView(turnRow(79))], next: 't_tag_27' })
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
      approvals: async () => [approvalRow(12), approvalRow(7)],
      notifications: async () => [
        { id: 'n_2', at: NOW },
        { id: 'n_1', at: NOW },
      ],
    }
    const { api, calls } = await opened(answers)
    expect((await api('GET', '/api/approvals?limit=2')).json.next).toBe('7')
    expect((await api('GET', '/api/approvals?limit=3')).json.next).toBeNull()
    await api('GET', '/api/approvals?limit=2&before=7&id=abcde')
    expect(calls).toContainEqual(['approvals', { id: 'abcde', beforeSeq: 7, limit: 2 }])
    expect((await api('GET', '/api/notifications?limit=2')).json.next).toBe('n_1')
    await api('GET', '/api/notifications?limit=2&before=n_1')
    expect(calls.at(-1)).toEqual(['notifications', { limit: 2, before: 'n_1' }])
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
    const { api } = await opened({
      secrets: async () => ({ A: 'x', 'given.chat.b': 'y' }),
      pairings: async () => [],
    })
    expect((await api('GET', '/api/secrets?limit=200')).json).toEqual({ items: [{ name: 'A' }], next: null })
    expect((await api('GET', '/api/pairings')).json).toEqual({ items: [], next: null })
  })
})

describe('verbs', () => {
  it('each does what it says, in the name of who asked', async () => {
    const { api, calls } = await opened({
      revokeToken: async () => true,
      remove: async () => true,
      operateTurn: async () => turnRow(1),
      operateSend: async () => sendRow(1),
      pairings: async () => [PAIRING],
      approvePairing: async () => PAIRING,
      denyPairing: async () => true,
      mint: async () => ({ token: 'x', id: 'k1', expiresAt: null }),
      loadedPlatform: () => undefined,
      rows: () => ['row'],
      post: async () => ({ result: { ok: true } }),
    })
    for (const [method, path, body, call] of [
      ['POST', '/api/turns/t_1/retry', undefined, ['operateTurn', 't_1', 'retry', 'admin']],
      ['POST', '/api/turns/t_1/cancel', {}, ['operateTurn', 't_1', 'cancel', 'admin']],
      ['POST', '/api/outbox/o_1/retry', undefined, ['operateSend', 'o_1', 'retry', 'admin']],
      ['POST', '/api/outbox/o_1/bury', undefined, ['operateSend', 'o_1', 'bury', 'admin']],
      [
        'POST',
        '/api/pairings/a1b2c3/approve',
        undefined,
        ['approvePairing', 'a1b2c3', 'admin', { rights: [], words: [] }],
      ],
      [
        'POST',
        '/api/pairings/A1B2C3/approve',
        { me: true, approver: true },
        ['approvePairing', 'a1b2c3', 'admin', { rights: ['approve', 'user:local'], words: [] }],
      ],
      ['POST', '/api/pairings/a1b2c3/deny', undefined, ['denyPairing', 'a1b2c3', 'admin']],
      [
        'POST',
        '/api/access/grant',
        { integration: 'demo', sender: 'a/b' },
        ['grant', { integration: 'demo', sender: 'a/b', right: 'talk', by: 'admin' }],
      ],
      [
        'POST',
        '/api/access/revoke',
        { integration: 'demo', sender: 'x', right: 'approve' },
        ['revoke', 'demo', 'x', 'approve', 'admin'],
      ],
      ['POST', '/api/send', { to: 'demo:dev', text: 'hi', wait_ms: 5 }, ['post', ['row'], { waitMs: 5 }]],
      [
        'POST',
        '/api/tokens',
        { kind: 'agent', scope: { agent: 'kate' } },
        ['mint', { kind: 'agent', scope: { agent: 'kate', minted_by: 'admin' }, ttlMs: null }],
      ],
      ['DELETE', '/api/tokens/k1', undefined, ['revokeToken', 'k1', 'admin']],
      ['PUT', '/api/secrets/TOKEN', { value: 'v' }, ['set', 'TOKEN', 'v', 'admin']],
      ['DELETE', '/api/secrets/TOKEN', undefined, ['remove', 'TOKEN', 'admin']],
      ['POST', '/api/secrets/rotate', {}, ['rotate', 'admin']],
      ['POST', '/api/reload', {}, ['reload', 'admin']],
      ['POST', '/api/chat-link', {}, ['chatLink']],
      ['GET', '/api/audit/verify?expect=abc', undefined, ['verify', 'abc']],
      ['GET', '/api/doctor', undefined, ['doctor', { security: false, sendTest: false }]],
      ['GET', '/api/doctor?security=true', undefined, ['doctor', { security: true, sendTest: false }]],
    ] as const) {
      calls.splice(0)
      expect([path, (await api(method, path, body)).status]).toEqual([path, 200])
      expect(calls).toContainEqual(call)
    }
  })

  it('an address with the name of another integration is refused, and nothing is sent', async () => {
    const { api, calls } = await opened()
    const send = (more: object) => api('POST', '/api/send', { to: 'demo:dev', text: 'hi', ...more })
    const { status, json } = await send({ integration: 'other' })
    expect([status, json.code, json.error]).toEqual([
      400,
      'input_invalid',
      '"demo:dev" is a chat of demo, not of other',
    ])
    expect(calls.map(([name]) => name)).not.toContain('post')
    expect((await send({ integration: 'demo' })).status).toBe(200)
    expect(calls.map(([name]) => name)).toContain('post')
  })

  it('[S10.surface-api] [S16.409] who decides second is told who was first', async () => {
    let approval = approvalRow(1, { decidedBy: 'kate', state: 'decided', cause: 'person' })
    const { api, calls } = await opened({
      decide: async () => ({ won: false, approval }),
      approval: async () => approval,
    })
    const { status, json } = await api('POST', '/api/approvals/abcde/decide', { behavior: 'deny' })
    expect([status, json.code, json.error]).toEqual([409, 'conflict', 'already answered by kate'])
    const decided = { id: 'abcde', behavior: 'deny', cause: 'person', by: 'admin', via: 'api' }
    expect(calls).toContainEqual(['decide', decided])
    approval = approvalRow(1, { decidedBy: 'switchboard', state: 'expired', cause: 'expired' })
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

  it('[S16.404] [S16.410] unknown things are 404, wrong methods 405, errors as operations mean them', async () => {
    const gone = () => Promise.reject(new SwitchboardError('gone', 'the code has expired'))
    const { api, fetch } = await opened({
      turn: async () => null,
      pairings: async () => [PAIRING],
      approvePairing: gone,
      remove: async () => false,
    })
    expect((await api('GET', '/api/turns/t_x')).status).toBe(404)
    expect((await api('GET', '/api/nothing')).status).toBe(404)
    expect((await api('GET', '/api/turns/')).status).toBe(404)
    expect((await api('DELETE', '/api/secrets/NONE')).status).toBe(404)
    expect((await api('POST', '/api/pairings/a1b2c3/approve')).json).toMatchObject({ code: 'gone' })
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
  const ledger = async ({ afterSeq: after, limit }: { readonly afterSeq: number; readonly limit: number }) =>
    Array.from({ length: Math.min(limit, 1_203 - after) }, (_, at) => entry(after + at + 1, '=1+1,"x"\n'))

  it('streams every entry, page by page, as NDJSON and CSV', async () => {
    const { fetch, calls } = await opened({ ledger })
    const headers = { authorization: `Bearer ${TOKEN}` }
    const lines = (await (await fetch('/api/audit/export', { headers })).text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: 1_203 }, (_, at) => at + 1),
    )
    expect(calls.map((call) => (call[1] as { afterSeq: number }).afterSeq)).toEqual([0, 500, 1000])
    const csv = await (await fetch('/api/audit/export?format=csv', { headers })).text()
    expect(csv.split('\r\n')[0]).toBe(
      'seq,chain,n,at,kind,ref,integration,from,to,reason,count,digest,detail,mac',
    )
    expect(csv.split('\r\n')[1]).toContain(`"'=1+1,""x""\n"`)
  })

  it('an export that breaks is seen to be broken', async () => {
    const { fetch } = await opened({
      ledger: (page: { afterSeq: number; limit: number }) =>
        page.afterSeq === 0 ? ledger(page) : Promise.reject(new Error('disk')),
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
    let tell: Parameters<ServerDeps['watch']>[0] = () => undefined
    const watching: Partial<ServerDeps> = {
      watch: (listen) => {
        tell = listen
        return () => {}
      },
    }
    const { fetch, server } = await opened({}, watching)
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
