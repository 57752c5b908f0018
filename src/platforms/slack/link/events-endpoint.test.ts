// The endpoint of the Events API: signatures, the challenge, and the fake's posts over HTTP.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { isReply, type RawRequest } from '../../../contract/index.ts'
import { DEFAULT_TIMINGS } from '../config.ts'
import { openScene, until } from '../fixtures/slack-scene.ts'
import { verifyRequest } from '../verify.ts'

const NOW = 1_771_000_000_000
const SECRET = 'shh'

function request(
  over: {
    at?: number
    secret?: string
    body?: string
    headers?: Record<string, string>
    method?: string
  } = {},
): RawRequest {
  const { at = NOW, secret = SECRET, body = '{}' } = over
  const timestamp = String(Math.floor(at / 1_000))
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
  const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature, ...over.headers }
  return {
    method: over.method ?? 'POST',
    path: '',
    query: new URLSearchParams(),
    headers,
    body: Buffer.from(body),
    fromLoopback: true,
  }
}

const statusOf = (given: RawRequest) => {
  const outcome = verifyRequest({ signingSecret: SECRET, now: NOW }, given)
  return isReply(outcome) ? outcome.status : 'verified'
}

describe('the door', () => {
  it('[I15.bad-signature] [S7.slack-events] lets in what is signed within five minutes, and nothing else', () => {
    expect(statusOf(request())).toBe('verified')
    expect(statusOf(request({ at: NOW - 299_000 }))).toBe('verified')
    const wrong = [
      request({ at: NOW - 301_000 }),
      request({ at: NOW + 301_000 }),
      request({ secret: 'guess' }),
      request({ headers: { 'x-slack-signature': '' } }),
      request({ headers: { 'x-slack-signature': 'v1=00' } }),
      request({ headers: { 'x-slack-request-timestamp': 'soon' } }),
      { ...request(), body: Buffer.from('{"x":1}') },
      { ...request(), headers: {} },
    ]
    expect(wrong.map(statusOf)).toEqual(wrong.map(() => 401))
    expect(statusOf(request({ method: 'GET' }))).toBe(405)
  })

  it('[I15.url-verify] gives a challenge back, and takes no other word for one', async () => {
    const scene = await openScene({ mode: 'events' })
    await scene.start()
    const { endpoint } = scene.adapter
    const post = async (body: string) => {
      const signed = request({ at: Date.now(), secret: scene.fake.signingSecret, body })
      const verified = await endpoint?.verify(signed)
      if (verified === undefined || isReply(verified)) throw new Error('not verified')
      return endpoint?.handle(verified)
    }
    const made = await post('{"type":"url_verification","challenge":"abc"}')
    expect(JSON.parse(String(made?.body))).toEqual({ challenge: 'abc' })
    expect((await post('{"type":"url_verification"}'))?.status).toBe(400)
    expect(scene.intake.events).toEqual([])
    await scene.close()
  })

  it('[I15.events-retry] a Slack that does not say who we are makes no post wait beyond its three seconds', async () => {
    const scene = await openScene({
      mode: 'events',
      faults: [{ on: 'auth.test', nth: 1, do: 'deaf' }],
      timings: { answerMs: 1_000, requestTimeoutMs: 1_500 },
    })
    try {
      await scene.adapter.start(scene.intake, null)
      const { endpoint } = scene.adapter
      const event = { type: 'message', channel: 'D0KATE001', user: 'U0KATE001', text: 'hi', ts: '1.000001' }
      const body = JSON.stringify({ type: 'event_callback', team_id: scene.fake.world.team.id, event })
      const post = async () => {
        const verified = await endpoint?.verify(
          request({ at: Date.now(), secret: scene.fake.signingSecret, body }),
        )
        if (verified === undefined || isReply(verified)) throw new Error('not verified')
        return endpoint?.handle(verified)
      }
      expect((await post())?.status).toBe(503)
      expect(scene.intake.events).toEqual([])
      await until('Slack says it', () => scene.adapter.link?.state().state === 'up')
      expect((await post())?.status).toBe(200)
      expect(scene.intake.events).toHaveLength(1)
      expect(DEFAULT_TIMINGS.answerMs).toBeLessThan(3_000)
    } finally {
      await scene.close()
    }
  })

  it('[I35.b45-slack-events] the link is not up while the API is dead, and what was missed is looked for when it answers', async () => {
    const scene = await openScene({ mode: 'events', timings: { checkMs: 20 } })
    await scene.start()
    try {
      expect(scene.connects()).toBe(1)
      // A single failure is retried once.
      scene.fake.plan([{ on: 'auth.test', do: 'error', status: 502, times: 1 }])
      const asked = () => scene.fake.world.calls.filter(({ method }) => method === 'auth.test').length
      const before = asked()
      await until('it was asked again', () => asked() > before + 2)
      expect([scene.adapter.link?.state().state, scene.connects()]).toEqual(['up', 1])

      scene.fake.plan([{ on: '*', do: 'error', status: 502 }])
      await until('it is down', () => scene.adapter.link?.state().state === 'down')
      expect(scene.adapter.link?.state().detail).toContain('502')
      scene.fake.plan([])
      await until('it is up', () => scene.adapter.link?.state().state === 'up')
      expect(scene.connects()).toBe(2)
    } finally {
      await scene.close()
    }
  })

  it('[I15.revoked] tokens that others lose take nothing from us: the link says so as soon as Slack does', async () => {
    const scene = await openScene({ mode: 'events' })
    await scene.start()
    const { endpoint } = scene.adapter
    const event = { type: 'tokens_revoked', tokens: { oauth: ['U0KATE001'] } }
    const body = JSON.stringify({ type: 'event_callback', team_id: scene.fake.world.team.id, event })
    const tell = async () => {
      const verified = await endpoint?.verify(
        request({ at: Date.now(), secret: scene.fake.signingSecret, body }),
      )
      if (verified === undefined || isReply(verified)) throw new Error('not verified')
      await endpoint?.handle(verified)
    }
    try {
      await tell()
      await until('it is asked', () => scene.adapter.link?.state().state === 'up')
      scene.fake.refuseTokens('token_revoked')
      await tell()
      await until('Slack says no', () =>
        String(scene.adapter.link?.state().detail).startsWith('token_revoked:'),
      )
      expect(scene.adapter.link?.state().state).toBe('down')
      scene.fake.refuseTokens(null)
      await until('it counts again', () => scene.adapter.link?.state().state === 'up')
    } finally {
      await scene.close()
    }
  })

  it('[I15.events-retry] a post that was not answered comes again as the same message, and no look-up holds the answer up', async () => {
    const scene = await openScene({
      mode: 'events',
      ackMs: 3_000,
      retryMs: [5],
      faults: [{ on: 'users.info', do: 'deaf' }],
    })
    const heard: { readonly status: number; readonly retry: unknown }[] = []
    const door = createServer(async (incoming, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const headers = incoming.headers as Record<string, string>
      const given = { ...request(), headers, body: Buffer.concat(chunks) }
      const verified = await scene.adapter.endpoint?.verify(given)
      if (verified === undefined || isReply(verified)) return void response.writeHead(401).end()
      const reply = await scene.adapter.endpoint?.handle(verified)
      heard.push({
        status: reply?.status ?? 0,
        retry: headers['x-slack-retry-num'],
      })
      // The first answer is lost, so Slack posts again.
      if (heard.length === 2) return void incoming.socket.destroy()
      response.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body)
    })
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
    try {
      await scene.start()
      const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/`
      await scene.fake.http.use({ url, signingSecret: scene.fake.signingSecret })
      scene.fake.person().says('hello')
      await until('it came again', () => heard.length === 3)
      expect(heard.map(({ status, retry }) => [status, retry])).toEqual([
        [200, undefined],
        [200, undefined],
        [200, '1'],
      ])
      const [first, again] = scene.intake.events
      expect(again).toEqual(first)
      expect(first).toMatchObject({ kind: 'message', text: 'hello', sender: { id: 'U0KATE001' } })
      expect(DEFAULT_TIMINGS.namesMs).toBeLessThan(1_500)
    } finally {
      door.closeAllConnections()
      door.close()
      await scene.close()
    }
  })
})
