// Every scenario has three arrangements: SQLite, PostgreSQL, and three nodes on one PostgreSQL. Exceptions are written
// down here.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Files with scenarios that have fewer arrangements, and why. */
const FEWER: Readonly<Record<string, string>> = {
  'channel-tools.test.ts': 'what a tool answers stays on the node that has its server',
  'ten-thousand.test.ts': 'about numbers, in memory',
}
/** Files without a river, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'arrangements.test.ts': 'this one',
  'telegram-faults.test.ts': 'the adapter under fault plans; the store is beside the point',
}

it('[I6.scenarios-three] every scenario runs on SQLite, on PostgreSQL and on three nodes, but for written reasons', () => {
  const folder = new URL('.', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const unexplained: string[] = []
  for (const name of files) {
    const text = readFileSync(new URL(name, folder), 'utf8')
    const rivers = [...text.matchAll(/^describeRiver\(/gm)].length
    const fewer = [...text.matchAll(/^ {2}\[(?:'(?:sqlite|postgres|memory)',? ?)+\],?$/gm)].length
    if (rivers === 0 && OTHERWISE[name] === undefined) unexplained.push(name)
    if (fewer > 0 && FEWER[name] === undefined) unexplained.push(name)
  }
  expect(unexplained).toEqual([])
  expect(files.length).toBeGreaterThan(15)
})
