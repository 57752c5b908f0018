// Writes docs/reference/ from the schemas and tables, so that the reference cannot drift. A test fails when it is stale.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { referencePages } from './reference-pages.ts'

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url))
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(await referencePages())) {
  writeFileSync(`${folder}${name}`, text)
  console.log(`docs/reference/${name}`)
}
