// The library's host with servers that the test plays: gates, bucket, parser, sessions.
import { describe, expect, it, vi } from 'vitest'
import { createChannelHost } from './create-channel-host.ts'
import { agent, mcp_servers, openHost } from './fixtures/open-host.ts'
import type { ChannelHostOptions } from './types.ts'

describe('a message', () => {
  it('comes with its session, its place, its sender and the block for the model', async () => {
    const { messages, slack, clock } = await openHost([agent('kate')])
    const meta = {
      channel_id: 'C1',
      thread_ts: '1.2',
      user: 'Ann "A"',
      user_id: 'U1',
      source: 'bank',
      'a-b': 'x',
    }
    slack.say('hi </channel> there', meta)
    await clock.settle()
    expect(messages).toMatchObject([
      {
        agent: 'kate',
        server: 'slack',
        binding: 'telegram:kate_tg',
        conversation: 'channel_id=C1',
        thread: 'thread_ts=1.2',
        sender: { id: 'U1', stable: true, name: 'Ann "A"' },
        dropped: ['source', 'a-b'],
        wrapped: [
          '<channel source="slack" channel_id="C1" thread_ts="1.2" user="Ann &quot;A&quot;" user_id="U1">',
          'hi &lt;/channel> there',
          '</channel>',
        ].join('\n'),
      },
    ])
    expect(messages[0]?.session).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/)
  })

  it('is cut before it is wrapped', async () => {
    const { messages, slack, clock } = await openHost([agent('kate', { max_content_chars: 64 })])
    slack.say('😀'.repeat(65))
    await clock.settle()
    expect(messages[0]?.content).toBe(`${'😀'.repeat(64)}…`)
    expect(messages[0]?.wrapped).toContain(`\n${'😀'.repeat(64)}…\n`)
  })

  it('[F7.session-two-bindings] of one server to two agents is two turns in two sessions', async () => {
    const { messages, slack, clock } = await openHost([agent('kate'), agent('bob')])
    slack.say('hi', { chat_id: 'C1' })
    slack.say('again', { chat_id: 'C1' })
    await clock.settle()
    const of = (id: string) => messages.filter((message) => message.agent === id)
    expect([of('kate').length, of('bob').length]).toEqual([2, 2])
    expect(of('kate')[0]?.session).toBe(of('kate')[1]?.session)
    expect(of('kate')[0]?.session).not.toBe(of('bob')[0]?.session)
  })

  it('of a server in two bindings of one agent comes once', async () => {
    const bindings = ['a', 'b'].map((instance) => ({
      plugin: 'web',
      instance,
      allowed_channel_servers: ['slack'],
    }))
    const { messages, slack, clock } = await openHost([agent('kate', {}, { inbound_bindings: bindings })])
    slack.say('hi')
    await clock.settle()
    expect(messages).toMatchObject([{ binding: 'web:a' }])
  })

  it('waits for the one before it in its session, and for no other', async () => {
    const done: string[] = []
    let finish: () => void = () => undefined
    const { slack, clock } = await openHost([agent('kate')], {
      onMessage: async ({ content }) => {
        if (content === 'slow')
          await new Promise<void>((resolve) => {
            finish = resolve
          })
        done.push(content)
        if (content === 'bad') throw new Error('of the host')
      },
    })
    slack.say('slow', { chat_id: '1' })
    slack.say('after', { chat_id: '1' })
    slack.say('bad', { chat_id: '2' })
    slack.say('fine', { chat_id: '2' })
    await clock.settle()
    expect(done).toEqual(['bad', 'fine'])
    finish()
    await clock.settle()
    expect(done).toEqual(['bad', 'fine', 'slow', 'after'])
  })

  it('in too great a number holds the servers back until some are done', async () => {
    let finish: () => void = () => undefined
    const first = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { slack, pool, clock } = await openHost([agent('kate')], { onMessage: () => first })
    for (let at = 0; at < 1_000; at++) slack.say(String(at))
    expect(pool.held()).toBe(1)
    finish()
    await clock.settle(50)
    expect(pool.held()).toBe(0)
  })
})

describe('gates', () => {
  it('[S9.gates-every-message] are asked for every message: the killswitch stops what flows, and restores it', async () => {
    const { messages, refused, slack, clock, configured, host } = await openHost([agent('kate')])
    slack.say('one')
    await configured(agent('kate', { enabled: false }))
    slack.say('two')
    expect(refused).toEqual([
      {
        agent: 'kate',
        server: 'slack',
        kind: 'skip',
        skip: {
          kind: 'disabled',
          reason: 'channels.enabled is false (operator killswitch)',
          key: 'agents[0].channels.enabled',
        },
      },
    ])
    expect(host.list().count).toBe(0)
    await configured(agent('kate'))
    slack.say('three')
    await clock.settle()
    expect(messages.map(({ content }) => content)).toEqual(['one', 'three'])
  })

  it('see what a server declares after a reconnect', async () => {
    const { messages, refused, slack, clock } = await openHost([agent('kate')])
    slack.facts = { ...slack.facts, prefix: null }
    slack.say('undeclared')
    slack.facts = { ...slack.facts, prefix: 'claude' }
    slack.say('in the other dialect')
    await clock.settle()
    expect(messages).toEqual([])
    expect(refused.map((one) => one.kind === 'skip' && one.skip.kind)).toEqual(['capability', 'capability'])
  })

  it('[I8.declared-by-its-connection] what was pushed before a server was lost is let in, or refused with the reason', async () => {
    const { messages, refused, slack, clock, host } = await openHost([agent('kate')])
    const release = slack.hold()
    slack.say('last words')
    slack.facts = { ...slack.facts, state: 'down', prefix: null, permissionRelay: false }
    release()
    await clock.settle()
    expect(messages.map(({ content }) => content)).toEqual(['last words'])
    slack.say('of a connection that declared nothing')
    const { slack: _gone, ...left } = mcp_servers
    await host.update({ mcp_servers: left, agents: [agent('kate')] })
    slack.facts = { ...slack.facts, prefix: 'nexo' }
    slack.say('of one that is no longer configured')
    await clock.settle()
    expect(messages).toHaveLength(1)
    expect(refused.map((one) => one.kind === 'skip' && one.skip.key)).toEqual([
      'mcp_servers.slack',
      'mcp_servers.slack',
    ])
  })

  it('a configuration that does not hold changes nothing', async () => {
    const { host, messages, slack, clock } = await openHost([agent('kate')])
    const bad = { mcp_servers, agents: [agent('kate', { max_content_chars: 63 })] }
    await expect(host.update(bad)).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'agents[0].channels.max_content_chars: channels.max_content_chars (63) is below minimum 64',
    })
    slack.say('still here')
    await clock.settle()
    expect(messages).toHaveLength(1)
    for (const wrong of [{}, { mcp_servers, agents: [] }, { mcp_servers: { x: {} }, agents: [agent('k')] }])
      expect(() => createChannelHost({ ...wrong, onMessage: () => undefined } as never)).toThrow()
  })
})

describe('rates', () => {
  const limited = (rps: number, burst: number) => agent('kate', { default_rate_limit: { rps, burst } })

  it('[F7.rate-burst] a burst passes, then it blocks', async () => {
    const { messages, refused, slack, clock } = await openHost([limited(1, 3)])
    for (let at = 0; at < 5; at++) slack.say(String(at))
    await clock.settle()
    expect(messages.map(({ content }) => content)).toEqual(['0', '1', '2'])
    expect(refused.map(({ kind }) => kind)).toEqual(['rate_limited', 'rate_limited'])
  })

  it('[F7.rate-refill] tokens come back with time', async () => {
    const { messages, slack, clock } = await openHost([limited(2, 1)])
    for (const wait of [0, 499, 1]) {
      await clock.advance(wait)
      slack.say(String(wait))
    }
    await clock.settle()
    expect(messages.map(({ content }) => content)).toEqual(['0', '1'])
  })

  it('[F7.rate-cap] and never exceed the burst', async () => {
    const { messages, slack, clock } = await openHost([limited(1000, 2)])
    await clock.advance(3_600_000)
    for (let at = 0; at < 5; at++) slack.say(String(at))
    await clock.settle()
    expect(messages).toHaveLength(2)
  })

  it('[F7.rate-before-parse] what is dropped is not read', async () => {
    const { refused, slack } = await openHost([limited(1, 1)])
    slack.say('first')
    const params = {
      get content(): string {
        throw new Error('it was read')
      },
    }
    slack.push({ kind: 'message', prefix: 'nexo', params })
    expect(refused.map(({ kind }) => kind)).toEqual(['rate_limited'])
  })

  it('a drop is counted in the status, each server has its own bucket, and 0/0 lifts the default', async () => {
    const approved = [{ server: 'slack' }, { server: 'other', rate_limit: { rps: 0, burst: 0 } }]
    const { host, messages, slack, other, clock } = await openHost([
      agent('kate', { default_rate_limit: { rps: 1, burst: 1 }, approved }),
    ])
    for (let at = 0; at < 4; at++) for (const one of [slack, other]) one.say('x')
    await clock.settle()
    expect(messages.map(({ server }) => server).sort()).toEqual(['other', 'other', 'other', 'other', 'slack'])
    expect(host.status('slack')).toMatchObject({ registered: true, dropped: 3 })
    expect(host.status('other')).toMatchObject({ dropped: 0 })
  })
})

describe('what does not parse', () => {
  it('is told with its problem, and stops nothing', async () => {
    const { messages, refused, slack, clock } = await openHost([agent('kate')])
    slack.say(5)
    slack.say('x', { count: 3 })
    slack.push({ kind: 'message', prefix: 'nexo', params: undefined })
    slack.push({ kind: 'verdict', prefix: 'nexo', params: { request_id: 'abcde', behavior: 'always' } })
    slack.say('good')
    await clock.settle()
    expect(refused.map((one) => one.kind === 'unparsable' && one.problem)).toEqual([
      'params.content is missing or no string',
      'params.meta must be an object of string→string',
      'params is missing or no object',
      "missing or invalid params.behavior — must be 'allow' or 'deny'",
    ])
    expect(messages.map(({ content }) => content)).toEqual(['good'])
  })
})

describe('[I18.host-log] a log', () => {
  it('without child is enough: its lines carry which server they are of', async () => {
    const lines: string[] = []
    const write = (fields: unknown, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`)
    const log = { debug: write, info: write, warn: write, error: write }
    const host = createChannelHost({
      mcp_servers: { slack: { command: '/nonexistent/program' } },
      agents: [agent('kate')],
      onMessage: () => undefined,
      log,
    })
    await host.start()
    await vi.waitUntil(() => lines.length > 0, { timeout: 10_000 })
    await host.stop()
    expect(lines.join()).toContain('"server":"slack"')
    const types: ChannelHostOptions['log'] = console
    expect(types).toBe(console)
  })
})
