// Streams on three nodes under load: whoever reads gets everything that is sent, once, in order, and can leave and come
// back at every position, at any node. Real commits that overlap are the point, so the clock is the real one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatAddress } from '../../src/contract/index.ts'
import { until } from '../faults/until.ts'
import { CHAT, HOOK, openStreamNodes, type StreamNodes, type StreamReader } from './stream-nodes.ts'

const CONVERSATIONS = 10
const EACH = 20
const NAMES = Array.from({ length: CONVERSATIONS }, (_, index) => `room-${index}`)

describe('streams on three nodes under load', () => {
  let nodes: StreamNodes
  beforeAll(async () => {
    nodes = await openStreamNodes()
  })
  afterAll(() => nodes.close())

  /** All conversations at once, each message through another node than the one before it. */
  const load = (integration: string, word: string) =>
    Promise.all(
      NAMES.map(async (name, start) => {
        for (let count = 0; count < EACH; count++)
          await nodes.say(start + count, integration, name, `${name} ${word} ${count}`)
      }),
    )
  const expected = (name: string, word: string) =>
    Array.from({ length: EACH }, (_, count) => `${name} ${word} ${count}`)
  const ofRoom = (texts: readonly string[], name: string) =>
    texts.filter((text) => text.startsWith(`${name} `))
  const allHere = (readers: readonly StreamReader[], count: number) =>
    until('every reader has everything', () => readers.every((reader) => reader.texts().length >= count))

  it('[I14.stream-nodes] [I14.stream-resume] readers of a hook get every message once, in order, and the rest from every position', async () => {
    const all = await Promise.all([0, 1, 2].map((node) => nodes.readHook(node, null, '0')))
    const fresh = await nodes.readHook(1, null)
    const one = await Promise.all(NAMES.slice(0, 3).map((name, node) => nodes.readHook(node, name, '0')))
    await until('the fresh one has its place', () => fresh.started())
    await load(HOOK, 'said')
    await allHere([...all, fresh], CONVERSATIONS * EACH)
    await allHere(one, EACH)
    for (const reader of [...all, fresh])
      for (const name of NAMES) expect(ofRoom(reader.texts(), name)).toEqual(expected(name, 'said'))
    for (const [index, reader] of one.entries())
      expect(reader.texts()).toEqual(expected(NAMES[index] ?? '', 'said'))
    for (const reader of [...all, fresh, ...one]) {
      for (const [index, { id }] of reader.events().entries()) {
        // Every position of one, some of the others.
        if (index % 23 !== 0 && reader !== one[0]) continue
        const conversation = one.includes(reader) ? (NAMES[one.indexOf(reader)] ?? '') : null
        const back = await nodes.readHook(reader.node + 1, conversation, id)
        const rest = reader.texts().slice(index + 1)
        await until(`the rest after ${id}`, () => back.texts().length >= rest.length)
        expect([...back.texts()].sort(), `after ${id}`).toEqual([...rest].sort())
        back.close()
      }
      reader.close()
    }
  })

  it('[I14.stream-resume] a reader that leaves and comes back all the time, elsewhere each time, misses nothing', async () => {
    const seen: string[] = []
    let last = ''
    let reader = await nodes.readHook(0, null)
    await until('it has its place', () => reader.started())
    const loading = load(HOOK, 'more')
    for (let hop = 1; seen.length < CONVERSATIONS * EACH; hop++) {
      await until('something came', () => reader.texts().length > 0)
      reader.close()
      seen.push(...reader.texts())
      last = reader.events().at(-1)?.id ?? last
      reader = await nodes.readHook(hop, null, last)
    }
    await loading
    reader.close()
    expect(seen.length).toBe(CONVERSATIONS * EACH)
    for (const name of NAMES) expect(ofRoom(seen, name)).toEqual(expected(name, 'more'))
  })

  it('[I14.web-nodes] every window of a web chat shows every message once, in order, and the rest from every cursor', async () => {
    const people = NAMES.slice(0, 3)
    const windows = await Promise.all(
      people.flatMap((name) => [0, 1, 2].map((node) => nodes.readChat(node, name))),
    )
    await until('each has its place', () => windows.every((one) => one.started()))
    await load(CHAT, 'said')
    await allHere(windows, EACH)
    for (const [index, window] of windows.entries()) {
      const name = people[Math.floor(index / 3)] ?? ''
      expect(window.texts()).toEqual(expected(name, 'said'))
      const entries = window.events().filter(({ event }) => event === 'entry')
      for (const [at, { id }] of entries.entries()) {
        if (at % 5 !== 0) continue
        const back = await nodes.readChat(window.node + 1, name, id)
        await until(`the rest after ${id}`, () => back.texts().length >= EACH - at - 1)
        expect(back.texts()).toEqual(expected(name, 'said').slice(at + 1))
        back.close()
      }
      window.close()
    }
  })

  it('[I14.stream-retry] what failed and is tried again reaches readers who passed it, live and coming back, once', async () => {
    for (const integration of [HOOK, CHAT]) {
      const place = `retried in ${integration}`
      const read = (node: number, after?: string) =>
        integration === HOOK ? nodes.readHook(node, place, after) : nodes.readChat(node, place, after)
      const [store] = nodes.stores
      await nodes.say(0, integration, place, 'given up', Date.now() + 1_000)
      const [row] = (await store?.sends({ integration, conversation: place, limit: 1 })) ?? []
      await store?.operateSend(row?.id ?? '', 'bury', 'operator')
      const live = await Promise.all([0, 1, 2].map((node) => read(node)))
      const events = nodes.readEvents(1)
      await until('each has its place', () => live.every((one) => one.started()))
      await nodes.say(1, integration, place, 'behind it')
      await allHere(live, 1)
      const last = live[2]?.events().at(-1)?.id ?? ''
      live[2]?.close()
      await nodes.stores[1]?.operateSend(row?.id ?? '', 'retry', 'operator')
      const shows = (one: StreamReader, ...texts: string[]) =>
        until(`node ${one.node} of ${integration} shows it`, () => one.texts().length >= texts.length).then(
          () => expect(one.texts()).toEqual(texts),
        )
      const back = await Promise.all([0, 1, 2].map((node) => read(node, last)))
      for (const one of back) await shows(one, 'given up')
      for (const one of live.slice(0, 2)) await shows(one, 'behind it', 'given up')
      // Whoever had it, or reads from its new place on, gets nothing more.
      for (const one of [...back, ...live.slice(0, 2)]) {
        // A signal has no place, and may come last.
        const from = one.events().findLast(({ id }) => id !== '')?.id
        const again = await read(one.node + 1, from)
        await nodes.say(2, integration, place, 'end')
        await until('the end is read', () => again.texts().includes('end'))
        expect(again.texts().filter((text) => text !== 'end')).toEqual([])
        again.close()
        one.close()
      }
      const lane = formatAddress({ integration, conversation: place })
      await until('/events told of it', () => events.events().some(({ data }) => data.includes(lane)))
      events.close()
    }
  })

  it('[I14.events-nodes] each reader of /events is told of what moved at the other nodes', async () => {
    const readers = [0, 1, 2].map((node) => nodes.readEvents(node))
    await load(HOOK, 'told')
    const lanes = NAMES.map((conversation) => formatAddress({ integration: HOOK, conversation }))
    for (const reader of readers) {
      for (const lane of lanes) {
        await until(`${lane} at node ${reader.node}`, () =>
          reader.events().some(({ event, data }) => event === 'sends' && JSON.parse(data).id === lane),
        )
      }
      const told = reader
        .events()
        .flatMap(({ event, data }) => (event === 'sends' ? [JSON.parse(data).id] : []))
      expect(new Set(told)).toEqual(new Set(lanes))
      reader.close()
    }
  })
})
