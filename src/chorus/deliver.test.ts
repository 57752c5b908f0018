// The service's end of the library: how long callbacks and their events are remembered.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../testing/test-clock.ts'
import { createAgent, createService, deliver } from './index.ts'

const HOUR_MS = 3_600_000
const what = { channel: { id: 'C1' }, message: { id: 'msg_1', sender: 'alice', content: 'hello' } }

function opened() {
  const clock = createTestClock()
  const callbacks: string[] = []
  const heard: string[] = []
  const agent = { status: 200 }
  const service = createService({
    callbackBase: 'https://service.example.com/cb',
    onEvent: (event, { message }) => void heard.push(`${message.id} ${event.type}`),
    async fetch({ body }) {
      callbacks.push((JSON.parse(String(body)) as { callback: string }).callback)
      return { status: agent.status, headers: {}, body: Buffer.alloc(0), truncated: false }
    },
    clock,
  })
  const deliver = () => service.deliver('https://agent.example.com/inbox/sk_x', what)
  const call = async (callback: string | undefined, events: unknown) => {
    const request = new Request(callback ?? '', { method: 'POST', body: JSON.stringify(events) })
    return (await service.fetch(request)).status
  }
  return { clock, callbacks, heard, agent, deliver, call }
}
const status = (event_id: string) => ({ type: 'status', status: 'x', event_id })

describe('a callback', () => {
  it('[S8.library] is good for a day, known to be over for another, and then forgotten', async () => {
    const { clock, callbacks, deliver, call, heard } = opened()
    await deliver()
    await clock.advance(12 * HOUR_MS)
    await deliver()
    const [first, second] = callbacks
    expect([await call(first, status('1')), await call(second, status('1'))]).toEqual([200, 200])
    await clock.advance(12 * HOUR_MS)
    await deliver()
    expect([await call(first, status('2')), await call(second, status('2'))]).toEqual([410, 200])
    await clock.advance(25 * HOUR_MS)
    await deliver()
    expect([await call(first, status('3')), await call(second, status('3'))]).toEqual([404, 410])
    expect(heard).toHaveLength(3)
  })

  it.each([
    [422, 404],
    [410, 404],
    [302, 404],
    [500, 200],
    [429, 200],
  ])(
    '[S8.library] of a delivery answered %i is answered %i: who refused for good has no use for it',
    async (answered, then) => {
      const { callbacks, agent, deliver, call } = opened()
      agent.status = answered
      await expect(deliver()).rejects.toMatchObject({ message: `the agent answered ${answered}` })
      expect(await call(callbacks[0], status('1'))).toBe(then)
    },
  )

  it('[S8.library] takes an event once, and remembers the last ten thousand', async () => {
    const { callbacks, deliver, call, heard } = opened()
    await deliver()
    const [callback] = callbacks
    expect(await call(callback, status('first'))).toBe(200)
    expect(await call(callback, [status('first'), status('first')])).toBe(200)
    expect(heard).toHaveLength(1)
    expect(
      await call(
        callback,
        Array.from({ length: 9_999 }, (_, at) => status(`${at}`)),
      ),
    ).toBe(200)
    expect(await call(callback, status('first'))).toBe(200)
    expect(heard).toHaveLength(10_000)
    expect(await call(callback, [status('one more'), status('first')])).toBe(200)
    expect(heard).toHaveLength(10_002)
  })
})

describe('[I18.chorus-private] a private address', () => {
  it('is refused by the service with the option that opens it', async () => {
    for (const url of ['http://127.0.0.1:1/inbox/sk_planted', 'https://127.0.0.1:1/inbox/sk_planted']) {
      const refused = await deliver(url, { ...what, callback: 'https://x.example.com/cb' }).catch(String)
      expect(refused).toContain('allowPrivate: true')
      expect(refused).not.toContain('planted')
    }
  })

  it('is refused by the agent, in what onLost is told', async () => {
    const lost: string[] = []
    const agent = createAgent({
      async onMessage(_message, voice) {
        await voice.say('hello').catch(() => undefined)
      },
      onLost: (_event, error) => lost.push(error.message),
    })
    const body = JSON.stringify({ ...what, callback: 'http://127.0.0.1:1/cb_planted' })
    const response = await agent.fetch(new Request('https://a.example.com/', { method: 'POST', body }))
    await agent.settled()
    expect(response.status).toBe(200)
    expect(lost.length).toBeGreaterThan(0)
    for (const one of lost) expect(one).toMatch(/allowPrivate: true/)
    expect(lost.join()).not.toContain('planted')
  })
})
