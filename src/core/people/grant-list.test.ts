// The grants in memory: they are never older than the last change this node heard of.
import { expect, it } from 'vitest'
import type { Grant, Hint } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createGrantList } from './grant-list.ts'

const ANN: Grant = { integration: 'chat', sender: 'ann', right: 'talk', by: 'op', at: 0 }
const quiet = createRecordingLog()

/** A store whose reads see the state at their start, and resolve on demand. */
function slowStore() {
  const waiting: (() => void)[] = []
  let hint: (hint: Hint) => void = () => undefined
  const store = {
    rows: [ANN] as readonly Grant[],
    answer: () =>
      waiting
        .splice(0)
        .reverse()
        .map((go) => go()).length,
    changed: () => hint({ kind: 'access' }),
    grants() {
      const seen = store.rows
      return new Promise<readonly Grant[]>((resolve) => waiting.push(() => resolve(seen)))
    },
    onHint(listen: (hint: Hint, from: null) => void) {
      hint = (told) => listen(told, null)
    },
  }
  return store
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

it('a read that began before a revoke does not bring the grant back', async () => {
  const store = slowStore()
  const book = createGrantList(store, quiet)
  const first = book.load()
  await turn()
  store.rows = []
  store.changed()
  store.changed()
  const last = book.load()
  let reads = 0
  for (let round = 0; round < 10; round++) {
    await turn()
    reads += store.answer()
  }
  await Promise.all([first, last])
  expect(book.has('chat', 'ann', 'talk')).toBe(false)
  expect(reads, 'those who asked meanwhile share one').toBe(2)
})

it('a read that failed holds up none behind it', async () => {
  const store = slowStore()
  const book = createGrantList(store, quiet)
  const grants = store.grants
  store.grants = () => Promise.reject(new Error('away'))
  await expect(book.load()).rejects.toThrow('away')
  store.grants = grants
  const again = book.load()
  await turn()
  store.answer()
  await again
  expect(book.has('chat', 'ann', 'talk')).toBe(true)
})
