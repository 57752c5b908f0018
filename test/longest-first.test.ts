// The list of the files that take longest is of files that are there.
import { expect, it } from 'vitest'
import { exists } from './house/source.ts'
import { LONGEST, rankOf } from './longest-first.ts'

it('names only files that are there, and puts them before all others', () => {
  expect(LONGEST.filter((file) => !exists(file))).toEqual([])
  expect(new Set(LONGEST).size).toBe(LONGEST.length)
  expect(rankOf('src/kit/kit.test.ts')).toBeGreaterThan(rankOf(LONGEST.at(-1) ?? ''))
})
