// The reference of switchboard.yaml as data and as Markdown, from the schema: it cannot go stale by itself.
import type { LoadedAdapters } from '../../contract/index.ts'
import { configurationJsonSchema } from './json-schema.ts'
import {
  branchesOf,
  discriminatorOf,
  isSecret,
  itemsOf,
  type Json,
  propertiesOf,
  valuesOf,
  wordsOf,
} from './schema-walk.ts'

export interface ReferenceRow {
  /** `integrations[].access.dm`; `<name>` stands for a key of one's own. */
  readonly path: string
  readonly type: string
  readonly required: boolean
  /** As it is written in the file. Null: there is none. */
  readonly default: string | null
  readonly description: string
  /** `platform: telegram`: the key exists only there. */
  readonly only: string | null
}

export function referenceRows(catalog: LoadedAdapters): readonly ReferenceRow[] {
  return rowsOf(configurationJsonSchema(catalog), '', null)
}

function rowsOf(schema: Json, path: string, only: string | null): ReferenceRow[] {
  return Object.keys(propertiesOf(schema) ?? {}).flatMap((key) =>
    keyRows(schema, key, path === '' ? key : `${path}.${key}`, only),
  )
}

function keyRows(schema: Json, key: string, path: string, only: string | null): ReferenceRow[] {
  const member = propertiesOf(schema)?.[key]
  return member === undefined
    ? []
    : [rowOf(path, member, isRequired(schema, key), only), ...inner(member, path, only)]
}

function inner(schema: Json, path: string, only: string | null): ReferenceRow[] {
  const items = itemsOf(schema)
  if (items !== null) return inner(items, `${path}[]`, only)
  const values = valuesOf(schema)
  if (values !== null) return inner(values, `${path}.<name>`, only)
  if (propertiesOf(schema) !== null) return rowsOf(schema, path, only)
  const branches = branchesOf(schema)
  if (branches === null) return []
  const discriminator = discriminatorOf(schema)
  if (discriminator === null) return branches.flatMap((one) => rowsOf(one, path, only))
  return memberRows(branches, discriminator, path)
}

// Keys of every member are listed once. The others are listed with their member.
function memberRows(branches: readonly Json[], discriminator: string, path: string): ReferenceRow[] {
  const shapes = branches.map((one) => propertiesOf(one) ?? {})
  const names = shapes.map((shape) => wordsOf(shape[discriminator] ?? {})?.[0] ?? '')
  const shared = Object.keys(shapes[0] ?? {}).filter(
    (key) => key !== discriminator && shapes.every((shape) => Object.hasOwn(shape, key)),
  )
  const rows: ReferenceRow[] = [
    {
      path: `${path}.${discriminator}`,
      type: names.join(' \\| '),
      required: true,
      default: null,
      description: `Which ${discriminator}.`,
      only: null,
    },
    ...shared.flatMap((key) => keyRows(branches[0] ?? {}, key, `${path}.${key}`, null)),
  ]
  for (const [index, branch] of branches.entries()) {
    const label = `${discriminator}: ${names[index]}`
    for (const key of Object.keys(shapes[index] ?? {})) {
      if (key === discriminator || shared.includes(key)) continue
      rows.push(...keyRows(branch, key, `${path}.${key}`, label))
    }
  }
  return rows
}

function isRequired(schema: Json, key: string): boolean {
  return Array.isArray(schema.required) && schema.required.includes(key)
}

function rowOf(path: string, schema: Json, required: boolean, only: string | null): ReferenceRow {
  return {
    path,
    type: typeOf(schema),
    required,
    default: schema.default === undefined ? null : written(schema.default),
    description: typeof schema.description === 'string' ? schema.description : '',
    only,
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'map',
  integer: 'number',
  boolean: 'true \\| false',
}

function typeOf(schema: Json): string {
  if (isSecret(schema)) return 'text or reference'
  const words = wordsOf(schema)
  if (words !== null) return words.join(' \\| ')
  const items = itemsOf(schema)
  if (items !== null) return `list of ${typeOf(items)}`
  const branches = branchesOf(schema)
  if (branches !== null) {
    if (discriminatorOf(schema) !== null) return 'map'
    const kinds = branches.map(typeOf)
    return kinds.includes('number') && kinds.includes('text') ? 'duration' : kinds.join(' \\| ')
  }
  return KINDS[String(schema.type)] ?? String(schema.type)
}

function written(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, inside]) => `${key}: ${written(inside)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** The whole page docs/reference/configuration.md. */
export function configurationReference(catalog: LoadedAdapters): string {
  const rows = referenceRows(catalog)
  const built = {
    platforms: catalog.platformNames.filter((name) => catalog.platform(name)?.create !== undefined),
    connectors: catalog.connectorNames.filter((name) => catalog.connector(name)?.create !== undefined),
  }
  const unbuilt = new Set([
    ...catalog.platformNames
      .filter((name) => !built.platforms.includes(name))
      .map((name) => `platform: ${name}`),
    ...catalog.connectorNames
      .filter((name) => !built.connectors.includes(name))
      .map((name) => `type: ${name}`),
  ])
  const sections = [...new Set(rows.map((row) => row.path.split(/[.[]/)[0] ?? ''))]
  const out = [
    '# Configuration reference',
    '',
    'Every key of `switchboard.yaml`, generated from the schema. The guide is [configuration.md](../guide/configuration.md).',
    'Durations are written `30s`, `10m`, `12h`, `7d`, or as a number of milliseconds. References are written `env:NAME`,',
    '`file:path` (relative to the file) or `secret:NAME`.',
  ]
  for (const section of sections) {
    out.push('', `## ${section}`, '', '| key | type | default | meaning |', '|---|---|---|---|')
    for (const row of rows.filter((one) => (one.path.split(/[.[]/)[0] ?? '') === section))
      out.push(line(row, unbuilt))
  }
  out.push(
    '',
    '## What is built',
    '',
    '| | built | not built in this version |',
    '|---|---|---|',
    builtLine('platforms', catalog.platformNames, built.platforms),
    builtLine('connectors', catalog.connectorNames, built.connectors),
    '',
    'An integration of a platform that is not built loads with a warning and stays off. An agent whose connector is not',
    'built is an error: its messages would wait for ever.',
  )
  out.push('', '## Who may speak by default', '', '| platform | `access.dm` |', '|---|---|')
  for (const name of catalog.platformNames) out.push(`| \`${name}\` | ${defaultDm(catalog, name)} |`)
  return `${out.join('\n')}\n`
}

function builtLine(what: string, names: readonly string[], built: readonly string[]): string {
  const listed = (some: readonly string[]) => some.map((name) => `\`${name}\``).join(', ')
  return `| ${what} | ${listed(built)} | ${listed(names.filter((name) => !built.includes(name)))} |`
}

/** `unbuilt`: the labels whose keys are read by nothing yet. */
function line(row: ReferenceRow, unbuilt: ReadonlySet<string>): string {
  const fallback = row.required ? '*required*' : row.default === null ? '' : `\`${row.default}\``
  const mark = row.only !== null && unbuilt.has(row.only) ? ', not built' : ''
  const only = row.only === null ? '' : `(\`${row.only}\`${mark}) `
  return `| \`${row.path}\` | ${row.type} | ${fallback} | ${only}${row.description.replaceAll('|', '\\|')} |`
}

const DM_WORDS = {
  pairing: '`pairing`',
  allowlist: '`allowlist`',
  disabled: '`disabled`',
  credential: 'the platform’s own credential',
}

function defaultDm(catalog: LoadedAdapters, name: string): string {
  const access = catalog.platform(name)?.defaultAccess
  if (typeof access === 'function') return `${DM_WORDS[access({}).dm]}, or as its options say`
  return DM_WORDS[access?.dm ?? 'allowlist']
}
