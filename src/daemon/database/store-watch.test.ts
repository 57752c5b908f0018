// A database that refuses writes is reported, and its recovery is noticed.
import { describe, expect, it } from 'vitest'
import { type Store, SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { watchStore } from './store-watch.ts'

function scene() {
  const clock = createTestClock()
  const said: string[] = []
  const log = {
    ...{ debug() {}, warn() {}, child: () => log },
    info: (_fields: unknown, message: string) => void said.push(message),
    error: (_fields: unknown, message: string) => void said.push(message),
  }
  const state = { refusal: null as Error | null }
  const answer = async () => {
    if (state.refusal) throw state.refusal
    return []
  }
  const store = { receive: answer, lease: answer } as unknown as Store
  return { clock, said, state, watch: watchStore(store, { clock, log }) }
}

const FULL = new SwitchboardError('store_unavailable', 'no room', { hint: 'the disk is full' })

describe('the store watch', () => {
  it('[S14.http-readyz] tells the problem once, and that it is over without waiting for a sender', async () => {
    const { clock, said, state, watch } = scene()
    state.refusal = FULL
    await expect(watch.store.receive([])).rejects.toBe(FULL)
    await expect(watch.store.receive([])).rejects.toBe(FULL)
    expect(watch.problem()).toBe('no room (the disk is full)')
    await clock.advance(5_000)
    expect(watch.problem()).not.toBeNull()
    state.refusal = null
    await clock.advance(1_500)
    expect(watch.problem()).toBeNull()
    expect(said).toEqual(['messages cannot be stored', 'messages can be stored again'])
  })

  it('leaves errors alone that are not the store’s', async () => {
    const { said, state, watch } = scene()
    state.refusal = new SwitchboardError('conflict', 'somebody was first')
    await expect(watch.store.receive([])).rejects.toThrow('somebody was first')
    expect(watch.problem()).toBeNull()
    expect(said).toEqual([])
  })
})
