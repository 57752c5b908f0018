// The library of both ends without a socket, as web-standard runtimes use it.
import { describe, expect, it } from 'vitest'
import { createAgent, createService, deliver } from './index.ts'

describe('the library on web-standard runtimes', () => {
  const delivery = {
    channel: { id: 'C04ABCDEF' },
    message: { id: 'msg_1', sender: 'alice', content: 'hello' },
    callback: 'https://slack-adapter.example.com/cb/C04ABCDEF/tok_abc123',
  }
  const request = (path: string, body: unknown, method = 'POST') =>
    new Request(`https://agent.example.com${path}`, {
      method,
      ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })

  it('[S8.library] both ends meet without a socket: order, lifecycle first and last, an error when it throws', async () => {
    const events: string[] = []
    const lost: string[] = []
    const service = createService({
      callbackBase: 'https://service.example.com/cb',
      async onEvent(event) {
        events.push(event.type === 'message' ? event.content : 'status' in event ? event.status : event.type)
      },
      fetch: async ({ url, body, headers }) => {
        const answer = await agent.fetch(
          new Request(url, { method: 'POST', body: String(body), headers: { ...headers } }),
        )
        return { status: answer.status, headers: {}, body: Buffer.alloc(0), truncated: false }
      },
    })
    let failing = 1
    const agent = createAgent({
      secret: 'sk_x',
      onLost: (event) => lost.push(event.type),
      async onMessage(message, voice) {
        void voice.say('one')
        void voice.say('two')
        if (message.content === 'break') throw new Error('out of credit')
      },
      fetch: async ({ url, body, headers }) => {
        if (failing-- > 0) return { status: 500, headers: {}, body: Buffer.alloc(0), truncated: false }
        const answer = await service.fetch(
          new Request(url, { method: 'POST', body: String(body), headers: { ...headers } }),
        )
        return { status: answer.status, headers: {}, body: Buffer.alloc(0), truncated: false }
      },
    })
    const { callback: _callback, ...what } = delivery
    await service.deliver('https://agent.example.com/inbox/sk_x', what)
    await service.deliver('https://agent.example.com/inbox/sk_x', {
      ...what,
      message: { ...what.message, id: 'msg_2', content: 'break' },
    })
    await agent.settled()
    expect(events).toEqual(['processing', 'one', 'two', 'idle', 'processing', 'one', 'two', 'error', 'idle'])
    expect(lost).toEqual([])
    await expect(deliver('https://127.0.0.1/inbox/sk_x', delivery)).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  it('[S8.library] bad input is named, a wrong secret is not found', async () => {
    const heard: string[] = []
    const agent = createAgent({ secret: 'sk_x', onMessage: (message) => void heard.push(message.id) })
    const answers = async (path: string, body: unknown, method?: string) => {
      const answer = await agent.fetch(request(path, body, method))
      return [answer.status, ((await answer.json()) as { error?: string }).error ?? ''] as const
    }
    expect((await answers('/inbox/sk_y', delivery))[0]).toBe(404)
    expect((await answers('/inbox/sk_x', '', 'GET'))[0]).toBe(405)
    expect(await answers('/inbox/sk_x', '{')).toEqual([400, 'the body is not JSON'])
    const { callback: _callback, ...without } = delivery
    expect(await answers('/inbox/sk_x', without)).toEqual([400, 'callback is required'])
    expect((await answers('/inbox/sk_x', 'x'.repeat(1_048_577)))[0]).toBe(413)
    expect(heard).toEqual([])
    const service = createService({ callbackBase: 'https://s.example.com', onEvent: () => undefined })
    expect((await service.fetch(request('/tok_wrong', {}))).status).toBe(404)
  })
})
