// Much that waits: how many commits hand it over, counted. A commit takes what there is room for, of one conversation or of
// many, and a long queue costs each of its messages no more than a short one.
import { expect, it } from 'vitest'
import { type Store, SwitchboardError } from '../../src/contract/index.ts'
import { describeRiver, type River } from './river.ts'

const NONE = { rps: 0, burst: 0 }
const UNLIMITED = { tunables: { senderLimit: NONE, floodLimit: NONE } }

/** How much each take handed over from now on, and how often the store was asked at all. */
function watchTakes(river: River) {
  const store = river.store()
  const take = store.takeTurns
  const sizes: number[] = []
  let asked = 0
  const takeTurns: Store['takeTurns'] = async (lanes, leaseMs) => {
    asked += 1
    const taken = await take(lanes, leaseMs)
    const handed = taken.flatMap((one) => (one.outcome === 'taken' ? one.handed : []))
    if (handed.length > 0) sizes.push(handed.length)
    return taken
  }
  Object.assign(store, { takeTurns })
  return { sizes, asked: () => asked }
}

async function queued(river: River, conversations: number, each: number) {
  for (let n = 0; n < each; n++)
    for (let at = 0; at < conversations; at++) await river.person(`c${at}`).says(`${at}.${n}`)
  await river.settle()
}

describeRiver(
  'much that waits',
  (open) => {
    it('[I23.rooms-dealt] the window of a host is filled by one commit, however many conversations wait', async () => {
      const river = await open({ ...UNLIMITED, agent: { window: 64, roomed: true } })
      river.agent.script = () => undefined
      await queued(river, 100, 3)
      const takes = watchTakes(river)
      river.agent.makeRoom(64)
      await river.settle()
      expect(takes.sizes).toEqual([64])
      river.agent.makeRoom(64)
      await river.settle()
      expect(takes.sizes).toEqual([64, 64])
      while (river.agent.deliveries.length < 300) {
        river.agent.makeRoom(64)
        await river.settle()
      }
      // The first messages of some are fewer than their share: what is left over is filled by one more.
      expect(takes.sizes.length).toBeLessThanOrEqual(9)
      expect(takes.asked(), 'nobody asks who was given no place').toBeLessThanOrEqual(9)
      for (let at = 0; at < 100; at++) {
        const own = river.agent.texts().filter((text) => text.startsWith(`${at}.`))
        expect(own).toEqual([`${at}.0`, `${at}.1`, `${at}.2`])
      }
    })

    it('[I23.long-queue] a conversation with 2,000 waiting is handed over by windows, ten times as many by ten times the commits', async () => {
      const commits: number[] = []
      for (const many of [200, 2_000]) {
        const river = await open({ ...UNLIMITED, agent: { window: 100, attached: false, roomed: true } })
        river.agent.makeRoom(100)
        river.agent.script = () => undefined
        await queued(river, 1, many)
        const takes = watchTakes(river)
        river.agent.attach()
        await river.settle()
        let from = 0
        while (from < many) {
          const window = river.agent.deliveries.slice(from)
          expect(window.map(({ text }) => text)).toEqual(window.map((_, at) => `0.${from + at}`))
          from += window.length
          // A host that answers all of its window at once: that is one commit, and the next window is another.
          await Promise.all(window.map((one) => river.agent.evidence(one, 'answered')))
          river.agent.makeRoom(100)
          await river.settle()
        }
        expect(river.agent.deliveries).toHaveLength(many)
        commits.push(takes.sizes.length)
      }
      expect(commits).toEqual([2, 20])
    })

    it('[I23.long-queue] where hand-overs may overlap, a window is one take and one commit of answers, begun in order', async () => {
      const river = await open({ ...UNLIMITED, agent: { window: 8, attached: false, overlaps: true } })
      let flying = 0
      let most = 0
      river.agent.script = async (delivery, agent) => {
        flying += 1
        most = Math.max(most, flying)
        await agent.answer(delivery, `re: ${delivery.text}`)
        flying -= 1
      }
      await queued(river, 1, 40)
      const takes = watchTakes(river)
      river.agent.attach()
      await river.settle()
      expect(river.agent.texts()).toEqual(Array.from({ length: 40 }, (_, at) => `0.${at}`))
      expect(takes.sizes).toEqual([8, 8, 8, 8, 8])
      expect(most).toBe(8)
      await river.settle()
      expect(await river.store().turns({ states: ['answered'], limit: 50 })).toHaveLength(40)
    })

    it('[I23.long-queue] one of a window that was not taken comes again, before those behind the window, and nothing is lost', async () => {
      const river = await open({ ...UNLIMITED, agent: { window: 4, attached: false, overlaps: true } })
      river.agent.script = async (delivery, agent) => {
        if (delivery.text === '0.1' && delivery.attempt === 1)
          throw new SwitchboardError('platform_unavailable', 'not now', { retryAfterMs: 0 })
        await agent.answer(delivery, `re: ${delivery.text}`)
      }
      await queued(river, 1, 12)
      river.agent.attach()
      await river.settle()
      await river.pass(60_000)
      const texts = river.agent.texts()
      // Nothing is offered that goes back with it: each comes once, and this one twice.
      expect(texts).toEqual(['0.0', '0.1', ...Array.from({ length: 11 }, (_, at) => `0.${at + 1}`)])
      expect(await river.store().turns({ states: ['answered'], limit: 50 })).toHaveLength(12)
    })
  },
  ['memory'],
)
