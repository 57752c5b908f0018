// What `doctor` lists of turns that lie unseen: the oldest, and that there are more.
import { expect, it } from 'vitest'
import { unseenTurns } from './unseen-turns.ts'

it.each([
  [20, 20, undefined],
  [21, 20, true],
])(
  '[I14.list-cut] of %i that lie unseen %i are listed, and the last says whether there are more',
  async (lying, listed, more) => {
    const turns = async ({ limit }: { limit: number }) =>
      Array.from({ length: Math.min(limit, lying) }, (_, n) => ({ id: `t${n}`, updatedAt: n }))
    const found = await unseenTurns({
      store: { turns } as never,
      roster: { get: () => ({ connector: { redelivery: { unseenTold: true } } }) } as never,
      settings: {
        tunables: { unseenNoticeMs: 1_000 },
        agents: [{ id: 'kate', connector: { options: {} } }],
      } as never,
      now: 1_000_000,
    })
    expect(found).toHaveLength(listed)
    expect(found.at(-1)?.more).toBe(more)
    expect(found.slice(0, -1).every((one) => one.more === undefined)).toBe(true)
  },
)
