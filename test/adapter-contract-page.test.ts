// docs/guide/adapter-contract.md has every member of the contract, and no member that is gone.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/guide/adapter-contract.md')

/** Where each type of the page is declared. */
const TYPES = {
  PlatformAdapter: 'platform/platform.ts',
  Abilities: 'platform/platform.ts',
  Endpoint: 'platform/endpoint.ts',
  PlatformLink: 'platform/platform.ts',
  Pace: 'platform/platform.ts',
  StreamingByEdits: 'platform/platform.ts',
  StatusLine: 'platform/platform.ts',
  PlatformFiles: 'platform/platform.ts',
  HistoryReader: 'message/history.ts',
  Watchers: 'platform/platform.ts',
  PlatformChecks: 'platform/platform.ts',
  PlatformIntake: 'platform/platform-deps.ts',
  PlatformDeps: 'platform/platform-deps.ts',
  LinkLease: 'platform/platform-deps.ts',
  AgentConnector: 'agent/agent.ts',
  Redelivery: 'agent/agent.ts',
  AgentOutlet: 'agent/agent.ts',
  ConnectorDeps: 'agent/agent.ts',
}
/** The adapter calls these, so their examples are statements. The others are implemented, so theirs are members. */
const GIVEN = ['PlatformIntake', 'PlatformDeps', 'LinkLease', 'AgentOutlet', 'ConnectorDeps']

interface Member {
  readonly name: string
  readonly required: boolean
}

/** The members of an interface, as its declaration has them: one indentation deep. */
function declared(type: string, file: string): readonly Member[] {
  const [, body = ''] =
    new RegExp(`^export interface ${type} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(read(`src/contract/${file}`)) ??
    []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)(\??)[:(<]/gm)].map(([, name = '', mark]) => ({
    name,
    required: mark === '',
  }))
}

interface Row extends Member {
  readonly cells: readonly string[]
}

function rows(type: string): readonly Row[] {
  const [, section = ''] =
    new RegExp(`^### ${type}\\n([\\s\\S]*?)(?=^##|$(?![\\s\\S]))`, 'm').exec(page) ?? []
  return [...section.matchAll(/^\| `(\w+)`( \*)? \|(.*)\|$/gm)].map(([, name = '', mark, rest = '']) => ({
    name,
    required: mark !== undefined,
    cells: rest.split('|').map((cell) => cell.trim()),
  }))
}

const byName = (one: Member, other: Member) => one.name.localeCompare(other.name)
const membersOf = (all: readonly Member[]) =>
  all.map(({ name, required }) => ({ name, required })).sort(byName)

describe.each(Object.entries(TYPES))('[I36.contract-page] %s', (type, file) => {
  it('has each member, and says which are required', () => {
    expect(declared(type, file).length).toBeGreaterThan(0)
    expect(membersOf(rows(type))).toEqual(membersOf(declared(type, file)))
  })

  it('says for each what it is for, what it promises, and an example that parses', () => {
    for (const { name, cells } of rows(type)) {
      expect([name, cells.length, cells.filter((cell) => cell === '')]).toEqual([name, 3, []])
      const example = cells[2]?.replaceAll('`', '') ?? ''
      expect(example).toMatch(new RegExp(`\\b${name}\\b`))
      const code = GIVEN.includes(type) ? `async () => { ${example} }` : `({ ${example} })`
      expect(() => new Script(code), `${type}.${name}: ${example}`).not.toThrow()
    }
  })
})

it('[I36.contract-page] has no section for a type that the test does not know', () => {
  const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual(Object.keys(TYPES))
})
