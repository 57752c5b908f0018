// Refusals of WhatsApp, reported correctly: the 24-hour window, every error, the token, the limits.
import { afterEach, describe, expect, it } from 'vitest'
import type { SwitchboardError } from '../../contract/index.ts'
import type { FaultRule } from '../../testing/emulate.ts'
import { refuse } from '../../testing/whatsapp/graph-errors.ts'
import { fromKate, NOON, openScene, type Scene, until } from './fixtures/whatsapp-scene.ts'
import { refusalOf } from './refusals.ts'

const KATE = '4915112345678'
const HOUR = 3_600_000
let scene: Scene

const open = async (options: Parameters<typeof openScene>[0] = {}) => {
  scene = await openScene({ statuses: [], ...options })
  await scene.start()
  await scene.change(fromKate('text', { body: 'hi' }))
  const kate = scene.fake.person()
  kate.says('hi')
  return kate
}
afterEach(() => scene.close())
const failure = async (sending: Promise<unknown>): Promise<SwitchboardError> =>
  sending.then(
    () => Promise.reject(new Error('it was sent')),
    (thrown: SwitchboardError) => thrown,
  )

describe('the 24-hour window', () => {
  it('[I24.window] [S7.whatsapp-window] closed, a text is refused by us with the time, and nothing is sent', async () => {
    await open()
    await scene.send(KATE, { kind: 'text', text: 'in time' })
    await scene.clock.advance(24 * HOUR)
    const before = scene.fake.world.calls.length
    const error = await failure(scene.send(KATE, { kind: 'text', text: 'too late' }))
    expect(error.code).toBe('window_closed')
    expect(error.message).toContain(new Date(NOON + 24 * HOUR).toISOString())
    expect(error.hint).toContain('template')
    expect(scene.fake.world.calls).toHaveLength(before)
    for (const op of [
      { kind: 'prompt', approval: 'a', text: 'x', choices: [] },
      { kind: 'react', on: 'w', emoji: '👍' },
    ] as const)
      expect((await failure(scene.send(KATE, op))).code).toBe('window_closed')
    expect((await failure(scene.send('4999', { kind: 'text', text: 'never wrote' }))).code).toBe(
      'window_closed',
    )
    await scene.change(
      fromKate(
        'text',
        { body: 'again' },
        { id: 'wamid.again', timestamp: String(scene.clock.now() / 1_000) },
      ),
    )
    scene.fake.person().says('again')
    await scene.send(KATE, { kind: 'text', text: 'open again' })
  })

  it('[I24.window] is counted from when it was said, not from when it came; and from the transcript after a restart', async () => {
    const meta = { timestamp: String((NOON - 2 * HOUR) / 1_000) }
    const said = {
      seq: 1,
      direction: 'in',
      id: 't',
      conversation: '4977',
      at: NOON,
      text: 'x',
      state: 'answered',
      reason: null,
      meta,
    } as const
    await open({
      transcript: ({ sender, direction }) => (sender === '4977' && direction === 'in' ? [said] : []),
    })
    await scene.change(
      fromKate(
        'text',
        { body: 'old' },
        { from: '4988', from_user_id: 'DE.2', id: 'w', timestamp: String((NOON - 25 * HOUR) / 1_000) },
      ),
    )
    expect((await failure(scene.send('4988', { kind: 'text', text: 'x' }))).message).toContain(
      new Date(NOON - HOUR).toISOString(),
    )
    await scene.send('4977', { kind: 'text', text: 'x' })
    await scene.clock.advance(22 * HOUR)
    expect((await failure(scene.send('4977', { kind: 'text', text: 'x' }))).message).toContain(
      new Date(NOON + 22 * HOUR).toISOString(),
    )
  })

  it('[I24.window-template] a template goes while it is closed, and says what is wrong with it', async () => {
    await open()
    await scene.clock.advance(30 * HOUR)
    scene.fake.world.templates.set('order_update', { language: 'en', body: 'Order {{1}}: {{2}}' })
    const template = { name: 'order_update', language: 'en', parameters: ['7', 'on its way'] }
    await scene.send(KATE, { kind: 'text', text: 'the order', template })
    expect(scene.fake.world.shown(KATE).at(-1)).toMatchObject({
      type: 'template',
      text: 'Order 7: on its way',
    })
    expect(
      (
        await failure(
          scene.send(KATE, { kind: 'text', text: 'x', template: { ...template, parameters: [] } }),
        )
      ).message,
    ).toMatch(/^132000/)
    expect(
      (
        await failure(
          scene.send(KATE, { kind: 'text', text: 'x', template: { ...template, language: 'de' } }),
        )
      ).message,
    ).toMatch(/^132001/)
  })

  it('[I24.window-platform] 131047 of the API is the same', async () => {
    await open({ refusesAtOnce: true })
    scene.fake.world.wrote('4970', NOON - 30 * HOUR)
    await scene.change(fromKate('text', { body: 'x' }, { from: '4970', from_user_id: 'DE.3', id: 'w' }))
    const error = await failure(scene.send('4970', { kind: 'text', text: 'x' }))
    expect([error.code, error.message.slice(0, 7)]).toEqual(['window_closed', '131047:'])
  })
})

describe('errors', () => {
  const answered = { status: 400, retryAfterMs: null }
  it.each([
    [190, 'platform_unavailable'],
    [0, 'platform_unavailable'],
    [10, 'platform_unavailable'],
    [200, 'platform_unavailable'],
    [131042, 'platform_unavailable'],
    [1, 'platform_unavailable'],
    [131000, 'platform_unavailable'],
    [131016, 'platform_unavailable'],
    [4, 'rate_limited'],
    [80007, 'rate_limited'],
    [130429, 'rate_limited'],
    [131056, 'rate_limited'],
    [131047, 'window_closed'],
    [100, 'platform_rejected'],
    [131009, 'platform_rejected'],
    [131021, 'platform_rejected'],
    [131026, 'platform_rejected'],
    [131048, 'platform_rejected'],
    [131051, 'platform_rejected'],
    [132001, 'platform_rejected'],
    [999_999, 'platform_rejected'],
  ])('[I24.wa-errors] %i is %s, and the code stands first', (code, meaning) => {
    const error = refusalOf(
      { error: { code, message: 'words', error_data: { details: 'details' } } },
      answered,
    )
    expect(error?.code).toBe(meaning)
    expect(error?.message).toMatch(new RegExp(`^${code}: .*details`))
    if (meaning === 'rate_limited') expect(error?.retryAfterMs).toBeGreaterThan(0)
  })

  it.each([
    [500, 1, 'outcome_unknown'],
    [500, 131000, 'outcome_unknown'],
    [503, 2, 'outcome_unknown'],
    [503, 131016, 'outcome_unknown'],
    [500, 999_999, 'outcome_unknown'],
    [400, 131000, 'platform_unavailable'],
    // Documented refusals, whatever the status.
    [503, 130429, 'rate_limited'],
    [500, 190, 'platform_unavailable'],
    [500, 131047, 'window_closed'],
  ])('[I35.b1-whatsapp] HTTP %i with the code %i is %s', (status, code, meaning) => {
    const error = refusalOf({ error: { code, message: 'words' } }, { ...answered, status })
    expect(error?.code).toBe(meaning)
    expect(error?.message).toMatch(new RegExp(`^${code}: `))
  })

  const send = async (fault: FaultRule) => {
    await open({ faults: [fault] })
    return failure(scene.send(KATE, { kind: 'text', text: 'x' }))
  }
  it('[I24.wa-errors] [I35.b1-whatsapp] an answer that is lost, cannot be read, or tells a fault of WhatsApp’s own is unknown', async () => {
    expect((await send({ on: 'messages', do: 'malformed' })).code).toBe('outcome_unknown')
    await scene.close()
    expect((await send({ on: 'messages', do: 'drop-response' })).code).toBe('outcome_unknown')
    await scene.close()
    expect((await send({ on: 'messages', do: 'error', status: 502 })).code).toBe('outcome_unknown')
    await scene.close()
    const busy = await send({ on: 'messages', do: 'rate-limit', retryAfter: 7 })
    expect([busy.code, busy.retryAfterMs]).toEqual(['rate_limited', 7_000])
    expect('refusal' in refuse(131056, '')).toBe(true)
  })

  it('[I24.wa-token] a token that expired: the link is down with the reason, and up again once it is right', async () => {
    await open()
    scene.fake.expire(true)
    const error = await failure(scene.send(KATE, { kind: 'text', text: 'x' }))
    expect(error).toMatchObject({ code: 'platform_unavailable', retryAfterMs: 30_000 })
    expect(error.hint).toContain('access_token')
    expect(scene.adapter.link?.state()).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('190'),
    })
    scene.fake.expire(false)
    await scene.send(KATE, { kind: 'text', text: 'x' })
    expect(scene.adapter.link?.state().state).toBe('up')
  })

  it('[I24.wa-token] one that never counted is told by the link, which comes up by itself', async () => {
    scene = await openScene()
    scene.fake.expire(true)
    await scene.adapter.start(scene.intake, null)
    await until('down', () => scene.adapter.link?.state().state === 'down')
    expect(scene.adapter.link?.state().detail).toContain('190')
    scene.fake.expire(false)
    await scene.clock.advance(60_000)
    await until('up', () => scene.adapter.link?.state().state === 'up')
    expect(scene.adapter.link?.who?.()).toBe('15550783881 (Emulated)')
  })

  it('[I24.wa-pace] 45 to one person at once, then one in six seconds; 80 a second in all', async () => {
    await open()
    const pace = scene.adapter.pace
    const took = Array.from({ length: 46 }, () => pace?.take(KATE, false))
    expect(took.slice(0, 45).every((ms) => ms === 0)).toBe(true)
    expect(took[45]).toBe(6_000)
    const others = Array.from({ length: 36 }, (_, at) => pace?.take(`other${at}`, false))
    expect(others.slice(0, 35).every((ms) => ms === 0)).toBe(true)
    expect(others[35]).toBe(1_000)
  })
})
