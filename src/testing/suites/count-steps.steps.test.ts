// The step counter. It tells linear from quadratic work, and throws when it cannot count.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesOf, ROOT } from '../../../test/house/source.ts'
import { countSteps, growthOf, LINEAR } from './count-steps.ts'

function once(size: number): number {
  let sum = 0
  for (let at = 0; at < size; at += 1) if (at % 2 === 0) sum += at
  return sum
}

function squared(size: number): void {
  for (let at = 0; at < size; at += 1) once(size)
}

function early(size: number): number {
  let sum = 0
  for (let at = 0; at < size; at += 1) if (at % 3 === 0) sum += at
  return sum
}
// V8 optimises this function before the first count.
for (let at = 0; at < 2_000; at += 1) early(1_000)

it('[I13.steps-true] code that ran before the first count is reported, not counted wrong', async () => {
  await expect(countSteps(() => early(1_000))).rejects.toThrow(/ran before steps were counted: early of/)
})

it('[I13.steps-true] linear work grows less than quadratic work', async () => {
  expect(await growthOf((size) => () => once(size), 50_000)).toBeLessThan(LINEAR)
  expect(await growthOf((size) => () => squared(size), 200)).toBeGreaterThan(3.5)
})

it('[I13.steps-true] every file that counts has a process of its own', () => {
  const counting = ['src', 'test', 'examples'].flatMap(filesOf).filter((file) => {
    if (!/\.test\.ts$/.test(file)) return false
    return /from '.*(?:count-steps|renderer-suite)\.ts'/.test(readFileSync(join(ROOT, file), 'utf8'))
  })
  expect(counting.length).toBeGreaterThanOrEqual(3)
  for (const file of counting) expect(file).toMatch(/\.steps\.test\.ts$|^test\/browser\//)
})
