// One-way turns: no answer is expected, so they have a separate window. Any later call of their host is evidence of
// them, and the oldest leave the window when the host's pipe took them.
import { expect, it } from 'vitest'
import { openChannel, turn } from './fixtures/opened.ts'

const alert = (n: number, over: object = {}) => turn(n, { oneWay: true, ...over })
const WINDOW = 1_024

async function opened() {
  const open = await openChannel()
  const host = open.hosts.attach('kate', { proven: true })
  host.room = 100_000
  const { session } = alert(1)
  const rested = () => open.recorded.outputs.flatMap((one) => (one.kind === 'rests' ? one.turns : []))
  /** Delivers as many as the connector has room for, up to `to`. */
  const fill = async (from: number, to: number) => {
    let n = from
    for (; n <= to && (open.connector.room?.(session) ?? 0) > 0; n++) {
      await open.connector.deliver(alert(n))
      await open.clock.settle()
    }
    return n - 1
  }
  return { ...open, host, session, rested, fill }
}

it('[I35.b20] do not stop after 256, nor after 1,024: what the pipe took slides on, the oldest first', async () => {
  const { connector, session, host, fill, rested } = await opened()
  expect(await fill(1, 3_000)).toBe(3_000)
  expect(host.events).toHaveLength(3_000)
  expect(connector.windowOf?.(session)).toBe(WINDOW)
  expect(rested().slice(0, 2)).toEqual(['t1', 't2'])
  expect(rested().length).toBeGreaterThan(3_000 - WINDOW)
  expect(connector.crowded?.()).toBeNull()
})

it('[I35.b20] stop at 1,024 where the pipe takes nothing, and say so', async () => {
  const { connector, host, fill, rested } = await opened()
  host.onEvent = () => new Promise(() => undefined)
  expect(await fill(1, 3_000)).toBe(WINDOW)
  expect(rested()).toEqual([])
  expect(connector.crowded?.()).toContain('the window of one-way messages is full')
})

it('[I35.b20] any later call of the host is evidence of all before it, also of those that slid on', async () => {
  const { host, fill, evidence, recorded } = await opened()
  await fill(1, 1_500)
  await host.call('get_roster', { chat_id: 'another:place' })
  expect(new Set(evidence()).size).toBe(1_500)
  expect(recorded.outputs.filter((one) => one.kind === 'evidence')[0]).toMatchObject({ rests: 'one_way' })
  await host.call('get_roster', { chat_id: 'another:place' })
  expect(evidence()).toHaveLength(1_500)
})

it('[I35.b20] a call proves nothing of what the pipe has not taken, nor does it prove an unproven host', async () => {
  const { connector, clock, hosts, evidence } = await openChannel()
  const host = hosts.attach('kate')
  host.onEvent = ({ turn: id }) => (id === 't2' ? new Promise(() => undefined) : undefined)
  for (const n of [1, 2]) await connector.deliver(alert(n))
  await clock.settle()
  await host.call('get_roster', { chat_id: 'another:place' })
  expect(evidence()).toEqual(['t1 seen'])
  expect(connector.whereIs?.('t2')).toMatchObject({ proven: false })
})

it('[I35.b20] what nobody answers takes no place of what somebody does, and the other way round', async () => {
  const { connector, clock, fill, session } = await opened()
  await fill(1, WINDOW)
  const chat = { session: 'a chat', chatId: 'place:chat' }
  expect(connector.room?.('a chat')).toBeGreaterThan(0)
  expect(connector.windowOf?.('a chat')).toBe(256)
  for (let n = 5_001; n <= 5_256; n++) await connector.deliver(turn(n, chat))
  await clock.settle()
  expect(connector.crowded?.()).toContain('the window of a conversation is full: 256 messages')
  expect(connector.room?.(session)).toBeGreaterThan(0)
})

it('[I35.b20] ack of one covers those before it in that chat', async () => {
  const { connector, clock, recorded, host } = await opened()
  const elsewhere = { chatId: 'place:other', session: 's2' }
  for (const one of [turn(1), turn(2, elsewhere), turn(3)]) await connector.deliver(one)
  await clock.settle()
  const told = await host.seat.call({ key: 'k', tool: 'ack', input: { message_id: 'm3' } }, () => undefined)
  expect(told.done).toEqual(['t1', 't3'])
  expect(recorded.outputs.at(-1)).toMatchObject({ turn: 't1', of: 'seen', rests: 'acknowledged' })
})

it('[I35.b20] are offered again once at most', async () => {
  const { connector, clock, recorded, host, rested } = await opened()
  await connector.deliver(alert(1))
  await connector.deliver(alert(2, { repeat: true }))
  await clock.settle()
  host.detach()
  await clock.settle()
  expect(recorded.outputs.filter((one) => one.kind === 'returned')).toMatchObject([{ turns: ['t1'] }])
  expect(rested()).toEqual(['t2'])
})
