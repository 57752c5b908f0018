// The API client and its failure table: what each answer, or a missing one, means for the message.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { type ApiAnswer, createApiClient } from './api-client.ts'
import { createRefusals, failures, isRefusal, isStatus, statusError } from './failures.ts'
import type { GuardedRequest, GuardedResponse } from './guarded-fetch.ts'

type Given = {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly cut?: true
}

function clientOf(...answers: readonly (Given | SwitchboardError)[]) {
  const asked: GuardedRequest[] = []
  const api = createApiClient({
    name: 'Pager',
    clock: createTestClock(),
    timeoutMs: 100,
    headers: { authorization: 'key' },
    async fetch(request): Promise<GuardedResponse> {
      asked.push(request)
      const given = answers[asked.length - 1] ?? new SwitchboardError('internal', 'no more answers')
      if (given instanceof SwitchboardError) throw given
      const { status, body = '', headers = {}, cut = false } = given
      return { status, headers, body: Buffer.from(body), truncated: cut }
    },
  })
  return { api, asked }
}

const refusal = createRefusals('Pager', {
  ...failures({ code: 'platform_rejected', placeGone: true }, { no_team: 'there is no such team' }),
  asleep: { code: 'platform_unavailable', retryAfterMs: 9_000 },
})

const read = ({ json, fields }: ApiAnswer) => {
  if (typeof fields.error === 'string')
    throw refusal({ key: fields.error, said: 'in its words', status: 400 })
  return json === undefined ? undefined : fields
}

const failure = async (given: Given | SwitchboardError, repeatable = false) => {
  const { api } = clientOf(given)
  const call = api.call({ url: 'https://pager.example/send', method: 'POST', repeatable }, read)
  return call.then(
    () => null,
    (thrown: SwitchboardError) => thrown,
  )
}

it('returns what is read from an answer, and sends the headers of the client', async () => {
  const { api, asked } = clientOf({ status: 200, body: '{"id":7}' })
  const headers = { accept: 'application/json' }
  expect(await api.call({ url: 'https://pager.example/', method: 'GET', headers }, read)).toEqual({ id: 7 })
  expect(asked).toMatchObject([{ headers: { ...headers, authorization: 'key' }, timeoutMs: 100 }])
})

it.each([
  [{ status: 200, body: '<html>' }, 'outcome_unknown', 'platform_unavailable'],
  [{ status: 200, body: '{"id":', cut: true }, 'outcome_unknown', 'platform_unavailable'],
  [{ status: 302 }, 'outcome_unknown', 'platform_unavailable'],
  [{ status: 400 }, 'platform_rejected', 'platform_rejected'],
  [{ status: 408 }, 'platform_unavailable', 'platform_unavailable'],
  [{ status: 429 }, 'rate_limited', 'rate_limited'],
  [{ status: 500 }, 'outcome_unknown', 'platform_unavailable'],
  [{ status: 504 }, 'outcome_unknown', 'platform_unavailable'],
] as const)(
  'the status speaks where nothing else does: %j is %s, and %s if it may be repeated',
  async (given, once, twice) => {
    expect([(await failure(given))?.code, (await failure(given, true))?.code]).toEqual([once, twice])
  },
)

it.each([
  ['platform_unavailable', 'platform_unavailable', 'platform_unavailable'],
  ['outcome_unknown', 'outcome_unknown', 'platform_unavailable'],
  ['forbidden', 'platform_unavailable', 'platform_unavailable'],
] as const)('no answer: %s is %s, and %s if it may be repeated', async (code, once, twice) => {
  const lost = new SwitchboardError(code, 'the connection failed')
  expect([(await failure(lost))?.code, (await failure(lost, true))?.code]).toEqual([once, twice])
})

it('[I36.api-client] a row of the table says what an error means; one without a row is refused in the words of the vendor', async () => {
  const [gone, asleep, other] = await Promise.all(
    ['no_team', 'asleep', 'what'].map((error) => failure({ status: 400, body: JSON.stringify({ error }) })),
  )
  expect(gone).toMatchObject({
    code: 'platform_rejected',
    placeGone: true,
    message: 'no_team: there is no such team',
  })
  expect(asleep).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 9_000 })
  expect(other).toMatchObject({ code: 'platform_rejected', message: 'what: in its words' })
  expect([isRefusal(gone, 'no_team'), isRefusal(gone, 'asleep'), isStatus(gone, 400)]).toEqual([
    true,
    false,
    true,
  ])
})

it('[I36.api-client] an answer that cannot be read for a fault of ours leaves the outcome open', async () => {
  const { api } = clientOf({ status: 200, body: '{}' })
  const call = api.call({ url: 'https://pager.example/', method: 'POST' }, () => {
    throw new TypeError('undefined is not a function')
  })
  await expect(call).rejects.toMatchObject({ code: 'outcome_unknown' })
})

it('waits as long as it is asked to, and five seconds without a number', async () => {
  const wait = async (headers: Record<string, string>) =>
    (await failure({ status: 429, headers }))?.retryAfterMs
  expect(await wait({ 'retry-after': '7' })).toBe(7_000)
  expect(await wait({ 'retry-after': '0.2' })).toBe(200)
  expect(await wait({ 'retry-after': '0' })).toBe(5_000)
  expect(await wait({})).toBe(5_000)
})

it('a peer may give its statuses another meaning', () => {
  const codes = { '5xx': 'platform_unavailable', 410: 'gone', 503: 'agent_unreachable' } as const
  const of = (status: number) => statusError(status, { whom: 'the agent', now: 0, retryAfter: '2', codes })
  expect(of(500)).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 2_000, written: false })
  expect(of(503)).toMatchObject({ code: 'agent_unreachable', written: true })
  expect(of(410)).toMatchObject({ code: 'gone', retryAfterMs: undefined })
  expect(of(307)).toMatchObject({ code: 'platform_rejected', hint: expect.stringContaining('final URL') })
})

it('a download is whole, in its limit, and shows credentials to its first host alone', async () => {
  const start = 'https://files.pager.example/a'
  const get = (given: Given | SwitchboardError, maxBytes = 3) =>
    clientOf(given).api.download(start, { maxBytes })
  expect((await get({ status: 200, body: 'abc' })).bytes.toString()).toBe('abc')
  await expect(get({ status: 200, body: 'abcd', cut: true })).rejects.toMatchObject({ code: 'too_large' })
  await expect(get({ status: 200, body: 'ab', cut: true })).rejects.toMatchObject({
    code: 'platform_unavailable',
  })
  await expect(get({ status: 404 })).rejects.toMatchObject({ code: 'not_found', status: 404 })
  await expect(get({ status: 503 })).rejects.toMatchObject({ code: 'platform_unavailable' })
  await expect(get({ status: 302, headers: { location: '/b' } })).rejects.toMatchObject({ status: 302 })

  const { api, asked } = clientOf({ status: 302, headers: { location: '/b' } }, { status: 200, body: 'abc' })
  await api.download(start, { maxBytes: 3, headers: { authorization: 'key' }, redirects: 1 })
  expect(asked.map(({ url }) => url)).toEqual([start, 'https://files.pager.example/b'])
  expect(asked.map(({ headers }) => headers)).toEqual([{ authorization: 'key' }, undefined])
})
