// The reference of switchboard.yaml as data and as Markdown, from the schema: it cannot go stale by itself.
import type { z } from 'zod'
import { configSchema } from './schema/index.ts'
import {
  bare,
  discriminatorOf,
  elementOf,
  isSecret,
  metaOf,
  optionsOf,
  recordValueOf,
  shapeOf,
  wordsOf,
} from './schema-walk.ts'

export interface ReferenceRow {
  /** `integrations[].access.dm`; `<name>` stands for a key of one's own. */
  readonly path: string
  readonly type: string
  readonly required: boolean
  /** As one would write it; null where there is none. */
  readonly default: string | null
  readonly description: string
  /** `platform: telegram`: the key exists only there. */
  readonly only: string | null
}

type Schema = z.core.$ZodType
type Def = z.core.$ZodTypes['_zod']['def']

export function referenceRows(): readonly ReferenceRow[] {
  return rowsOf(configSchema, '', null)
}

function rowsOf(schema: Schema, path: string, only: string | null): ReferenceRow[] {
  const shape = shapeOf(schema)
  if (shape === null) return inner(schema, path, only)
  return Object.entries(shape).flatMap(([key, member]) => {
    const here = path === '' ? key : `${path}.${key}`
    return [rowOf(here, member, only), ...inner(member, here, only)]
  })
}

function inner(schema: Schema, path: string, only: string | null): ReferenceRow[] {
  const element = elementOf(schema)
  if (element !== null) return inner(element, `${path}[]`, only)
  const value = recordValueOf(schema)
  if (value !== null) return inner(value, `${path}.<name>`, only)
  if (shapeOf(schema) !== null) return rowsOf(schema, path, only)
  const options = optionsOf(schema)
  if (options === null) return []
  const discriminator = discriminatorOf(schema)
  if (discriminator === null)
    return options.flatMap((option) => (shapeOf(option) ? rowsOf(option, path, only) : []))
  return memberRows(options, discriminator, path)
}

// Keys that every member has are told once; the others with the member they belong to.
function memberRows(options: readonly Schema[], discriminator: string, path: string): ReferenceRow[] {
  const shapes = options.map((option) => shapeOf(option) ?? {})
  const names = shapes.map((shape) =>
    shape[discriminator] ? (wordsOf(shape[discriminator])?.[0] ?? '') : '',
  )
  const shared = Object.keys(shapes[0] ?? {}).filter(
    (key) => key !== discriminator && shapes.every((shape) => key in shape),
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
  ]
  for (const key of shared) {
    const member = shapes[0]?.[key]
    if (member) rows.push(rowOf(`${path}.${key}`, member, null), ...inner(member, `${path}.${key}`, null))
  }
  for (const [index, shape] of shapes.entries()) {
    const label = `${discriminator}: ${names[index]}`
    for (const [key, member] of Object.entries(shape)) {
      if (key === discriminator || shared.includes(key)) continue
      rows.push(rowOf(`${path}.${key}`, member, label), ...inner(member, `${path}.${key}`, label))
    }
  }
  return rows
}

function rowOf(path: string, schema: Schema, only: string | null): ReferenceRow {
  const { required, fallback } = presence(schema)
  const description = metaOf(schema).description ?? metaOf(bare(schema)).description
  return {
    path,
    type: typeOf(schema),
    required,
    default: fallback === undefined ? null : written(fallback),
    description: typeof description === 'string' ? description : '',
    only,
  }
}

function presence(schema: Schema): { required: boolean; fallback: unknown } {
  const def = (schema as z.core.$ZodTypes)._zod.def as Def
  if (def.type === 'default' || def.type === 'prefault')
    return { required: false, fallback: def.defaultValue }
  if (def.type === 'optional') return { required: false, fallback: undefined }
  return { required: true, fallback: undefined }
}

function typeOf(schema: Schema): string {
  const plain = bare(schema)
  if (isSecret(schema)) return 'text or reference'
  const words = wordsOf(plain)
  if (words !== null) return words.join(' \\| ')
  const element = elementOf(plain)
  if (element !== null) return `list of ${typeOf(element)}`
  const options = optionsOf(plain)
  if (options !== null) {
    if (discriminatorOf(plain) !== null) return 'map'
    const kinds = options.map(typeOf)
    return kinds.includes('number') && kinds.includes('text') ? 'duration' : kinds.join(' \\| ')
  }
  const { type } = (plain as z.core.$ZodTypes)._zod.def
  if (type === 'string') return 'text'
  if (type === 'object' || type === 'record') return 'map'
  return type === 'boolean' ? 'true \\| false' : type
}

function written(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, inside]) => `${key}: ${written(inside)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** The whole page docs/reference/configuration.md. */
export function configurationReference(): string {
  const rows = referenceRows()
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
    for (const row of rows.filter((one) => (one.path.split(/[.[]/)[0] ?? '') === section)) out.push(line(row))
  }
  return `${out.join('\n')}\n`
}

function line(row: ReferenceRow): string {
  const fallback = row.required ? '*required*' : row.default === null ? '' : `\`${row.default}\``
  const only = row.only === null ? '' : `(\`${row.only}\`) `
  return `| \`${row.path}\` | ${row.type} | ${fallback} | ${only}${row.description.replaceAll('|', '\\|')} |`
}
