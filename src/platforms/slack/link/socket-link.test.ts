// The link of Socket Mode under all faults that made the SDKs deaf: it is replaced in bounded time, never for being
// quiet, and never twice at once.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../../../testing/test-clock.ts'
import { openScene, recorded, until } from '../fixtures/slack-scene.ts'

const texts = (scene: Awaited<ReturnType<typeof openScene>>) =>
  scene.intake.events.map((event) => ('text' in event ? event.text : event.kind))

describe('the link', () => {
  it('[I15.socket-overlap] [S2.ack-slack-envelope] at a refresh the next stands before the old one is left, and nothing falls between', async () => {
    const scene = await openScene()
    await scene.start()
    const kate = scene.fake.person()
    for (const reason of ['refresh_requested', 'warning'] as const) {
      const made = scene.fake.socket.made()
      scene.fake.socket.disconnect(reason)
      for (let at = 0; at < 5; at++) kate.says(`${reason} ${at}`)
      await until('the next connection', () => scene.fake.socket.made() === made + 1)
      await until('the old one is left', () => scene.fake.socket.open() === 1)
    }
    await until('all messages', () => scene.intake.events.length === 10)
    expect(new Set(texts(scene)).size).toBe(10)
    expect(scene.fake.socket.mostOpen()).toBe(2)
    expect(scene.connects()).toBe(3)
    await scene.close()
  })

  it('[I15.socket-deaf] no hello, an upgrade that is not answered, a frozen socket and a cut one are each replaced', async () => {
    const scene = await openScene({
      faults: [
        { on: 'hello', nth: 1, do: 'deaf' },
        { on: 'upgrade', nth: 2, do: 'deaf' },
      ],
      timings: { helloMs: 300 },
    })
    await scene.start()
    expect(scene.fake.fired).toHaveLength(2)
    scene.fake.socket.freeze()
    await until('a connection after the frozen one', () => scene.connects() === 2)
    scene.fake.cut()
    await until('a connection after the cut', () => scene.connects() === 3)
    scene.fake.person().says('hello')
    await until('the message', () => texts(scene).includes('hello'))
    expect(await scene.adapter.link?.probe?.()).toBe('hears')
    await scene.close()
  })

  it('[I15.socket-deaf] a connection that ends with its hello is replaced, and is not taken for the link', async () => {
    const scene = await openScene({ faults: [{ on: 'hello', nth: [1, 2], do: 'malformed' }] })
    await scene.start()
    await until('a third connection', () => scene.fake.socket.made() === 3)
    scene.fake.person().says('hello')
    await until('the message', () => texts(scene).includes('hello'))
    expect(scene.fake.socket.made()).toBe(3)
    await scene.close()
  })

  it('[I15.socket-open] refusals and faults of apps.connections.open are told and waited out, and the link comes back', async () => {
    const faults = [
      { on: 'apps.connections.open', nth: 1, do: 'error', status: 500 },
      { on: 'apps.connections.open', nth: 2, do: 'conflict' },
      { on: 'apps.connections.open', nth: 3, do: 'drop-request' },
      { on: 'apps.connections.open', nth: 4, do: 'malformed' },
      { on: 'apps.connections.open', nth: 5, do: 'rate-limit', retryAfter: 0.01 },
    ] as const
    const scene = await openScene({ faults })
    await scene.start()
    expect(scene.fake.fired).toHaveLength(5)
    await scene.close()
  })

  it('[I15.revoked] a token that is revoked in the middle is told, and the link comes back once it counts again', async () => {
    const scene = await openScene()
    await scene.start()
    scene.fake.refuseTokens('token_revoked')
    scene.fake.socket.disconnect('refresh_requested')
    scene.fake.cut()
    await until('it is told', () =>
      /token_revoked: the token was revoked/.test(scene.adapter.link?.state().detail ?? ''),
    )
    await expect(scene.send('D0KATE001', { kind: 'text', text: 'x' })).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryAfterMs: 30_000,
    })
    scene.fake.refuseTokens(null)
    await until('the link is back', () => scene.adapter.link?.state().state === 'up')
    await scene.close()
  })

  it('[I15.socket-cap] twenty flaps leave one connection, and never more than two stand at once', async () => {
    const scene = await openScene()
    await scene.start()
    for (let flap = 1; flap <= 20; flap++) {
      scene.adapter.link?.renew?.('a test')
      await until('the next connection', () => scene.fake.socket.made() >= flap + 1)
      await until('the one before is left', () => scene.fake.socket.open() === 1)
    }
    expect(scene.fake.socket.mostOpen()).toBeLessThanOrEqual(2)
    await scene.close()
    expect(scene.fake.socket.open()).toBe(0)
  })

  it('[I15.socket-disabled] link_disabled is told with what to do, and asked about rarely', async () => {
    const scene = await openScene({ timings: { refusedMs: 5_000 } })
    await scene.start()
    const made = scene.fake.socket.made()
    scene.fake.socket.disabled = true
    scene.fake.socket.disconnect('link_disabled')
    await until('it is told', () => /switch it on/.test(scene.adapter.link?.state().detail ?? ''))
    expect(scene.adapter.link?.state().state).toBe('down')
    expect(scene.fake.socket.made()).toBe(made)
    await scene.close()
  })

  it('[I15.socket-rival] another connection of the app is told, and too many of them are waited out', async () => {
    const scene = await openScene()
    scene.fake.socket.addGhost()
    await scene.start()
    expect(scene.adapter.link?.state()).toMatchObject({
      state: 'up',
      detail: expect.stringContaining('1 other connection of this app'),
    })
    for (let at = 0; at < 9; at++) scene.fake.socket.addGhost()
    scene.fake.cut()
    await until('too many', () =>
      /too_many_websockets: ten connections/.test(scene.adapter.link?.state().detail ?? ''),
    )
    scene.fake.socket.removeGhosts()
    await until('the link is back', () => scene.adapter.link?.state().state === 'up')
    expect(scene.adapter.link?.state().detail).toBeUndefined()
    await scene.close()
  })

  it('[I15.socket-quiet] hours of pings alone restart nothing', async () => {
    const clock = createTestClock(Date.now())
    const scene = await openScene({ clock, timings: { pingMs: 15_000 } })
    const starting = scene.start()
    await starting
    for (let minute = 0; minute < 180; minute++) {
      for (let ping = 0; ping < 4; ping++) {
        await clock.advance(15_000)
        // The answer arrives over a real socket.
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    }
    expect(scene.fake.socket.made()).toBe(1)
    await scene.close()
  })

  it('[I15.socket-lease] without the lease there is no connection; with it one, and none after it is lost', async () => {
    let held = false
    const lease = { take: async () => held, release: async () => undefined }
    const clock = createTestClock(Date.now())
    const scene = await openScene({ lease, clock })
    await scene.adapter.start(scene.intake, null)
    await until('it waits', () => scene.adapter.link?.state().state === 'waiting')
    expect(scene.fake.socket.made()).toBe(0)
    held = true
    await until('it connects', () => {
      void clock.advance(1_000)
      return scene.adapter.link?.state().state === 'up'
    })
    held = false
    await until('it lets go', () => {
      void clock.advance(1_000)
      return scene.fake.socket.open() === 0
    })
    await scene.close()
  })
})

describe('envelopes', () => {
  it('[I15.repeat-envelope] a retry alone counts, and a repeated envelope is acknowledged each time with one key', async () => {
    const scene = await openScene()
    await scene.start()
    const body = recorded('dm-message')
    const first = scene.fake.socket.deliver('events_api', body)
    const again = scene.fake.socket.deliver('events_api', body)
    await until(
      'both are acknowledged',
      () => scene.fake.socket.acknowledged(first) && scene.fake.socket.acknowledged(again),
    )
    const keys = scene.intake.events.map((event) =>
      'messageId' in event ? `${event.conversation} ${event.messageId}` : '',
    )
    expect(new Set(keys)).toEqual(new Set(['D0KATE001 1771000001.000100']))
    await scene.close()
  })

  it('[I15.wrong-team] [I15.unknown-events] what is of others or unknown is acknowledged and taken for nothing', async () => {
    const scene = await openScene()
    await scene.start()
    const body = recorded('dm-message')
    const others = [
      { ...body, team_id: 'T0OTHERS1', authorizations: [{ team_id: 'T0OTHERS1' }] },
      { ...body, event: { type: 'emoji_changed' } },
      { type: 'app_rate_limited', team_id: 'T0SWBTEAM', minute_rate_limited: 1, api_app_id: 'A0SWBAPP1' },
      recorded('channel-join'),
    ]
    const ids = others.map((one) => scene.fake.socket.deliver('events_api', one))
    const action = recorded<{ actions: object[] }>('block-actions')
    ids.push(
      scene.fake.socket.deliver('interactive', {
        ...action,
        actions: [{ type: 'button', action_id: 'link' }],
      }),
    )
    ids.push(scene.fake.socket.deliver('interactive', { type: 'view_closed' }))
    await until('all are acknowledged', () => ids.every((id) => scene.fake.socket.acknowledged(id)))
    expect(scene.intake.events).toEqual([])
    await scene.close()
  })

  it('[I15.tap-commit] a tap is acknowledged after its commit, and one that is refused is told to that person alone', async () => {
    const scene = await openScene()
    await scene.start()
    const release = scene.intake.hold()
    const id = scene.fake.socket.deliver('interactive', recorded('block-actions'))
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(scene.fake.socket.acknowledged(id)).toBe(false)
    scene.fake.person()
    scene.intake.answerWith(() => ({ state: 'refused', reason: 'not_approver' }))
    release()
    await until('it is told', () => scene.fake.world.ephemerals.length === 1)
    expect(scene.fake.world.ephemerals[0]).toMatchObject({ user: 'U0KATE001', text: 'Not authorized.' })
    expect(scene.intake.events[0]).toMatchObject({
      kind: 'tap',
      value: 'yes:abcde',
      on: '1771000020.000100',
      chat: 'direct',
    })
    await scene.close()
  })

  it('[I15.names] names are looked up once and kept; a look-up that is limited or hangs delays nothing for long', async () => {
    const scene = await openScene({
      faults: [{ on: 'users.info', nth: 1, do: 'rate-limit', retryAfter: 60 }],
    })
    await scene.start()
    const kate = scene.fake.person()
    kate.says('one')
    await until('it came', () => scene.intake.events.length === 1)
    expect(scene.intake.events[0]?.sender).toEqual({ id: 'U0KATE001' })
    await scene.close()
    const other = await openScene()
    await other.start()
    const again = other.fake.person()
    for (const text of ['one', 'two', 'three']) again.says(text)
    await until('they came', () => other.intake.events.length === 3)
    expect(other.intake.events.map(({ sender }) => sender.name)).toEqual(['kate', 'kate', 'kate'])
    expect(other.fake.world.calls.filter(({ method }) => method === 'users.info')).toHaveLength(1)
    await other.close()
  })
})
