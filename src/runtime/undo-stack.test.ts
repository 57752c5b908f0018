// The end of a daemon undoes every step, also when one of them fails.
import { expect, it } from 'vitest'
import type { Logger } from '../contract/index.ts'
import { createUndoStack } from './undo-stack.ts'

it('takes every step back once, the last one first, whatever fails on the way', async () => {
  const done: string[] = []
  const logged: unknown[] = []
  const undo = createUndoStack({ error: (fields: object) => logged.push(fields) } as unknown as Logger)
  undo.push(() => void done.push('lock'))
  undo.push(async () => {
    throw new Error('later')
  })
  undo.push(() => {
    throw new Error('at once')
  })
  undo.push(async () => void done.push('server'))
  await undo.unwind()
  await undo.unwind()
  expect(done).toEqual(['server', 'lock'])
  expect(logged).toEqual([{ error: 'Error: at once' }, { error: 'Error: later' }])
})
