// The link to Discord's gateway under all its faults: the session resumes where it can, and a new one begins where it
// cannot. Nothing is hammered, and events that were not stored count as not received.
import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../../contract/index.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import {
  GENERAL,
  openScene,
  openStarted,
  type Scene,
  type SceneOptions,
  until,
} from '../fixtures/discord-scene.ts'

let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}
const heard = (text: string) => until(text, () => scene.texts().includes(text))
const copies = (text: string) => scene.texts().filter((one) => one === text).length

describe('the session', () => {
  it('[I20.resume] [S7.discord-gateway] goes on after a reconnect, a cut, a held-back session and an odd close, and brings what lay between once', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    const troubles: readonly [string, () => void][] = [
      ['reconnect', () => fake.gateway.reconnect()],
      ['cut', () => fake.cut()],
      ['held back', () => fake.gateway.invalidate(true)],
      ['4000', () => fake.gateway.close(4000)],
    ]
    for (const [at, [name, trouble]] of troubles.entries()) {
      trouble()
      kate.says(name)
      await until(`resumed after ${name}`, () => fake.gateway.counts().resumed === at + 1)
      await heard(name)
      await until('it stands', () => scene.adapter.link?.state().state === 'up' && fake.gateway.open() === 1)
    }
    expect(scene.texts()).toEqual(troubles.map(([name]) => name))
    expect(fake.gateway.counts().identified).toBe(1)
    expect(intake.connects()).toBe(5)
    // Never 1000 or 1001, which would end the session.
    expect(fake.gateway.closes.filter((code) => code === 1000 || code === 1001)).toEqual([])
  })

  it('[I20.session-kept] is stored with what it brought: a new process resumes it, and misses and repeats nothing', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    kate.says('before')
    await heard('before')
    await until('it is stored', () => intake.cursors.length > 1)
    await scene.adapter.stop()
    kate.says('while it was away')
    const cursor = intake.cursors.at(-1) ?? null
    const next = scene.make()
    await next.start(intake, cursor)
    await heard('while it was away')
    expect([copies('before'), copies('while it was away')]).toEqual([1, 1])
    expect(fake.gateway.counts()).toMatchObject({ identified: 1, resumed: 1 })
    expect(cursor).not.toContain(fake.token)
    await next.stop()
  })

  it.each([
    null,
    '',
    '{}',
    '{"v":1,"shards":"x"}',
    '{"v":1,"shards":[{"id":7}]}',
    '{"v":1,"shards":[{"id":"a","seq":1},null]}',
    'x'.repeat(10_000),
  ])('[I20.session-kept] a cursor that leads nowhere begins a new one (%#)', async (cursor) => {
    scene = await openScene()
    await scene.start(cursor)
    expect(scene.fake.gateway.counts().identified).toBe(1)
  })

  it('[I20.not-stored] what cannot be stored is not heard: it is asked for again and comes once', async () => {
    const { fake, intake } = await begin()
    intake.failWith(new SwitchboardError('store_unavailable', 'the disk is full'))
    fake.person().says('kept by Discord')
    const seq = fake.gateway.lastSeq()
    await until('asked for again', () => fake.gateway.counts().resumed >= 2)
    const resumed = fake.gateway.heard
      .filter(({ op }) => op === 6)
      .map(({ d }) => (d as { readonly seq: number }).seq)
    expect(Math.max(...resumed)).toBeLessThan(seq)
    intake.failWith(null)
    await heard('kept by Discord')
    expect(copies('kept by Discord')).toBe(1)
  })

  it('[I20.not-stored] a store that fails again and again, also while Discord replays, loses nothing and repeats nothing', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    let isFailing = false
    const toggle = setInterval(() => {
      isFailing = !isFailing
      intake.failWith(isFailing ? new SwitchboardError('store_unavailable', 'the disk is full') : null)
    }, 7)
    const words = Array.from({ length: 60 }, (_, at) => `word ${at}`)
    for (const word of words) {
      kate.says(word)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    clearInterval(toggle)
    intake.failWith(null)
    await until('all', () => words.every((word) => copies(word) > 0))
    expect(words.filter((word) => copies(word) !== 1)).toEqual([])
    expect(fake.gateway.counts()).toMatchObject({ identified: 1 })
    expect(fake.gateway.counts().resumed).toBeGreaterThan(0)
  })

  it('[I20.three-refusals] is given up for a new one when it is refused again and again', async () => {
    // Discord ends every attempt to resume without saying why.
    const { fake } = await begin({ faults: [{ on: 'resume', do: 'conflict' }] })
    fake.cut()
    await until('a new session', () => fake.gateway.counts().identified === 2)
    expect(fake.fired).toHaveLength(3)
    await until('it stands', () => scene.adapter.link?.state().state === 'up')
  })

  it('[I20.refused-resume] refused after downtime: a new one is begun, and whoever compares is told', async () => {
    const { fake, intake } = await begin()
    fake.gateway.forgetSessions()
    fake.cut()
    const kate = fake.person()
    for (let at = 0; at < 50; at++) kate.says(`between ${at}`)
    await until('a new session', () => intake.connects() === 2)
    expect(fake.gateway.counts()).toMatchObject({ identified: 2, resumed: 0 })
    const page = await scene.adapter.history?.read({
      place: { id: kate.channel.id },
      after: null,
      since: 0,
      limit: 100,
    })
    expect(page && 'entries' in page ? page.entries.length : 0).toBe(50)
  })
})

describe('a connection', () => {
  it('[I20.zombie] without hello, without a session, without answers to beats: each is found and replaced', async () => {
    const { fake } = await begin({
      heartbeatMs: 60,
      timings: { helloMs: 300, readyMs: 300 },
      faults: [
        { on: 'hello', nth: 1, do: 'deaf' },
        { on: 'upgrade', nth: 2, do: 'deaf' },
      ],
    })
    expect(fake.fired).toHaveLength(2)
    fake.gateway.silence()
    fake.person().says('after the zombie')
    await heard('after the zombie')
    expect(await scene.adapter.link?.probe?.()).toBe('hears')
  })

  it('[I20.quiet] is never left for being quiet: beats alone restart nothing', async () => {
    const clock = createTestClock(Date.now())
    scene = await openScene({
      clock,
      heartbeatMs: 41_250,
      timings: { leastBeatMs: 1_000, helloMs: 60_000, readyMs: 60_000 },
    })
    await scene.adapter.start(scene.intake, null)
    await until('the link', () => scene.adapter.link?.state().state === 'up')
    for (let beat = 0; beat < 90; beat++) {
      await clock.advance(41_250)
      const before = scene.fake.gateway.open()
      await until('the beat is answered', () => before === 1)
      await scene.adapter.link?.probe?.()
    }
    expect(scene.fake.gateway.counts().made).toBe(1)
  })

  it('[I20.close-codes] 4014 and 4004 are told with what to do, and not hammered; healed they come back', async () => {
    scene = await openScene({ contentIntent: false, timings: { refusedMs: 200 } })
    const { fake, adapter, intake } = scene
    await adapter.start(intake, null)
    await until('4014', () =>
      /4014: the Message Content intent is not switched on; .*Privileged Gateway Intents/.test(
        adapter.link?.state().detail ?? '',
      ),
    )
    const { made } = fake.gateway.counts()
    expect(made).toBeLessThanOrEqual(2)
    fake.switchContent(true)
    await until('the link', () => adapter.link?.state().state === 'up')
    fake.revoke(true)
    await until('the token', () => /does not take the token/.test(adapter.link?.state().detail ?? ''))
    expect(adapter.link?.state().state).not.toBe('up')
    fake.revoke(false)
    await until('the link again', () => adapter.link?.state().state === 'up')
  })

  it('[I20.revoked] a token that is revoked in the middle is told, loses nothing, and heals', async () => {
    const { fake, adapter } = await begin()
    const kate = fake.person()
    fake.revoke(true)
    await until('it is told', () => /4004|401/.test(adapter.link?.state().detail ?? ''))
    await expect(scene.send(kate.channel.id, { kind: 'text', text: 'x' })).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryAfterMs: 30_000,
    })
    expect(scene.log.lines.join('\n')).not.toContain(fake.token)
    fake.revoke(false)
    await until('the link is back', () => adapter.link?.state().state === 'up')
    await scene.send(kate.channel.id, { kind: 'text', text: 'x' })
    expect(kate.sees()).toEqual(['x'])
  })

  it('[I20.identify-limits] none is begun where the day’s are used up, and that is told', async () => {
    scene = await openScene()
    scene.fake.gateway.startsLeft = 3
    await scene.adapter.start(scene.intake, null)
    await until('it is told', () =>
      /no new session may be begun/.test(scene.adapter.link?.state().detail ?? ''),
    )
    expect(scene.fake.gateway.counts().identified).toBe(0)
    scene.fake.gateway.startsLeft = 900
    await until('the link', () => scene.adapter.link?.state().state === 'up')
  })

  it('[I20.identify-limits] one that ends again at once is waited for, longer each time', async () => {
    scene = await openScene({ timings: { steadyMs: 5_000, retryBaseMs: 200, retryMaxMs: 5_000 } })
    await scene.adapter.start(scene.intake, null)
    const from = Date.now()
    await until('the fourth', () => {
      if (scene.fake.gateway.open() > 0) scene.fake.gateway.close(4009)
      return scene.fake.gateway.counts().identified >= 4
    })
    // 0, then 100 to 200 ms, then 200 to 400.
    expect(Date.now() - from).toBeGreaterThan(290)
  })

  it('[I20.shards] as many as Discord advises, each with its session; everything is heard once', async () => {
    const { fake, intake } = await begin({ shards: 3 })
    await until('three', () => fake.gateway.open() === 3)
    fake.person().says('direct')
    fake.person({ channel: GENERAL }).says('in a server')
    await heard('direct')
    await heard('in a server')
    expect([copies('direct'), copies('in a server')]).toEqual([1, 1])
    const identified = fake.gateway.heard
      .filter(({ op }) => op === 2)
      .map(({ d }) => (d as { shard: unknown }).shard)
    expect(identified.toSorted()).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
    ])
    await scene.adapter.stop()
    const next = scene.make()
    await next.start(intake, intake.cursors.at(-1) ?? null)
    await until('all are resumed', () => fake.gateway.counts().resumed === 3)
    await next.stop()
  })

  it('[I20.shards] [I20.identify-limits] many of them wait for their turn, however long, and each connects once', async () => {
    const clock = createTestClock()
    const patient = { identifyMs: 5_500, readyMs: 30_000, helloMs: 15_000, requestTimeoutMs: 300_000 }
    scene = await openScene({ clock, shards: 9, heartbeatMs: 600_000, timings: patient })
    const { gateway } = scene.fake
    await scene.adapter.start(scene.intake, null)
    await until('all are connected', () => gateway.counts().made === 9)
    // The last one waits for 44 s, which is longer than a session may take to open.
    for (let at = 1; at <= 9; at++) {
      await until(`session ${at}`, () => gateway.counts().identified === at)
      await clock.advance(5_500)
    }
    await until('all stand', () => scene.adapter.link?.state().state === 'up')
    expect(gateway.counts()).toMatchObject({ made: 9, identified: 9 })
  })

  it('[I20.lease] only the holder of the lease is connected', async () => {
    let held = false
    scene = await openScene({ lease: { take: async () => held, release: async () => undefined } })
    await scene.adapter.start(scene.intake, null)
    await until('it waits', () => scene.adapter.link?.state().state === 'waiting')
    expect(scene.fake.gateway.counts().made).toBe(0)
    held = true
    await until('it is connected', () => scene.adapter.link?.state().state === 'up', 20_000)
  }, 30_000)
})

describe('bad frames', () => {
  it('[I20.bad-frames] unknown opcodes and events, deep and odd ones change nothing', async () => {
    const { fake } = await begin()
    const { gateway } = fake
    for (const frame of [
      '{"op":99,"d":{"x":1}}',
      '{"op":0,"t":"NEVER_HEARD_OF","s":900,"d":{"id":7}}',
      '{"op":0,"t":"constructor","s":901,"d":null}',
      '{"op":0,"t":"MESSAGE_CREATE","s":902,"d":null}',
      '{"op":0,"t":"GUILD_CREATE","s":903,"d":{"id":"x","channels":{"a":1}}}',
      '{"op":0,"t":"THREAD_LIST_SYNC","s":904,"d":{"threads":[null,7,{"id":"1"}]}}',
      '{"op":0,"t":"INTERACTION_CREATE","s":905,"d":{"type":3}}',
      '{"op":"0","t":[],"d":1}',
      '{}',
    ])
      gateway.raw(frame)
    fake.person().says('and on')
    await heard('and on')
    expect(fake.gateway.counts().made).toBe(1)
  })

  it('[I20.bad-frames] what is no JSON, 10 MB and compressed bombs end the connection alone, and nothing is missed', async () => {
    const { fake } = await begin()
    const bomb = deflateSync(Buffer.alloc(50 * 1_048_576))
    const kate = fake.person()
    for (const [at, frame] of ['not json', bomb, randomBytes(1_000)].entries()) {
      const { made } = fake.gateway.counts()
      fake.gateway.raw(frame)
      await until('the next connection', () => fake.gateway.counts().made > made)
      kate.says(`after ${at}`)
      await heard(`after ${at}`)
    }
    const { identified } = fake.gateway.counts()
    fake.gateway.raw(`{"op":0,"t":"X","s":1,"d":"${'x'.repeat(10 * 1_048_576)}"}`)
    // Resuming would repeat the fault, so a new session begins.
    await until('a new session', () => fake.gateway.counts().identified > identified)
    expect(fake.gateway.counts().identified).toBe(identified + 1)
    kate.says('after the large one')
    await heard('after the large one')
  })

  it('[I20.kicked] a bot that is taken out of its server goes on elsewhere, and says what happened', async () => {
    const { fake } = await begin()
    await scene.send(GENERAL, { kind: 'text', text: 'in time' })
    fake.kick()
    await until('it is noted', () => scene.log.lines.some((line) => line.includes('no longer in a server')))
    await expect(scene.send(GENERAL, { kind: 'text', text: 'too late' })).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('50001'),
    })
    fake.person().says('elsewhere')
    await heard('elsewhere')
  })
})
