// Conversations over HTTP: what is asked of the store, how refusals look, and that all of it is described.
import { afterEach, expect, it } from 'vitest'
import type { TakeoverRow } from '../../contract/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import type { Answers } from '../../server/fixtures/fake-context.ts'
import { type Opened, openServer } from '../../server/fixtures/open-server.ts'

const opened: Opened[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.server.close({ graceMs: 0 })
})

async function open(answers: Answers = {}) {
  const one = await openServer({}, {}, answers)
  opened.push(one)
  return one
}

const AT = { integration: 'tg', conversation: '-100', thread: 'a b' }
const PATH = `/api/conversations/${encodeURIComponent('tg:-100:a%20b')}`

it('[I21.api] the list, one conversation and its thread are asked for as the query says', async () => {
  const { api, calls } = await open({
    conversations: async () => ({ rows: [], next: null }),
    conversation: async () => null,
    thread: async () => ({ rows: [], next: null }),
  })
  const query = 'integration=tg&agent=kate&held=true&q=Ann&since=2h&limit=7&before=5~tg%3A1'
  expect((await api('GET', `/api/conversations?${query}`)).status).toBe(200)
  expect(calls.at(-1)).toEqual([
    'conversations',
    {
      ...{ integration: 'tg', agent: 'kate', takeover: 'held', search: 'Ann', limit: 7 },
      sinceMs: 1_700_000_000_000 - 2 * 3_600_000,
      before: { at: 5, address: 'tg:1' },
    },
  ])
  expect((await api('GET', PATH)).status).toBe(404)
  expect(calls.at(-1)).toEqual(['conversation', AT])
  expect((await api('GET', `${PATH}/thread?before=1.2.3`)).status).toBe(200)
  expect(calls.at(-1)).toEqual(['thread', AT, { limit: 50, before: { turn: 1, send: 2, takeover: 3 } }])
})

it('[I21.api] whoever comes second is told who holds it, 409; what is not held is 409, too', async () => {
  const takeover = {
    id: 'h_1',
    address: 'tg:-100:a%20b',
    at: AT,
    agent: 'kate',
    state: 'held',
    asked: null,
    holder: 'user:ann',
    holderName: 'ann',
    since: 1_700_000_000_000,
    lastWordAt: null,
    ended: null,
  } as unknown as TakeoverRow
  const { api, calls } = await open({
    take: async () => ({ won: false, takeover, previous: null, queued: [], running: [] }),
    say: async () => {
      throw new SwitchboardError('not_held', 'nobody holds it')
    },
    give: async () => takeover,
  })
  const second = await api('POST', `${PATH}/take`, {})
  expect([second.status, second.json.code, second.json.error]).toEqual([
    409,
    'held',
    'tg:-100:a%20b is held by ann',
  ])
  expect(second.json.takeover).toMatchObject({ address: takeover.address, holder_name: 'ann', mine: false })
  expect((await api('POST', `${PATH}/take`, { force: true })).status).toBe(409)
  expect(calls.at(-1)).toEqual(['take', AT, 'admin', true])
  const said = await api('POST', `${PATH}/say`, { text: 'hi', idempotency_key: 'k' })
  expect([said.status, said.json.code]).toEqual([409, 'not_held'])
  expect((await api('POST', `${PATH}/give`, {})).status).toBe(200)
})

it('[I21.bad-input] bad addresses, cursors, bodies and unknown keys are refused by name, and nobody is asked', async () => {
  const { api, calls } = await open()
  const bad: readonly [string, string, unknown?][] = [
    ['GET', '/api/conversations/nowhere'],
    ['GET', '/api/conversations/a%3Ab%3Ac%3Ad'],
    ['GET', '/api/conversations/a%3A%25zz'],
    ['GET', '/api/conversations?before=5'],
    ['GET', '/api/conversations?before=x~tg%3A1'],
    ['GET', '/api/conversations?limit=0'],
    ['GET', '/api/conversations?held=maybe'],
    ['GET', '/api/conversations?nothing=1'],
    ['GET', '/api/takeovers?state=gone'],
    ['POST', `${PATH}/take`, { force: 'yes' }],
    ['POST', `${PATH}/say`, { text: '' }],
    ['POST', `${PATH}/say`, { text: 7 }],
    ['POST', `${PATH}/say`, { text: 'x', by: 'user:ann' }],
    ['POST', `${PATH}/give`, { by: 'user:ann' }],
  ]
  for (const [method, path, body] of bad) {
    const { status, json } = await api(method, path, body)
    expect([method, path, status, json.code]).toEqual([method, path, 400, 'input_invalid'])
  }
  expect(calls).toEqual([])
})

it('[I21.api] the description names every one of them', async () => {
  const { api } = await open()
  const { json } = await api('GET', '/api/openapi.json')
  const paths = Object.keys(json.paths as unknown as object)
  for (const end of [
    '',
    '/{address}',
    '/{address}/thread',
    '/{address}/take',
    '/{address}/say',
    '/{address}/give',
  ])
    expect(paths).toContain(`/api/conversations${end}`)
  expect(paths).toContain('/api/takeovers')
})
