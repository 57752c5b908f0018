// Many readers of one hook and many pending rows: the cost of a look does not grow with the readers.
import { describe, expect, it } from 'vitest'
import { data, setUp } from './fixtures/stream-scene.ts'
import { SECRET } from './fixtures/webhook-requests.ts'

const LOOK_MS = 5_000

/** A hook with pending reminders, and readers. `queries` counts the queries to the store from then on. */
async function scene(reminders: number, readers: number) {
  const opened = setUp()
  const { deps, row, reader } = opened
  let queries = 0
  const { transcript } = deps
  Object.assign(deps, {
    transcript: (query: Parameters<typeof transcript>[0]) => {
      queries += 1
      return transcript(query)
    },
    async onItsWay() {
      queries += 1
      return deps.rows.filter(({ state }) => state === 'queued' || state === 'sending').map(({ seq }) => seq)
    },
  })
  for (let seq = 1; seq <= reminders; seq += 1) row(seq, 'queued')
  const watching = []
  for (let at = 0; at < readers; at += 1) {
    const headers = { authorization: `Bearer ${SECRET}` }
    watching.push(await reader(at % 2 === 0 ? '' : 'conversation=webhook', headers))
  }
  await deps.clock.settle()
  // The first look finds the position.
  await deps.clock.advance(LOOK_MS)
  return {
    ...opened,
    watching,
    async during(work: () => Promise<void>) {
      queries = 0
      await work()
      return queries
    },
  }
}

describe('many readers', () => {
  it.each([
    { reminders: 1_000, readers: 20 },
    { reminders: 1_000, readers: 100 },
    { reminders: 10, readers: 1 },
  ])('[I23.readers-one-query] $reminders reminders, $readers readers: two queries a look', async (many) => {
    const { deps, during } = await scene(many.reminders, many.readers)
    expect(await during(() => deps.clock.advance(LOOK_MS))).toBe(2)
    expect(await during(() => deps.clock.advance(4 * LOOK_MS))).toBe(8)
  })

  it('[I23.readers-one-query] nothing waits: one query a look', async () => {
    const { deps, during } = await scene(0, 50)
    expect(await during(() => deps.clock.advance(LOOK_MS))).toBe(1)
  })

  it('[I23.readers-one-query] a reminder that another node sent is found by the look, and by it alone', async () => {
    const { deps, row, watching, during } = await scene(1_000, 20)
    row(500, 'sent')
    const queries = await during(() => deps.clock.advance(LOOK_MS))
    for (const reader of watching) expect(data(reader)).toEqual(['m500'])
    // Two for all, and one page for each affected reader. The ten pages of pending rows are not read.
    expect(queries).toBeLessThanOrEqual(2 + 20 * 3)
  })

  it('[I23.readers-one-query] a live message behind many reminders does not read them again', async () => {
    const { deps, send, watching, during } = await scene(1_000, 20)
    const queries = await during(async () => {
      await send(1_001)
      await deps.clock.settle(40)
    })
    for (const reader of watching) expect(data(reader)).toEqual(['m1001'])
    expect(queries).toBeLessThanOrEqual(20 * 4)
  })

  it('[I23.readers-one-query] many that come at once, as after a restart, read what waits once for all', async () => {
    const { deps, reader, row, during } = await scene(1_000, 0)
    const opened: Awaited<ReturnType<typeof reader>>[] = []
    const queries = await during(async () => {
      const headers = { authorization: `Bearer ${SECRET}` }
      opened.push(...(await Promise.all(Array.from({ length: 100 }, () => reader('', headers)))))
      await deps.clock.settle(40)
    })
    // At most twice eleven pages of pending rows and the newest. Then each reader continues from there.
    expect(queries).toBeLessThanOrEqual(2 * 12 + 100 * 2)
    row(500, 'sent')
    await deps.clock.advance(2 * LOOK_MS)
    expect(opened).toHaveLength(100)
    for (const one of opened) expect(data(one)).toEqual(['m500'])
  })
})
