// docs/reference/ is generated: stale pages fail here.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { referencePages } from '../scripts/reference-pages.ts'

it('the reference pages are up to date (npm run docs)', async () => {
  const pages = Object.entries(await referencePages())
  expect(pages.length).toBeGreaterThan(3)
  for (const [name, text] of pages) {
    const kept = readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8')
    expect(kept, name).toBe(text)
  }
})
