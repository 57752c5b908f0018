// Runs in a test process of the first run, and records which places of the code each test reaches.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach } from 'vitest'
import type { Reach } from './reach.ts'

const reached = new Set<string>()
;(globalThis as { reachedPlaces?: Set<string> }).reachedPlaces = reached
const always = new Set<string>()
const tests: { name: string; ms: number; places: string[] }[] = []
let begun = 0
let file = ''

beforeEach(({ task }) => {
  file = task.file.filepath
  for (const place of reached) always.add(place)
  reached.clear()
  begun = performance.now()
})
afterEach(({ task }) => {
  if (task.result?.state === 'fail') return
  tests.push({ name: nameOf(task), ms: performance.now() - begun, places: [...reached] })
})
/** Returns a test's name as `-t` matches it: the names of its groups and its own, joined by spaces. */
function nameOf({
  name,
  suite,
}: {
  name: string
  suite?: { name: string; suite?: unknown } | undefined
}): string {
  return suite === undefined || suite.name === '' ? name : `${nameOf(suite as never)} ${name}`
}

afterAll(() => {
  const to = process.env.SWITCHBOARD_REACH
  if (to === undefined || file === '') return
  const reach: Reach = { file, always: [...always], tests }
  writeFileSync(join(to, `${createHash('sha256').update(file).digest('hex')}.json`), JSON.stringify(reach))
})
