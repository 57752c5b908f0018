// Frames of one turn of the event loop are one write, whatever their sources.
import { expect, it } from 'vitest'
import { gatherWrites } from './gathered-writes.ts'

it('[I23.evidence-together] what is said in one turn of the loop, behind promises too, is one write, in order', async () => {
  const written: string[] = []
  const writes = gatherWrites((text) => written.push(text))
  for (let n = 0; n < 256; n++) writes.push(`${n} `)
  await Promise.all(
    [256, 257].map(async (n) => {
      await Promise.resolve()
      writes.push(`${n} `)
    }),
  )
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toEqual([Array.from({ length: 258 }, (_, n) => `${n} `).join('')])
})

it('[I23.evidence-together] what waits goes out before the end, and once', async () => {
  const written: string[] = []
  const writes = gatherWrites((text) => written.push(text))
  writes.push('bye')
  writes.flush()
  writes.flush()
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toEqual(['bye'])
})
