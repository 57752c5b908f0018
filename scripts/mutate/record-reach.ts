// In a test process of the first run: writes down which places of the code each test reaches.
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
/** As `-t` sees it: the names of the groups around it and its own, with a space between. */
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
