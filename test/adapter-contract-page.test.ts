// docs/guide/adapter-contract.md has every member of the contract, and no member that is gone.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/guide/adapter-contract.md')

/** Where each type of the page is declared. */
const PLATFORM_TYPES = {
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
}
/** The types of the section with data: their rows have a meaning and an example. */
const DATA = {
  Address: 'message/address.ts',
  LinkState: 'platform/platform.ts',
  InboundBase: 'message/message.ts',
  InboundMessage: 'message/message.ts',
  InboundTap: 'message/message.ts',
  InboundReaction: 'message/message.ts',
  InboundDelete: 'message/message.ts',
  InboundUnparsable: 'message/message.ts',
  InboundFiltered: 'message/message.ts',
  InboundBarred: 'message/message.ts',
  InboundVerdict: 'message/message.ts',
  InboundReport: 'message/message.ts',
  Sender: 'message/message.ts',
  Quoted: 'message/message.ts',
  Attachment: 'message/message.ts',
  Received: 'platform/platform-deps.ts',
  SendRequest: 'platform/platform.ts',
  Tried: 'platform/platform.ts',
  OutboundOp: 'message/message.ts',
  Receipt: 'message/message.ts',
  ReadBack: 'platform/platform.ts',
  NewFile: 'platform/platform.ts',
  DownloadedFile: 'platform/platform.ts',
  HistoryPlace: 'message/history.ts',
  KnownConversation: 'message/history.ts',
  PlacesQuery: 'message/history.ts',
  PlacesPage: 'message/history.ts',
  Unlisted: 'message/history.ts',
  HistoryQuery: 'message/history.ts',
  HistoryEntry: 'message/history.ts',
  HistoryPage: 'message/history.ts',
}
const CONNECTOR_TYPES = {
  AgentConnector: 'agent/agent.ts',
  Redelivery: 'agent/agent.ts',
  AgentOutlet: 'agent/agent.ts',
  ConnectorDeps: 'agent/agent.ts',
}
const TYPES = { ...PLATFORM_TYPES, ...DATA, ...CONNECTOR_TYPES }
/** The adapter calls these, so their examples are statements. The others are implemented, so theirs are members. */
const GIVEN = ['PlatformIntake', 'PlatformDeps', 'LinkLease', 'AgentOutlet', 'ConnectorDeps']

interface Member {
  readonly name: string
  readonly required: boolean
}

/** The members of a type, as its declaration has them. */
function declared(type: string, file: string): readonly Member[] {
  const source = read(`src/contract/${file}`)
  const [, union] = new RegExp(`^export type ${type} =\\n([\\s\\S]*?)\\n\\n`, 'm').exec(source) ?? []
  return union === undefined ? membersOfInterface(type, source) : membersOfUnion(union)
}

/** One indentation deep. */
function membersOfInterface(type: string, source: string): readonly Member[] {
  const head = `^(?:export )?interface ${type}(?: extends \\w+)?`
  const [, body = ''] = new RegExp(`${head} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)(\??)[:(<]/gm)].map(([, name = '', mark]) => ({
    name,
    required: mark === '',
  }))
}

/** Members of each alternative, after its `kind` or `outcome`: `text.plain`. */
function membersOfUnion(union: string): readonly Member[] {
  const alternatives = union.replace(/\/\*\*[\s\S]*?\*\//g, '').split(/^ {2}\| /m)
  return alternatives.slice(1).flatMap((alternative): readonly Member[] => {
    const fields = fieldsOf(alternative)
    const tag = fields.find(({ name }) => name === 'kind' || name === 'outcome')
    if (tag === undefined) return fields
    const others = fields.filter((field) => field !== tag)
    return [...tag.type.matchAll(/'([\w-]+)'/g)].flatMap(([, kind = '']) =>
      others.length === 0
        ? [{ name: kind, required: true }]
        : others.map(({ name, required }) => ({ name: `${kind}.${name}`, required })),
    )
  })
}

/** The fields of an object type, without those of the objects in it. */
function fieldsOf(objectType: string): readonly (Member & { readonly type: string })[] {
  const inner = objectType.slice(objectType.indexOf('{') + 1, objectType.lastIndexOf('}'))
  const flat = inner.replace(/\{[^{}]*\}/g, 'object')
  return [...flat.matchAll(/readonly (\w+)(\??): ([^;\n]+)/g)].map(([, name = '', mark, type = '']) => ({
    name,
    required: mark === '',
    type,
  }))
}

interface Row extends Member {
  readonly cells: readonly string[]
}

function rows(type: string): readonly Row[] {
  const [, section = ''] =
    new RegExp(`^### ${type}\\n([\\s\\S]*?)(?=^##|$(?![\\s\\S]))`, 'm').exec(page) ?? []
  return [...section.matchAll(/^\| `([\w.]+)`( \*)? \|(.*)\|$/gm)].map(([, name = '', mark, rest = '']) => ({
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
      const count = type in DATA ? 2 : 3
      expect([name, cells.length, cells.filter((cell) => cell === '')]).toEqual([name, count, []])
      const example = cells.at(-1)?.replaceAll('`', '') ?? ''
      expect(example).toMatch(new RegExp(`\\b${name.split('.').at(-1)}\\b`))
      const code = GIVEN.includes(type) ? `async () => { ${example} }` : `({ ${example} })`
      expect(() => new Script(code), `${type}.${name}: ${example}`).not.toThrow()
    }
  })
})

it('[I36.contract-page] has no section for a type that the test does not know', () => {
  const sections = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual(Object.keys(TYPES))
})
