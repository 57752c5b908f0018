// The turns of a host are indexed: a query costs the same with ten turns and with ten thousand.
import { expect, test } from 'vitest'
import type { Held } from './evidence.ts'
import { provedBy } from './evidence.ts'
import { createHeldTurns } from './held-turns.ts'

/** A list of this size that counts how often a turn in it was examined. */
function bookOf(size: number) {
  let looks = 0
  const held = Array.from({ length: size }, (_, n): Held => {
    const one: Held = {
      ...{
        turn: `t${n}`,
        session: `s${n}`,
        chatId: `hook:${n}`,
        messageId: `m${n}`,
        file: {},
        delivery: null,
      },
      ...{
        phase: 'open',
        seen: false,
        fetched: false,
        counted: false,
        answering: false,
        oneWay: false,
        confirmed: true,
      },
      ...{ files: [], lines: [], writtenAt: 0 },
    }
    return new Proxy(one, {
      get(target, key, self) {
        looks += 1
        return Reflect.get(target, key, self)
      },
    })
  })
  const book = createHeldTurns()
  for (const one of held) book.add(one)
  const looksOf = (ask: () => unknown): number => {
    looks = 0
    ask()
    return looks
  }
  return { book, held, looksOf }
}

const at = (all: readonly Held[], n: number) => all[n] as Held

test('[I23.held-lookup] what is asked for every message and every call is looked up, however much a host holds', () => {
  const costs = [10, 10_000].map((size) => {
    const { book, held, looksOf } = bookOf(size)
    const named = (over: object) => ({ chatId: null, messages: [], file: null, ...over })
    return [
      looksOf(() => book.get('t5')),
      looksOf(() => book.hasUnseen('s5', () => true)),
      looksOf(() => provedBy(book, named({ messages: ['m5'] }))),
      looksOf(() => provedBy(book, named({ chatId: 'hook:5' }))),
      looksOf(() => book.beforeInChat(at(held, size - 1))),
      looksOf(() => [book.size, book.unseenCount, book.acked.size]),
      looksOf(() => book.change(at(held, 1), { phase: 'acked' })),
      looksOf(() => book.remove(at(held, 2))),
    ]
  })
  expect(costs[1]).toEqual(costs[0])
})

test('[I23.held-lookup] what a call proves is found without looking at what was seen long ago', () => {
  const { book, held, looksOf } = bookOf(10_000)
  for (const one of held.slice(0, -2)) book.change(one, { seen: true })
  const turns = (found: readonly Held[]) => found.map(({ turn }) => turn)
  expect(turns(book.unprovenUpTo(at(held, 9_998)))).toEqual(['t9998'])
  expect(looksOf(() => book.unprovenUpTo(at(held, 9_999)))).toBeLessThan(10)
})

test('[I23.held-lookup] the look-ups follow what becomes of a turn', () => {
  const { book, held } = bookOf(4)
  const turns = (found: Iterable<Held>) => [...found].map(({ turn }) => turn)
  book.change(at(held, 0), { phase: 'brought' })
  book.change(at(held, 1), { seen: true })
  book.change(at(held, 2), { phase: 'acked' })
  expect(turns(book.unseen())).toEqual(['t3'])
  expect(book.unseenCount).toBe(1)
  expect(turns(book.acked)).toEqual(['t2'])
  expect(turns(book.unprovenUpTo(at(held, 2)))).toEqual(['t0', 't2'])
  expect([0, 1, 3].map((n) => book.hasUnseen(`s${n}`, () => true))).toEqual([false, false, true])
  book.change(at(held, 0), { phase: 'open' })
  expect(turns(book.unseen())).toEqual(['t0', 't3'])
  book.remove(at(held, 3))
  expect([turns(book), book.newest()?.turn, book.unseenCount]).toEqual([['t0', 't1', 't2'], 't2', 1])
  book.add(at(held, 3))
  expect([book.newest()?.turn, turns(book.named(['m3', 't0']))]).toEqual(['t3', ['t0', 't3']])
})
