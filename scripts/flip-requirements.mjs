// Updates the states of requirements by their citations: a cited pending one becomes built, an uncited built one
// becomes pending. It edits the text of test/requirements/*.ts, so look at the diff before you commit it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { register } from 'tsx/esm/api'

register()
const { citations } = await import('../test/citations.ts')

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'test/requirements')
const cited = new Set(citations(root).map(({ id }) => id))

let flipped = 0
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)) {
  const path = join(folder, name)
  const before = readFileSync(path, 'utf8')
  const after = before.replace(/^(pending|built) +(\d+) +(\S+)/gm, (line, status, issue, id) => {
    const right = cited.has(id) ? 'built' : 'pending'
    if (status === right) return line
    flipped += 1
    console.log(`${id}: ${status} → ${right}`)
    return `${right.padEnd(7)} ${issue} ${id}`
  })
  if (after !== before) writeFileSync(path, after)
}
console.log(`${flipped} flipped`)
