// The stream of a two-way hook beside other nodes: rows that the transcript holds back, and sends of other nodes.
import { describe, expect, it } from 'vitest'
import { data, setUp } from './fixtures/stream-scene.ts'

describe('webhook stream beside other nodes', () => {
  it('[I14.stream-order] a live message waits for the rows that the transcript holds back before it', async () => {
    const { deps, row, send, reader } = setUp()
    const watching = await reader('after=0')
    deps.heldAbove = 0
    await send(2) // 1 was given out by another node, whose commit is under way
    await deps.clock.advance(1_000)
    expect(data(watching)).toEqual([])
    row(1, 'sent')
    deps.heldAbove = Number.POSITIVE_INFINITY
    await deps.clock.advance(5_000)
    expect(watching.events()).toEqual([
      { id: '1', data: 'm1' },
      { id: '2', data: 'm2' },
    ])
    expect(data(await reader('after=1'))).toEqual(['m2'])
  })

  it('[I14.stream-order] a hole that another node filled comes before the live message behind it', async () => {
    const { deps, row, send, reader } = setUp()
    row(1, 'sending') // by another node
    row(2, 'queued')
    const watching = await reader('after=0')
    await deps.clock.settle()
    expect(data(watching)).toEqual([])
    row(1, 'sent')
    await send(2)
    await deps.clock.settle()
    expect(data(watching)).toEqual(['m1', 'm2'])
  })

  it('[I14.stream-order] what waits is looked for again soon, not at the next sweep', async () => {
    const { deps, send, reader } = setUp()
    const watching = await reader('after=0')
    deps.heldAbove = 0
    await send(1)
    await deps.clock.settle()
    deps.heldAbove = Number.POSITIVE_INFINITY
    await deps.clock.advance(200)
    expect(data(watching)).toEqual(['m1'])
  })

  it('[I14.stream-nodes] what another node sent is shown at its hint, to readers of that conversation alone', async () => {
    const { deps, adapter, row, reader } = setUp()
    const watching = await reader('after=0')
    const beside = await reader('after=0&conversation=elsewhere')
    let asked = 0
    const { transcript } = deps
    Object.assign(deps, {
      transcript: (query: Parameters<typeof transcript>[0]) => {
        if (query.conversation === 'elsewhere') asked += 1
        return transcript(query)
      },
    })
    row(1, 'sent')
    adapter.watchers?.heard('webhook')
    await deps.clock.settle()
    expect([data(watching), data(beside), asked]).toEqual([['m1'], [], 0])
  })

  it('[I14.stream-connected] "connected" is said when the place is taken: what follows is news', async () => {
    const { deps, row, open } = setUp()
    row(1, 'sent')
    let store: () => void = () => {}
    const there = new Promise<void>((resolve) => {
      store = resolve
    })
    const { transcript } = deps
    Object.assign(deps, {
      transcript: async (query: Parameters<typeof transcript>[0]) => {
        await there
        return transcript(query)
      },
    })
    const { reader } = await open()
    await deps.clock.settle()
    expect(reader?.text()).toBe('')
    store()
    await deps.clock.settle()
    expect(reader?.text()).toBe(': connected\n\n')
    row(2, 'sent') // by another node
    await deps.clock.advance(5_000)
    expect(reader && data(reader)).toEqual(['m2'])
  })

  it('[I14.stream-reminders] a reminder reaches a reader who came long after it was planned', async () => {
    const { deps, row, reader } = setUp()
    row(1, 'queued')
    for (let seq = 2; seq <= 450; seq++) row(seq, 'sent')
    const watching = await reader()
    row(1, 'sent') // by another node
    row(451, 'sent')
    await deps.clock.advance(5_000)
    expect(watching.events()).toEqual([
      { id: '450', data: 'm1' },
      { id: '451', data: 'm451' },
    ])
    row(452, 'queued')
    for (let seq = 453; seq <= 800; seq++) row(seq, 'sent')
    const resumed = await reader('after=451')
    row(452, 'sent')
    await deps.clock.advance(5_000)
    expect(data(resumed).at(-1)).toBe('m452')
    expect(resumed.events().at(-1)?.id).toBe('800')
  })

  it('[I14.stream-order] a hole is neither closed nor passed while the transcript holds its place back', async () => {
    const { deps, row, reader } = setUp()
    row(1, 'sending')
    row(2, 'sent')
    const watching = await reader('after=0')
    expect(watching.events()).toEqual([{ id: '2-1', data: 'm2' }])
    deps.heldAbove = 0
    await deps.clock.advance(5_000)
    row(1, 'sent')
    await deps.clock.advance(5_000)
    deps.heldAbove = Number.POSITIVE_INFINITY
    await deps.clock.advance(5_000)
    expect(watching.events().at(-1)).toEqual({ id: '2', data: 'm1' })
  })
})
