// docs/reference/ is generated: stale pages fail here.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { referencePages } from '../scripts/reference-pages.ts'
import { CONNECTORS, PLANNED_CONNECTORS, PLANNED_PLATFORMS, PLATFORMS } from '../src/modules/registry.ts'

it('[I36.reference] the reference pages are up to date (npm run docs)', async () => {
  const pages = Object.entries(await referencePages())
  expect(pages.length).toBeGreaterThan(3)
  for (const [name, text] of pages) {
    const kept = readFileSync(new URL(`../docs/reference/${name}`, import.meta.url), 'utf8')
    expect(kept, name).toBe(text)
  }
})

it('[I14.reference-built] the reference says what is built, and of nothing that is not', async () => {
  const page = (await referencePages())['configuration.md'] ?? ''
  const names = (rows: object) =>
    Object.keys(rows)
      .map((name) => `\`${name}\``)
      .join(', ')
  expect(page).toContain(`| platforms | ${names(PLATFORMS)} | ${names(PLANNED_PLATFORMS)} |`)
  expect(page).toContain(`| connectors | ${names(CONNECTORS)} | ${names(PLANNED_CONNECTORS)} |`)
  // Nothing is left to come.
  expect(page).not.toContain(', not built)')
  expect(page).toContain('(`platform: telegram`) The bot’s token.')
})
