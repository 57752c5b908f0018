// The `idle` of a delivery under trouble: it is due until the callback accepted it, refused it, or expired.
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { seed } from './fixtures/chorus-scene.ts'
import { opened } from './fixtures/opened-chorus.ts'

const HOUR_MS = 3_600_000
const ALL = ['lifecycle processing', 'lifecycle idle']

async function begun() {
  const chorus = await opened()
  await chorus.receive(seed('minimal'))
  await chorus.move('msg_1', 'handed')
  return chorus
}

describe('idle', () => {
  it('[S8.lifecycle] is told when the callback comes back after hours', async () => {
    const { move, deps, callbacks, shown } = await begun()
    callbacks.down.status = 503
    await move('msg_1', 'answered')
    await deps.clock.advance(5 * HOUR_MS)
    expect(shown()).toEqual(['lifecycle processing'])
    callbacks.down.status = null
    await deps.clock.advance(60_000)
    expect(shown()).toEqual(ALL)
    await deps.clock.advance(HOUR_MS)
    expect(shown()).toEqual(ALL)
  })

  it('[I14.chorus-idle-gone] nothing more is posted to a callback that said it is no more', async () => {
    const { move, deps, callbacks, say } = await begun()
    callbacks.down.status = 404
    await say('msg_1', 'the answer').catch(() => undefined)
    const asked = callbacks.down.asked
    await move('msg_1', 'answered')
    await deps.clock.advance(HOUR_MS)
    expect(callbacks.down.asked).toBe(asked)
  })

  it('[I14.chorus-idle-soon] follows soon after an answer whose callback had to be tried again for long', async () => {
    const { move, deps, say, callbacks, shown } = await begun()
    callbacks.down.status = 503
    await say('msg_1', 'the answer').catch(() => undefined)
    deps.rows.push({
      ...(deps.rows[0] as (typeof deps.rows)[number]),
      direction: 'out',
      id: 'o_1',
      seq: 1,
      state: 'queued',
    })
    await move('msg_1', 'answered')
    await deps.clock.advance(50_000)
    callbacks.down.status = null
    await say('msg_1', 'the answer')
    // The outbox records the send a moment after it happened.
    await deps.clock.advance(10)
    deps.rows.splice(-1, 1)
    await deps.clock.advance(200)
    expect(shown().at(-1)).toBe('lifecycle idle')
  })

  it('[S8.lifecycle] is told when the store comes back after hours', async () => {
    const { move, deps, shown } = await begun()
    deps.trouble.transcript = new SwitchboardError('store_unavailable', 'the store is away')
    await move('msg_1', 'answered')
    await deps.clock.advance(5 * HOUR_MS)
    expect(shown()).toEqual(['lifecycle processing'])
    deps.trouble.transcript = null
    await deps.clock.advance(60_000)
    expect(shown()).toEqual(ALL)
  })

  it('[S8.lifecycle] a service that asks for a pause is given it', async () => {
    const { move, deps, callbacks } = await begun()
    callbacks.down.status = 429
    callbacks.down.headers = { 'retry-after': '600' }
    await move('msg_1', 'answered')
    await deps.clock.advance(HOUR_MS)
    expect(callbacks.down.asked).toBe(7)
  })

  it('[S8.lifecycle] told once, it is not told again while that cannot be written down', async () => {
    const { move, deps, shown } = await begun()
    const shelf = deps.credentials as NonNullable<typeof deps.credentials>
    const { put } = shelf
    Object.assign(shelf, { put: () => Promise.reject(new Error('the disk is full')) })
    await move('msg_1', 'answered')
    await deps.clock.advance(HOUR_MS)
    expect(shown()).toEqual(ALL)
    Object.assign(shelf, { put })
    await deps.clock.advance(60_000)
    expect([...deps.kept.values()].map((text) => JSON.parse(text))).toMatchObject([{ done: true }])
    expect(shown()).toEqual(ALL)
  })

  it('is given up when the callback is over, and that is told in the log', async () => {
    const { move, deps, callbacks, shown } = await begun()
    callbacks.down.status = 503
    await move('msg_1', 'answered')
    await deps.clock.advance(26 * HOUR_MS)
    expect([shown(), deps.kept.size]).toEqual([['lifecycle processing'], 0])
    expect(deps.log.lines.join('\n')).toContain('the end of a delivery was not told')
    const { asked } = callbacks.down
    await deps.clock.advance(HOUR_MS)
    expect(callbacks.down.asked).toBe(asked)
  })
})

describe('what a chain passes on', () => {
  it('[I14.chorus-tool-events] the tools that the agent ran, in order, between processing and idle', async () => {
    const { adapter, deps, move, callbacks } = await begun()
    const to = { integration: 'miriad', conversation: deps.rows[0]?.conversation ?? '' }
    const tool = { kind: 'tool', messageId: 'msg_1', call: 'tc_1', name: 'search' } as const
    adapter.signal?.(to, { ...tool, event: 'tool_call', text: '{"q":"a"}' })
    adapter.signal?.(to, { ...tool, event: 'tool_result', name: null, text: 'found' })
    await deps.clock.settle()
    await move('msg_1', 'answered')
    await deps.clock.advance(60_000)
    expect(callbacks.posts.map(({ event }) => event)).toMatchObject([
      { type: 'lifecycle', status: 'processing' },
      { type: 'tool_call', name: 'search', args: { q: 'a' }, id: 'tc_1' },
      { type: 'tool_result', content: 'found', id: 'tc_1' },
      { type: 'lifecycle', status: 'idle' },
    ])
  })

  it('[I35.left-chain-status] a tool call is told once: the status line that names it is not passed on, any other is', async () => {
    const { adapter, deps, move, callbacks } = await begun()
    const to = { integration: 'miriad', conversation: deps.rows[0]?.conversation ?? '' }
    const turn = deps.rows[0]?.id ?? ''
    adapter.signal?.(to, { kind: 'status', turn, text: '🔧 search', call: true })
    const tool = { kind: 'tool', messageId: 'msg_1', call: 'tc_1', name: 'search' } as const
    adapter.signal?.(to, { ...tool, event: 'tool_call', text: '{"q":"a"}' })
    await deps.clock.settle()
    adapter.signal?.(to, { kind: 'status', turn, text: 'thinking' })
    await deps.clock.settle()
    await move('msg_1', 'answered')
    await deps.clock.advance(60_000)
    expect(callbacks.posts.map(({ event }) => event)).toMatchObject([
      { type: 'lifecycle', status: 'processing' },
      { type: 'tool_call', name: 'search' },
      { type: 'status', status: 'thinking' },
      { type: 'lifecycle', status: 'idle' },
    ])
  })

  it('[I14.chorus-error-code] a failure with its own code and without our marks around it', async () => {
    const { adapter, deps, move, callbacks } = await begun()
    await move('msg_1', 'failed')
    const row = deps.rows[0]
    const send = (key: string, op: { text: string; failure?: { message: string; code?: string } }) =>
      adapter.send({
        to: { integration: 'miriad', conversation: row?.conversation ?? '' },
        op: { kind: 'text', ...op },
        ...{ key, seq: 1, cause: 'notice', turn: row?.id ?? '' },
      })
    const text = '⚠️ Your message was not answered. It waited too long.'
    await send('o_1', { text, failure: { message: 'boom', code: 'quota' } })
    await send('o_2', { text })
    const errors = callbacks.posts.map(({ event }) => event).filter(({ type }) => type === 'error')
    expect(errors).toMatchObject([
      { message: 'boom', code: 'quota' },
      { message: 'It waited too long.', code: 'turn_failed' },
    ])
  })
})
