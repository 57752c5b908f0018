// Unseen turns in `doctor`: the oldest, and that there are more.
import { expect, it } from 'vitest'
import { unseenTurns } from './doctor-facts.ts'

const MANY = Array.from({ length: 3_000 }, (_, at) => ({ id: `idle-${at}` }))

it.each([
  [20, 20, undefined],
  [21, 20, true],
])(
  '[I14.list-cut] [I23.doctor-linear] of %i that lie unseen %i are listed, and the last says whether there are more',
  async (lying, listed, more) => {
    const all = Array.from({ length: lying }, (_, n) => ({
      ...{ id: `t${lying - n}`, seq: lying - n, agent: n % 2 === 0 ? 'kate' : 'paul', updatedAt: lying - n },
    })).flatMap((row) => [{ ...row, agent: 'kate' }, ...(row.agent === 'paul' ? [row] : [])])
    let asked = 0
    const turns = async ({ limit }: { limit: number }) => {
      asked += 1
      return all.slice(0, limit)
    }
    const found = await unseenTurns({
      store: { turns } as never,
      roster: { get: () => ({ connector: { redelivery: { unseenTold: true } } }) } as never,
      settings: {
        tunables: { unseenNoticeMs: 1_000 },
        agents: [{ id: 'kate' }, ...MANY],
      } as never,
      now: 1_000_000,
    })
    expect(asked).toBe(1)
    expect(found).toHaveLength(listed)
    expect(found[0]?.turn).toBe('t1')
    expect(found.at(-1)?.more).toBe(more)
    expect(found.slice(0, -1).every((one) => one.more === undefined)).toBe(true)
  },
)

it.each([
  [true, 'take me as a channel', /^the host took messages before/],
  [false, 'take me as a channel', /^take me as a channel$/],
  [null, 'take me as a channel', /^take me as a channel$/],
  [false, undefined, /^its host never showed/],
])(
  '[I13.module-doctor] why it lies unseen is said by its connector: proven %s, %s',
  async (proven, unseenBecause, why) => {
    const connector = {
      ...{ redelivery: { unseenTold: true }, unseenBecause },
      whereIs: () => (proven === null ? null : { host: 'h', proven }),
    }
    const found = await unseenTurns({
      store: { turns: async () => [{ id: 't', seq: 1, agent: 'kate', updatedAt: 0 }] } as never,
      roster: { get: () => ({ connector }) } as never,
      settings: {
        tunables: { unseenNoticeMs: 1_000 },
        agents: [{ id: 'kate', connector: { type: 'parrot', options: { dialect: 'nexo' } } }],
      } as never,
      now: 1_000_000,
    })
    expect(found).toMatchObject([{ turn: 't', why: expect.stringMatching(why) }])
  },
)
