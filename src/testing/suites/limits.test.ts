// The waits of the platform suite say what the fixture lacks.
import { expect, it } from 'vitest'
import { delivered, eventually } from './limits.ts'

it('[I13.suite-finds-faults] names what deliver must return', async () => {
  const silent = { name: 'a page', deliver: async () => undefined as never }
  await expect(delivered(silent)).rejects.toThrow('must return { acknowledged, sentBack }')
})

it('[I13.suite-finds-faults] lets time go on by `pass` until it holds', async () => {
  let seconds = 0
  const pass = async () => {
    seconds += 1
  }
  await eventually({ pass }, () => seconds === 2, 'the time stands still')
  expect(seconds).toBe(2)
})
