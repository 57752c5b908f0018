// The loop of a link on a driven clock: leases, failures, silence, replacement and stop, each in every state.
import { describe, expect, it } from 'vitest'
import { LEASE_MS, LEASE_RENEW_MS, type LinkState, SwitchboardError } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import type { LinkAttempt, LinkEnding, LinkOptions } from './link.ts'
import { startLink } from './start-link.ts'

/** One call of `connect` that the test controls. */
interface Made extends LinkAttempt {
  over(ending?: LinkEnding): void
  fail(thrown: unknown): void
  isEnded(): boolean
}

type Lease = { answer: boolean | Error | Promise<boolean>; asked: number; released: number }

function open(more: Partial<LinkOptions> = {}, held?: Lease['answer']) {
  const clock = createTestClock()
  const made: Made[] = []
  const states: LinkState[] = []
  const retries: number[] = []
  let connects = 0
  const lease: Lease = { answer: held ?? true, asked: 0, released: 0 }
  const take = async () => {
    lease.asked++
    const answer = await lease.answer
    if (answer instanceof Error) throw answer
    return answer
  }
  const log = createRecordingLog()
  const link = startLink({
    clock,
    random: createTestRandom(),
    log,
    ...(held === undefined ? {} : { lease: { take, release: async () => void lease.released++ } }),
    connect: (attempt) =>
      new Promise((resolve, reject) => {
        let isEnded = false
        const end = (act: () => void) => {
          isEnded = true
          act()
        }
        made.push({
          ...attempt,
          over: (ending) => end(() => resolve(ending)),
          fail: (thrown) => end(() => reject(thrown)),
          isEnded: () => isEnded,
        })
        attempt.signal.addEventListener('abort', () => end(() => resolve(undefined)))
      }),
    report(state, retry) {
      states.push(state)
      if (retry !== undefined) retries.push(retry.waitMs)
    },
    connected: () => void connects++,
    retry: { baseMs: 1_000, maxMs: 60_000 },
    ...more,
  })
  const at = (index: number) => {
    const one = made.at(index)
    if (one === undefined) throw new Error(`no connection ${index}`)
    return one
  }
  return {
    ...{ clock, made, states, retries, lease, link, log, at },
    state: () => states.at(-1),
    connects: () => connects,
    /** Brings a fresh link up. */
    async up() {
      await clock.settle()
      at(-1).up()
      return at(-1)
    },
  }
}

const away = (more: object = {}) => new SwitchboardError('platform_unavailable', 'no answer', more)

describe('[I36.link-loop] [S7.reconnect] a link', () => {
  it('is up from the call of up, is connected each time, and keeps one connection', async () => {
    const { clock, made, state, connects, up } = open()
    const first = await up()
    first.up()
    expect([state(), connects(), made.length]).toEqual([{ state: 'up', since: clock.now() }, 1, 1])
    await clock.advance(3_600_000)
    expect(made).toHaveLength(1)
  })

  it('is made again at once after a connection that lasted, and later and later after short ones', async () => {
    const { clock, made, retries, up } = open()
    ;(await up()).over({ why: 'bye' })
    await clock.settle()
    await clock.advance(1_000)
    const first = await up()
    await clock.advance(10_000)
    first.over()
    await clock.settle()
    expect(made).toHaveLength(3)
    for (let at = 0; at < 3; at++) {
      ;(await up()).over()
      await clock.advance(60_000)
    }
    expect(retries.map((ms) => Math.ceil(ms / 500))).toEqual([
      expect.toSatisfy((half: number) => half === 1 || half === 2),
      0,
      expect.toSatisfy((half: number) => half >= 1 && half <= 2),
      expect.toSatisfy((half: number) => half >= 2 && half <= 4),
      expect.toSatisfy((half: number) => half >= 4 && half <= 8),
    ])
  })

  it('shows a first failure as connecting and the next as down, with the problem, and logs the first alone', async () => {
    const { clock, at, state, log, up, connects } = open()
    await clock.settle()
    at(-1).fail(away())
    await clock.settle()
    expect(state()).toEqual({ state: 'connecting', detail: 'no answer' })
    await clock.advance(1_000)
    at(-1).fail(new TypeError('a fault of ours'))
    await clock.settle()
    expect(state()).toEqual({ state: 'down', detail: 'a fault of ours' })
    await clock.advance(2_000)
    await up()
    expect([state()?.state, connects()]).toEqual(['up', 1])
    expect(log.lines.filter((line) => line.includes('could not be made'))).toHaveLength(1)
  })

  it('obeys a rate limit at once, and another hint from the third failure on, up to a limit', async () => {
    const { clock, at, retries, made } = open({ refusedMs: 20_000 })
    const failures = [
      new SwitchboardError('rate_limited', 'slow down', { retryAfterMs: 90_000 }),
      away({ retryAfterMs: 30_000 }),
      away({ retryAfterMs: 30_000 }),
    ]
    for (const thrown of failures) {
      await clock.settle()
      at(-1).fail(thrown)
      await clock.settle()
      const before = made.length
      await clock.advance((retries.at(-1) ?? 0) - 1)
      expect(made).toHaveLength(before)
      await clock.advance(1)
      expect(made).toHaveLength(before + 1)
    }
    expect([retries[0], retries[2]]).toEqual([90_000, 20_000])
    expect(retries[1]).toBeLessThanOrEqual(2_000)
  })

  it('is down at once after an ending that says so, and waits as long as that asks, however long it stood', async () => {
    const { clock, made, state, up, retries } = open()
    const one = await up()
    await clock.advance(60_000)
    one.over({ why: 'the token is revoked', down: true, waitMs: 300_000 })
    await clock.settle()
    expect(state()).toEqual({ state: 'down', detail: 'the token is revoked' })
    await clock.advance(299_999)
    expect(made).toHaveLength(1)
    await clock.advance(1)
    expect(made).toHaveLength(2)
    const other = await up()
    await clock.advance(60_000)
    other.over({ why: 'another program', down: true, retry: { baseMs: 100_000, maxMs: 100_000 } })
    await clock.settle()
    expect(retries.at(-1)).toBeGreaterThanOrEqual(50_000)
  })

  it('waits after a fault, however long the connection stood', async () => {
    const { clock, up, retries, state } = open({ downAfter: 1 })
    const one = await up()
    await clock.advance(60_000)
    one.fail(away())
    await clock.settle()
    expect(state()).toEqual({ state: 'down', detail: 'no answer' })
    expect(retries[0]).toBeGreaterThanOrEqual(500)
  })

  it('gives up a connect that never answers, and one that ignores its signal cannot come up later', async () => {
    const late: LinkAttempt[] = []
    const { clock, state } = open({
      connectMs: 5_000,
      endMs: 2_000,
      connect: (attempt) => {
        late.push(attempt)
        return new Promise(() => undefined)
      },
    })
    await clock.advance(7_000)
    expect(state()).toEqual({ state: 'connecting', detail: 'no connection within 5 s' })
    await clock.advance(1_000)
    expect(late).toHaveLength(2)
    expect(() => late[0]?.up()).toThrow('no connection within 5 s')
    expect(state()?.state).toBe('connecting')
  })
})

describe('[S7.liveness] a link that is probed', () => {
  const probed = (answers: (boolean | 'never')[]) => {
    const scene = open({ probeEveryMs: 60_000, probeMs: 5_000 })
    let asked = 0
    const probe = () => {
      asked++
      const answer = answers.shift() ?? true
      return answer === 'never' ? new Promise<boolean>(() => undefined) : Promise.resolve(answer)
    }
    return { ...scene, probe, asked: () => asked }
  }

  it('is left after two probes in a row without an answer, and not after one', async () => {
    const { clock, at, made, state, probe, asked } = probed([true, 'never', true, 'never', false])
    await clock.settle()
    at(-1).up({ probe })
    await clock.advance(60_000)
    expect(asked()).toBe(1)
    await clock.advance(60_000 + 5_000)
    expect([asked(), at(0).isEnded()]).toEqual([3, false])
    await clock.advance(60_000 + 5_000)
    expect([asked(), at(0).isEnded(), state()]).toEqual([
      5,
      true,
      { state: 'connecting', detail: 'its probes are not answered' },
    ])
    await clock.advance(1_000)
    expect(made).toHaveLength(2)
  })

  it('says when it is asked whether it hears, and cannot say without a connection', async () => {
    const { clock, at, link, probe } = probed([true, false, 'never'])
    await expect(link.probe()).rejects.toMatchObject({ code: 'platform_unavailable' })
    await clock.settle()
    at(-1).up({ probe })
    expect([await link.probe(), await link.probe()]).toEqual(['hears', 'deaf'])
    const answer = link.probe()
    await clock.advance(5_000)
    expect(await answer).toBe('deaf')
  })
})

describe('[I6.lease-held] a link with a lease', () => {
  it('waits while another node holds it, and connects when it is free', async () => {
    const { clock, made, state, lease } = open({}, false)
    await clock.settle()
    expect(state()).toEqual({
      state: 'waiting',
      detail: 'another node is connected for this integration',
    })
    lease.answer = new Error('the store is away')
    await clock.advance(LEASE_RENEW_MS)
    expect(state()).toEqual({
      state: 'connecting',
      detail: 'the store does not say which node is connected',
    })
    lease.answer = true
    await clock.advance(LEASE_RENEW_MS)
    expect(made).toHaveLength(1)
  })

  it('ends at once when it is lost while it connects, while it is up, and while it waits to try again', async () => {
    const { clock, made, at, state, lease } = open({}, true)
    const lose = async () => {
      lease.answer = false
      await clock.advance(LEASE_RENEW_MS)
      expect(state()?.state).toBe('waiting')
      expect(made.every((one) => one.isEnded())).toBe(true)
      const before = made.length
      await clock.advance(LEASE_MS)
      expect(made).toHaveLength(before)
      lease.answer = true
      await clock.advance(LEASE_RENEW_MS)
      expect(made).toHaveLength(before + 1)
    }
    await clock.settle()
    await lose()
    at(-1).up()
    await lose()
    at(-1).over({ why: 'refused', waitMs: 6_000 })
    await clock.settle()
    lease.answer = false
    await clock.advance(LEASE_RENEW_MS)
    expect(state()).toEqual({ state: 'connecting', detail: 'the lease of its connection was lost' })
    await clock.advance(6_000)
    expect([state()?.state, made.length]).toEqual(['waiting', 3])
  })

  it('does not connect anew before the old connection ended', async () => {
    const ends: (() => void)[] = []
    const { clock, lease, state } = open(
      {
        connect({ up }) {
          up()
          return new Promise((resolve) => void ends.push(() => resolve(undefined)))
        },
      },
      true,
    )
    await clock.settle()
    lease.answer = false
    await clock.advance(LEASE_RENEW_MS)
    lease.answer = true
    await clock.advance(2 * LEASE_RENEW_MS)
    expect(ends).toHaveLength(1)
    ends[0]?.()
    await clock.advance(LEASE_RENEW_MS)
    expect([ends.length, state()?.state]).toEqual([2, 'up'])
  })

  it('lets it run out between tries, where the rules say so', async () => {
    const { clock, at, lease } = open({ leaseRules: { restWhileDown: true } }, true)
    await clock.settle()
    at(-1).over({ why: 'it is gone', waitMs: 3 * LEASE_MS })
    await clock.settle()
    const { asked } = lease
    await clock.advance(3 * LEASE_MS - 1)
    expect(lease.asked).toBe(asked)
    await clock.advance(1)
    expect(lease.asked).toBe(asked + 1)
  })
})

describe('[I15.socket-overlap] a new connection that was asked for', () => {
  it('with overlap stands before the old one is left, and two renewals at once make one', async () => {
    const { clock, made, at, state, link } = open({ overlaps: true })
    await clock.settle()
    let left = 0
    at(0).up({ leave: () => void left++ })
    link.renew('deaf')
    link.renew('deaf again')
    await clock.settle()
    expect([made.length, left, state()?.state]).toEqual([2, 0, 'up'])
    link.renew('while it connects')
    at(1).up()
    await clock.settle()
    expect([made.length, left, at(0).isEnded()]).toEqual([2, 1, false])
    at(0).over()
    await clock.advance(60_000)
    expect([made.length, state()?.state]).toEqual([2, 'up'])
  })

  it('keeps the old one through failures of the next, and says when that ended before the next stood', async () => {
    const { clock, made, at, states, state } = open({ overlaps: true })
    await clock.settle()
    at(0).up()
    await clock.advance(10_000)
    at(0).replace({ why: 'refresh' })
    await clock.settle()
    at(1).fail(away())
    await clock.settle()
    expect(states).toHaveLength(1)
    at(0).over({ why: 'it left' })
    await clock.settle()
    expect(state()).toEqual({ state: 'connecting', detail: 'it left' })
    await clock.advance(1_000)
    at(2).up()
    expect([made.length, state()?.state]).toEqual([3, 'up'])
  })

  it('is not made where one is being made anyway', async () => {
    const { clock, made, at } = open({ overlaps: true })
    await clock.settle()
    at(0).replace({ why: 'refresh' })
    await clock.advance(5_000)
    expect(made).toHaveLength(1)
  })

  it('without overlap is made after the old one ended', async () => {
    const { clock, made, at, link, state, retries } = open()
    await clock.settle()
    at(0).up()
    link.renew('deaf')
    link.renew('deaf')
    expect(at(0).isEnded()).toBe(true)
    await clock.settle()
    expect([made.length, state(), retries]).toEqual([2, { state: 'connecting', detail: 'deaf' }, []])
  })

  it('cuts short what is waited out', async () => {
    const { clock, made, at, link } = open()
    await clock.settle()
    at(0).over({ why: 'refused', waitMs: 300_000 })
    await clock.settle()
    link.renew('the token is new')
    await clock.settle()
    expect(made).toHaveLength(2)
  })
})

describe('[I36.link-stop] a link that is stopped', () => {
  const stopped = async (scene: ReturnType<typeof open>) => {
    let isDone = false
    const before = scene.made.length
    const states = scene.states.length
    void scene.link.stop().then(() => {
      isDone = true
    })
    await scene.clock.settle()
    expect([isDone, scene.clock.pending()]).toEqual([true, 0])
    await scene.clock.advance(3_600_000)
    expect([scene.made.length, scene.states.length]).toEqual([before, states])
    expect(scene.made.every((one) => one.isEnded())).toBe(true)
  }

  it('ends while it waits for the lease', async () => {
    const scene = open({}, false)
    await scene.clock.settle()
    await stopped(scene)
  })

  it('ends while it connects, while it is up, while it overlaps and while it waits; then it gives the lease back', async () => {
    const connecting = open({}, true)
    await connecting.clock.settle()
    await stopped(connecting)
    const standing = open({ probeEveryMs: 1_000 }, true)
    await standing.clock.settle()
    standing.at(0).up({ probe: async () => true })
    await standing.clock.settle()
    await stopped(standing)
    const overlapping = open({ overlaps: true }, true)
    await overlapping.clock.settle()
    overlapping.at(0).up()
    overlapping.link.renew('deaf')
    await overlapping.clock.settle()
    await stopped(overlapping)
    const waiting = open({}, true)
    await waiting.clock.settle()
    waiting.at(0).fail(away())
    await waiting.clock.settle()
    await stopped(waiting)
    for (const { lease } of [connecting, standing, overlapping, waiting]) expect(lease.released).toBe(1)
  })

  it('connects no more when the store answers late', async () => {
    for (const answer of [true, false]) {
      let late: (held: boolean) => void = () => undefined
      const scene = open({}, new Promise((resolve) => (late = resolve)))
      await scene.clock.settle()
      const stop = scene.link.stop()
      late(answer)
      await stop
      expect([scene.made.length, scene.lease.released, scene.clock.pending()]).toEqual([0, 1, 0])
    }
  })

  it('gives the lease back after the last connection ended, also one that was left', async () => {
    const ends: (() => void)[] = []
    const { clock, link, lease } = open(
      {
        overlaps: true,
        connect({ up }) {
          up({ leave: () => undefined })
          return new Promise((resolve) => void ends.push(() => resolve(undefined)))
        },
      },
      true,
    )
    await clock.settle()
    link.renew('deaf')
    await clock.settle()
    const stop = link.stop()
    ends[1]?.()
    await clock.settle()
    expect([ends.length, lease.released]).toEqual([2, 0])
    ends[0]?.()
    await stop
    expect(lease.released).toBe(1)
  })

  it('waits only so long for a store that does not answer, or a connection that does not end', async () => {
    const mute = open({ endMs: 2_000 }, new Promise<boolean>(() => undefined))
    const deaf = open({ endMs: 2_000, connect: () => new Promise(() => undefined) }, true)
    for (const { clock, link, lease } of [mute, deaf]) {
      await clock.settle()
      let isDone = false
      void link.stop().then(() => {
        isDone = true
      })
      await clock.advance(1_999)
      expect(isDone).toBe(false)
      await clock.advance(1)
      expect([isDone, lease.released]).toEqual([true, 0])
    }
  })
})
