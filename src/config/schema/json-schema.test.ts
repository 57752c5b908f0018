// Proves the JSON Schema for editors and the generated reference.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BOOK } from '../fixtures/load-text.ts'
import { readYaml } from '../yaml/yaml-text.ts'
import { configurationJsonSchema } from './json-schema.ts'
import { configurationReference, referenceRows } from './reference.ts'

type Schema = Readonly<Record<string, unknown>>

/** As much of JSON Schema as ours uses: enough to hold a file against it. */
function faults(schema: Schema, value: unknown, path = ''): string[] {
  const branches = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined
  if (branches)
    return branches.some((one) => faults(one, value, path).length === 0) ? [] : [`${path}: no branch fits`]
  if ('const' in schema) return schema.const === value ? [] : [`${path}: const`]
  if (schema.enum) return (schema.enum as unknown[]).includes(value) ? [] : [`${path}: enum`]
  if (schema.type === 'array') {
    return Array.isArray(value)
      ? value.flatMap((item, i) => faults(schema.items as Schema, item, `${path}[${i}]`))
      : [`${path}: array`]
  }
  if (schema.type === 'object') {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return [`${path}: object`]
    const properties = (schema.properties ?? {}) as Record<string, Schema>
    const missing = ((schema.required ?? []) as string[])
      .filter((key) => !(key in value))
      .map((key) => `${path}.${key}: missing`)
    const inside = Object.entries(value).flatMap(([key, member]) => {
      const known = properties[key] ?? schema.additionalProperties
      return known === false || known === undefined
        ? [`${path}.${key}: unknown`]
        : faults(known as Schema, member, `${path}.${key}`)
    })
    return [...missing, ...inside]
  }
  const type = typeof value
  const wanted = schema.type === 'integer' ? 'number' : schema.type
  if (wanted !== undefined && type !== wanted) return [`${path}: ${String(schema.type)}`]
  if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern).test(String(value)))
    return [`${path}: pattern`]
  return []
}

const schema = configurationJsonSchema(BOOK)
const yaml = (text: string) => readYaml(text).value

describe('the schema for editors', () => {
  it('is draft 2020-12 with a title, and closed', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(schema.title).toBe('Switchboard configuration')
    expect(schema.additionalProperties).toBe(false)
    expect(schema.required).toBeUndefined()
  })

  it('[I3.schema-everything] every object is closed, and every key has a description', () => {
    const open: string[] = []
    const mute: string[] = []
    const visit = (here: unknown, path: string): void => {
      if (here === null || typeof here !== 'object') return
      const node = here as Record<string, unknown>
      if (node.type === 'object' && node.properties && node.additionalProperties !== false) open.push(path)
      for (const [key, member] of Object.entries((node.properties ?? {}) as Record<string, Schema>)) {
        const told = member.description !== undefined || 'const' in member
        if (!told && !['agents', 'server'].includes(key)) mute.push(`${path}.${key}`)
      }
      for (const [key, member] of Object.entries(node)) visit(member, `${path}/${key}`)
    }
    visit(schema, '')
    expect(open).toEqual([])
    expect(mute).toEqual([])
  })

  it.each(['spec-example.yaml', 'nexo-seed.yaml'])('accepts %s', (name) => {
    const text = readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')
    expect(faults(schema, yaml(text))).toEqual([])
  })

  it('[S3.tunables-in-schema] accepts both ways to write a duration, and knows the defaults', () => {
    expect(faults(schema, yaml('tunables: { tool_wait: 10s, queue_expiry: 5 }'))).toEqual([])
    const { tunables } = schema.properties as Record<string, { properties: Record<string, Schema> }>
    expect(tunables?.properties.max_attempts?.default).toBe(5)
    expect(tunables?.properties.approval_expiry?.default).toBe('10m')
  })

  it.each([
    'servr: {}',
    'server: { prot: 1 }',
    'integrations: [{ id: a, platform: x }]',
    'integrations: [{ id: a, platform: telegram, token: plain }]',
  ])('rejects %s', (text) => {
    expect(faults(schema, yaml(text))).not.toEqual([])
  })
})

describe('the generated reference', () => {
  it('tells every key with its type, default and meaning', () => {
    const rows = referenceRows(BOOK)
    expect(rows.filter((row) => row.description === '' && !row.path.endsWith('scope.agents'))).toEqual([])
    expect(rows.find((row) => row.path === 'tunables.queue_expiry')).toMatchObject({
      type: 'duration',
      default: '7d',
    })
    expect(rows.find((row) => row.path === 'integrations[].token')).toMatchObject({
      only: 'platform: telegram',
      required: true,
    })
    const page = configurationReference(BOOK)
    expect(page).toContain('| `server.host` | text | `127.0.0.1` |')
    expect(page.split('\n').every((line) => !line.startsWith('|') || line.endsWith('|'))).toBe(true)
  })
})
