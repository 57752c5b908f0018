// Parsing of pushes: every error, the two dialects, the keys of a place, and the cut.
import { describe, expect, it } from 'vitest'
import { type ServerPush, sessionId } from '../../contract/index.ts'
import { truncate, wrapChannel } from '../../kit/index.ts'
import { outboundArguments } from './outbound-arguments.ts'
import { newsOf, parseMessage, parseVerdict, senderOf } from './parse.ts'
import { placeOf } from './thread.ts'

const message = (prefix: 'claude' | 'nexo', params: unknown): ServerPush => ({
  kind: 'message',
  prefix,
  params,
})
const parse = (prefix: 'claude' | 'nexo', params: unknown) => parseMessage('slack', message(prefix, params))
const failure = (kind: string) => ({ ok: false, error: { kind } })
const BOTH = ['claude', 'nexo'] as const

describe('a message', () => {
  it('[F7.parse-method] of another method is a typed error', () => {
    for (const method of ['notifications/other/channel', 'notifications/nexo/channels', 'tools/call', ''])
      expect(newsOf(method, {})).toMatchObject(failure('method'))
    expect(parseMessage('slack', { kind: 'verdict', prefix: 'nexo', params: {} })).toMatchObject(
      failure('method'),
    )
    expect(newsOf('notifications/nexo/channel', 1)).toEqual({ ok: true, value: message('nexo', 1) })
    expect(newsOf('notifications/claude/channel/permission', 1)).toMatchObject({ value: { kind: 'verdict' } })
    expect(newsOf('notifications/claude/channel/permission_request', 1)).toMatchObject(failure('method'))
  })

  it.each([undefined, null, 'text', 5, [], true])(
    '[F7.parse-params] with params %j is a typed error',
    (params) => {
      for (const prefix of BOTH) expect(parse(prefix, params)).toMatchObject(failure('params'))
    },
  )

  it.each([undefined, null, 5, {}, ['x']])(
    '[F7.parse-content] with content %j is a typed error',
    (content) => {
      for (const prefix of BOTH) expect(parse(prefix, { content })).toMatchObject(failure('content'))
    },
  )

  it.each(['x', 5, [], ['a'], true])('[F7.parse-meta] with meta %j is an error under nexo', (meta) => {
    expect(parse('nexo', { content: 'hi', meta })).toMatchObject({
      ok: false,
      error: { kind: 'meta', text: 'params.meta must be an object of string→string' },
    })
    expect(parse('claude', { content: 'hi', meta })).toMatchObject({ ok: true, value: { dropped: ['meta'] } })
  })

  it('[F7.parse-server] of a server without a name is a typed error', () => {
    for (const name of ['', '  ']) {
      expect(parseMessage(name, message('nexo', { content: 'hi' }))).toMatchObject(failure('server'))
    }
  })

  it('[F7.parse-empty-content] with empty content is taken', () => {
    for (const prefix of BOTH)
      expect(parse(prefix, { content: '' })).toMatchObject({ ok: true, value: { content: '' } })
  })

  it('[F7.parse-null-meta] with null as meta loses the message (nexo) or the meta (claude), and says so', () => {
    expect(parse('nexo', { content: 'hi', meta: null })).toMatchObject(failure('meta'))
    expect(parse('claude', { content: 'hi', meta: null })).toEqual({
      ok: true,
      value: { content: 'hi', meta: {}, dropped: ['meta'] },
    })
  })

  it.each([3, null, true, {}, ['x'], 'y'.repeat(1_048_576)])(
    '[F7.parse-number-value] a bad value loses the message (nexo) or the key (claude), and says so',
    (count) => {
      const params = { content: 'hi', meta: { chat_id: 'C1', count } }
      expect(parse('nexo', params)).toMatchObject(failure('meta'))
      expect(parse('claude', params)).toEqual({
        ok: true,
        value: { content: 'hi', meta: { chat_id: 'C1' }, dropped: ['count'] },
      })
    },
  )

  it('[F7.parse-bad-keys] unsafe keys are dropped and counted under both', () => {
    const meta = {
      'a-b': '1',
      '1a': '2',
      '': '3',
      'a"': '4',
      _ok: '5',
      B2: '6',
      [`${'k'.repeat(1000)}!`]: '7',
    }
    for (const prefix of BOTH) {
      const parsed = parse(prefix, { content: 'hi', meta })
      expect(parsed).toMatchObject({ ok: true, value: { meta: { _ok: '5', B2: '6' } } })
      const dropped = parsed.ok ? parsed.value.dropped : []
      expect(dropped).toEqual(
        ['1a', 'a-b', '', 'a"', `${'k'.repeat(64)}…`].sort((a, b) => dropped.indexOf(a) - dropped.indexOf(b)),
      )
      expect(dropped).toHaveLength(5)
    }
  })

  it('[F7.parse-source-key] a key "source" never stands for the source', () => {
    for (const prefix of BOTH) {
      const parsed = parse(prefix, { content: 'hi', meta: { source: 'bank', user: 'ann' } })
      const value = parsed.ok ? parsed.value : null
      expect(value).toEqual({ content: 'hi', meta: { user: 'ann' }, dropped: ['source'] })
      expect(wrapChannel('slack', value?.meta ?? {}, 'hi').text).toBe(
        '<channel source="slack" user="ann">\nhi\n</channel>',
      )
    }
  })

  it('keys of the language itself are plain keys, and too many are too many', () => {
    const parsed = parse('claude', JSON.parse('{"content":"hi","meta":{"__proto__":"x","constructor":"y"}}'))
    expect(parsed.ok && Object.entries(parsed.value.meta)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'v']))
    const kept = parse('nexo', { content: 'hi', meta: many })
    expect(kept.ok && [Object.keys(kept.value.meta).length, kept.value.dropped.length]).toEqual([64, 64])
  })
})

describe('a verdict', () => {
  const verdict = (params: unknown) => parseVerdict({ kind: 'verdict', prefix: 'nexo', params })

  it('is allow or deny in any case, for an id', () => {
    expect(verdict({ request_id: 'ABCDE', behavior: 'Allow' })).toEqual({
      ok: true,
      value: { approval: 'abcde', behavior: 'allow' },
    })
    expect(verdict({ request_id: 'Own-Id7', behavior: 'deny' })).toMatchObject({
      value: { approval: 'Own-Id7' },
    })
  })

  it('without an id or with another behaviour is a typed error', () => {
    for (const request_id of [undefined, '', 5, null, 'x'.repeat(201), 'ab\u0000de', 'ab\ud800de'])
      expect(verdict({ request_id, behavior: 'allow' })).toMatchObject(failure('request_id'))
    for (const behavior of [undefined, 'always', '', 1, ['allow']])
      expect(verdict({ request_id: 'abcde', behavior })).toMatchObject({
        ok: false,
        error: { kind: 'behavior', text: "missing or invalid params.behavior — must be 'allow' or 'deny'" },
      })
    for (const params of [undefined, null, [], 'x']) expect(verdict(params)).toMatchObject(failure('params'))
    expect(parseVerdict(message('nexo', {}))).toMatchObject(failure('method'))
  })
})

describe('the sender', () => {
  it('is the id where there is one, else the name, else the server', () => {
    expect(senderOf('slack', { user_id: 'U1', user: 'Ann' })).toEqual({ id: 'U1', stable: true, name: 'Ann' })
    expect(senderOf('slack', { user: 'Ann' })).toEqual({ id: 'Ann', stable: false, name: 'Ann' })
    expect(senderOf('slack', { user_id: '', user: '' })).toEqual({ id: 'slack', stable: false })
  })
})

describe('the place', () => {
  it('[F7.session-priority] [S5.mcp-thread-order] [S5.mcp-no-thread] the keys win in their order', () => {
    const order = ['chat_id', 'conversation_id', 'room_id', 'channel_id', 'to']
    for (let first = 0; first < order.length; first++) {
      const meta = Object.fromEntries(
        order
          .slice(first)
          .map((key) => [key, `v-${key}`])
          .reverse(),
      )
      expect(placeOf(meta)).toEqual({ conversation: `${order[first]}=v-${order[first]}` })
    }
    expect(placeOf({ thread_id: 't2', thread_ts: 't1', chat_id: 'C' }).thread).toBe('thread_ts=t1')
    expect(placeOf({ thread_id: 't2', chat_id: 'C' }).thread).toBe('thread_id=t2')
    expect(placeOf({ user: 'ann', user_id: 'U1' })).toEqual({ conversation: 'all' })
    expect(placeOf({ thread_ts: 't1' })).toEqual({ conversation: 'thread_ts=t1' })
  })

  it('[F7.session-empty] an empty value falls through to the next key', () => {
    expect(placeOf({ thread_ts: '', thread_id: '7', chat_id: '', room_id: 'R' })).toEqual({
      conversation: 'room_id=R',
      thread: 'thread_id=7',
    })
    expect(placeOf({ thread_ts: '', chat_id: '' })).toEqual({ conversation: 'all' })
  })

  it('[F7.session-two-channels] [S5.mcp-parent-joined] one thread_ts in two channels is two places', () => {
    const one = placeOf({ thread_ts: '1.2', channel_id: 'C1' })
    const two = placeOf({ thread_ts: '1.2', channel_id: 'C2' })
    expect(one).not.toEqual(two)
    expect(sessionId(JSON.stringify(one), 0)).not.toBe(sessionId(JSON.stringify(two), 0))
  })

  it('leads back to where it came from, whatever the values hold', () => {
    const ANY = { name: 'send_message', arguments: null }
    for (const meta of [{ chat_id: 'a=b|c/%2F' }, { to: 'x', thread_ts: '=' }, { thread_id: '9' }, {}])
      expect(outboundArguments({ text: 'x', place: placeOf(meta) }, ANY, null)).toEqual({
        text: 'x',
        ...meta,
      })
  })
})

describe('the cut', () => {
  it('[F7.cut-astral] counts a character beyond the first plane as one', () => {
    expect(truncate('😀'.repeat(65), 64)).toBe(`${'😀'.repeat(64)}…`)
  })
  it('[F7.cut-exact] leaves content at the cap alone', () => {
    for (const char of ['a', '😀']) expect(truncate(char.repeat(64), 64)).toBe(char.repeat(64))
  })
  it('[F7.cut-over] cuts one more than the cap, and marks it', () => {
    expect(truncate(`${'a'.repeat(64)}b`, 64)).toBe(`${'a'.repeat(64)}…`)
    expect(truncate('a'.repeat(100_000), 0)).toHaveLength(100_000)
  })
})
