// The `idle` of a delivery under trouble: it is owed until the callback took it, refused it, or is over.
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { seed } from './fixtures/chorus-scene.ts'
import { opened } from './fixtures/opened-chorus.ts'

const HOUR_MS = 3_600_000
const ALL = ['lifecycle processing', 'lifecycle idle']

async function begun() {
  const chorus = await opened()
  await chorus.receive(seed('minimal'))
  await chorus.move('msg_1', 'handed')
  return chorus
}

describe('idle', () => {
  it('[S8.lifecycle] is told when the callback comes back after hours', async () => {
    const { move, deps, callbacks, shown } = await begun()
    callbacks.down.status = 503
    await move('msg_1', 'answered')
    await deps.clock.advance(5 * HOUR_MS)
    expect(shown()).toEqual(['lifecycle processing'])
    callbacks.down.status = null
    await deps.clock.advance(60_000)
    expect(shown()).toEqual(ALL)
    await deps.clock.advance(HOUR_MS)
    expect(shown()).toEqual(ALL)
  })

  it('[S8.lifecycle] is told when the store comes back after hours', async () => {
    const { move, deps, shown } = await begun()
    deps.trouble.transcript = new SwitchboardError('store_unavailable', 'the store is away')
    await move('msg_1', 'answered')
    await deps.clock.advance(5 * HOUR_MS)
    expect(shown()).toEqual(['lifecycle processing'])
    deps.trouble.transcript = null
    await deps.clock.advance(60_000)
    expect(shown()).toEqual(ALL)
  })

  it('[S8.lifecycle] a service that asks for a pause is given it', async () => {
    const { move, deps, callbacks } = await begun()
    callbacks.down.status = 429
    callbacks.down.headers = { 'retry-after': '600' }
    await move('msg_1', 'answered')
    await deps.clock.advance(HOUR_MS)
    expect(callbacks.down.asked).toBe(7)
  })

  it('[S8.lifecycle] told once, it is not told again while that cannot be written down', async () => {
    const { move, deps, shown } = await begun()
    const shelf = deps.credentials as NonNullable<typeof deps.credentials>
    const { put } = shelf
    Object.assign(shelf, { put: () => Promise.reject(new Error('the disk is full')) })
    await move('msg_1', 'answered')
    await deps.clock.advance(HOUR_MS)
    expect(shown()).toEqual(ALL)
    Object.assign(shelf, { put })
    await deps.clock.advance(60_000)
    expect([...deps.kept.values()].map((text) => JSON.parse(text))).toMatchObject([{ done: true }])
    expect(shown()).toEqual(ALL)
  })

  it('is given up when the callback is over, and that is told in the log', async () => {
    const { move, deps, callbacks, shown } = await begun()
    callbacks.down.status = 503
    await move('msg_1', 'answered')
    await deps.clock.advance(26 * HOUR_MS)
    expect([shown(), deps.kept.size]).toEqual([['lifecycle processing'], 0])
    expect(deps.log.lines.join('\n')).toContain('the end of a delivery was not told')
    const { asked } = callbacks.down
    await deps.clock.advance(HOUR_MS)
    expect(callbacks.down.asked).toBe(asked)
  })
})
