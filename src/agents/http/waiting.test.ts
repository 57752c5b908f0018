// Waits of the connector `http`: a stop, an answer by the other endpoint, a question for a person.
import { describe, expect, it } from 'vitest'
import { SwitchboardError, type Verdict } from '../../contract/index.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { failure, NEVER, opened, reply, stream } from './fixtures/agent-scene.ts'

const { session } = delivery('')

describe('stopping', () => {
  it('[I16.http-stop] /stop ends the request, and what comes of it is not told', async () => {
    const { connector, recorded, posts } = await opened(() => NEVER)
    const delivered = failure(connector.deliver(delivery('hi')))
    await until(() => posts.length === 1)
    expect(await connector.cancel?.(session, 't_other')).toBe(false)
    expect(await connector.cancel?.(session, 't_test_1')).toBe(true)
    await delivered
    expect(posts[0]?.signal.aborted).toBe(true)
    expect(recorded.outputs).toEqual([])
  })

  it('[I16.http-stop] a stop waits for the answer that is being said', async () => {
    let answer: (response: Response) => void = () => undefined
    const coming = new Promise<Response>((resolve) => {
      answer = resolve
    })
    const { connector, recorded, posts } = await opened(() => coming)
    const delivered = connector.deliver(delivery('hi'))
    await until(() => posts.length === 1)
    const stopping = connector.stop()
    expect(recorded.attached).toBe(true)
    answer(reply({ text: 'just in time' }))
    await Promise.all([delivered, stopping])
    expect(recorded.outputs.at(-1)).toMatchObject({ kind: 'say', text: 'just in time' })
    expect(recorded.attached).toBe(false)
  })

  it('[I16.http-stop] but not for ever: what had no 2xx goes back to be posted again', async () => {
    const { connector, posts, clock } = await opened(() => NEVER)
    const delivered = failure(connector.deliver(delivery('hi')))
    await until(() => posts.length === 1)
    const stopping = connector.stop()
    await clock.advance(5_000)
    await stopping
    expect((await delivered).nature.retryable).toBe(true)
  })

  it('[I35.b25-stopped] what is still open after a stop tells nobody, and ends nothing, when its time comes', async () => {
    const body = stream(['{"text":"Hel"}\n'], 'application/x-ndjson', 'open')
    const { connector, recorded, clock } = await opened(() => body, { timeout: '90s' })
    const unhandled: unknown[] = []
    const hear = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', hear)
    try {
      void connector.deliver(delivery('hi')).catch(() => undefined)
      await until(() => recorded.outputs.length > 0)
      const stopping = connector.stop()
      await clock.advance(5_000)
      await stopping
      const before = recorded.outputs.length
      // A sign of life was due each minute, and the end after 90 s.
      await clock.advance(200_000)
      expect(recorded.outputs).toHaveLength(before)
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', hear)
    }
  })

  it('[I16.http-later] an answer at reply_url ends the hand-over, though the response is still open', async () => {
    const { connector, callback, posts } = await opened(() => NEVER)
    const delivered = connector.deliver(delivery('hi'))
    await until(() => posts.length === 1)
    await callback({ text: 'by the other door' })
    await delivered
    expect(posts[0]?.signal.aborted).toBe(false)
  })
})

describe('the time of an answer', () => {
  it('[I35.b25] stands still while a person is asked, and runs on behind that', async () => {
    const { connector, recorded, posts, clock, last } = await opened(() => NEVER, { timeout: '90s' })
    const delivered = connector.deliver(delivery('hi'))
    await until(() => posts.length === 1)
    const turns = async () => {
      for (let at = 0; at < 20; at++) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    // Ten minutes of it.
    for (let at = 0; at < 10; at++) {
      recorded.asked += 60_000
      await clock.advance(60_000)
      await turns()
    }
    expect(posts[0]?.signal.aborted).toBe(false)
    await clock.advance(89_000)
    await turns()
    expect(posts[0]?.signal.aborted).toBe(false)
    await clock.advance(1_000)
    await delivered
    expect(last()).toMatchObject({ kind: 'failed', reason: 'agent_silent', detail: 'no answer within 90 s' })
    expect(recorded.reached.at(-1)).toBe('no answer within 90 s')
  })

  it('[I35.b25] is not over while nobody can tell whether a person is asked', async () => {
    const { connector, recorded, posts, clock, last } = await opened(() => NEVER, { timeout: '90s' })
    const delivered = connector.deliver(delivery('hi'))
    await until(() => posts.length === 1)
    const before = recorded.asked
    let asks = 0
    Object.defineProperty(recorded, 'asked', {
      get() {
        if (++asks > 5) return before
        throw new SwitchboardError('store_unavailable', 'the store is away')
      },
    })
    await clock.advance(93_000)
    expect(posts[0]?.signal.aborted).toBe(false)
    await clock.advance(5_000)
    await delivered
    expect([asks, last()]).toMatchObject([6, { kind: 'failed', reason: 'agent_silent' }])
  })
})

describe('a question', () => {
  const VERDICT: Verdict = {
    ...{
      approval: 'o_test_1',
      session,
      turn: 't_test_1',
      behavior: 'allow',
      decidedBy: 'anna',
      cause: 'person',
    },
    ask: { toolName: 'Bash', description: '', input: 'ls' },
  }

  it('[I16.http-ask] [I35.b19a] waits for its verdict, and tells it, also to whoever asks again', async () => {
    const { callback, recorded, connector } = await opened()
    const asking = callback({ ask: { tool: 'Bash', description: 'List', input: { cmd: 'ls' }, id: 'q1' } })
    const asked = await recorded.until('ask')
    expect(asked).toMatchObject({
      ...{ kind: 'ask', turn: 't_test_1', session },
      ask: {
        toolName: 'Bash',
        description: 'List',
        input: '{\n  "cmd": "ls"\n}',
        requestId: 't_test_1:q1',
        host: 'http',
      },
    })
    let looks = 0
    recorded.standing = async () => (++looks === 1 ? 'pending' : VERDICT)
    await until(() => looks === 1)
    await until(async () => (await connector.verdict?.(VERDICT)) === 'relayed')
    const answered = await asking
    expect(answered?.status).toBe(200)
    expect(JSON.parse(String(answered?.body))).toEqual({
      ...{
        ok: true,
        approval: 'o_test_1',
        state: 'decided',
        allowed: true,
        behavior: 'allow',
        by: 'anna',
        cause: 'person',
      },
    })
    // A repeated verdict is marked as a repeat.
    recorded.standing = async () => ({ ...VERDICT, repeat: true })
    const again = await callback({
      ask: { tool: 'Bash', description: 'List', input: { cmd: 'ls' }, id: 'q1' },
    })
    expect(JSON.parse(String(again?.body))).toMatchObject({ allowed: true, repeat: true })
    // No request waits any more, so the next one fetches it.
    expect(await connector.verdict?.(VERDICT)).toBe('fetched')
  })

  it('[I14.asks-per-turn] questions that come at once are taken one after the other, so that they can be counted', async () => {
    const { callback, recorded } = await opened()
    let [open, most] = [0, 0]
    recorded.standing = async () => VERDICT
    recorded.hold = async () => {
      most = Math.max(most, ++open)
      await new Promise<void>((resolve) => setImmediate(resolve))
      open -= 1
    }
    await Promise.all(Array.from({ length: 5 }, (_, at) => callback({ ask: { tool: 'Bash', id: `q${at}` } })))
    expect(recorded.outputs.filter(({ kind }) => kind === 'ask')).toHaveLength(5)
    expect(most).toBe(1)
  })

  it('[I16.http-ask] nobody answers for 25 s: 202 with an id to fetch it by', async () => {
    const { callback, recorded, clock } = await opened()
    const asking = callback({ ask: { tool: 'Bash' } })
    await recorded.until('ask')
    let over = false
    void asking?.then(() => {
      over = true
    })
    await until(async () => {
      await clock.advance(1_000)
      return over
    })
    expect(clock.now()).toBeGreaterThanOrEqual(25_000)
    const body = JSON.parse(String((await asking)?.body)) as { approval: string }
    expect((await asking)?.status).toBe(202)
    recorded.standing = async (approval, turn) =>
      approval === body.approval && turn === 't_test_1'
        ? { ...VERDICT, behavior: 'deny', cause: 'expired' }
        : Promise.reject(new SwitchboardError('not_found', 'no such approval'))
    const fetched = await callback('', {}, 'GET', `approval=${body.approval}`)
    expect(JSON.parse(String(fetched?.body))).toMatchObject({ allowed: false, cause: 'expired' })
    expect(await failure(callback('', {}, 'GET', 'approval=zzzzz'))).toMatchObject({ code: 'not_found' })
  })
})

async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 1_000; round++) {
    if (await met()) return
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  throw new Error('it never came to it')
}
