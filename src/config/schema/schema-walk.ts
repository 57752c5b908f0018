// Walks a JSON Schema beside the data: which keys are allowed at a place, which keys hold secrets. A JSON Schema and not
// the library's own, so that options of every adapter are known alike, whoever wrote their schema.
import { SECRET_HINT, SECRET_REFERENCE } from '../../contract/index.ts'
import type { Path } from '../problem.ts'

export type Json = Readonly<Record<string, unknown>>

export function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function propertiesOf(schema: Json): Readonly<Record<string, Json>> | null {
  return isMap(schema.properties) ? (schema.properties as Record<string, Json>) : null
}

export function itemsOf(schema: Json): Json | null {
  return isMap(schema.items) ? schema.items : null
}

/** Of a map whose keys are the user's own. */
export function valuesOf(schema: Json): Json | null {
  return isMap(schema.additionalProperties) ? schema.additionalProperties : null
}

export function branchesOf(schema: Json): readonly Json[] | null {
  const branches = schema.oneOf ?? schema.anyOf
  return Array.isArray(branches) ? branches.filter(isMap) : null
}

/** The key that tells the branches apart: each has one value of its own there. */
export function discriminatorOf(schema: Json): string | null {
  const branches = branchesOf(schema) ?? []
  const first = Object.entries(propertiesOf(branches[0] ?? {}) ?? {}).filter(
    ([, member]) => 'const' in member,
  )
  const isMark = (key: string) => branches.every((one) => 'const' in (propertyOf(one, key) ?? {}))
  return first.map(([key]) => key).find(isMark) ?? null
}

/** The values that are allowed, where they are words; else null. */
export function wordsOf(schema: Json): readonly string[] | null {
  if ('const' in schema) return [String(schema.const)]
  return Array.isArray(schema.enum) ? schema.enum.map(String) : null
}

function propertyOf(schema: Json, key: string): Json | undefined {
  const properties = propertiesOf(schema)
  return properties !== null && Object.hasOwn(properties, key) ? properties[key] : undefined
}

/** Keys allowed at a place of the data. Empty where anything goes or nothing fits. */
export function allowedKeys(schema: Json, path: Path, value: unknown): readonly string[] {
  let here = schema
  let data = value
  for (const part of path) {
    const chosen = pick(here, data)
    const next = propertiesOf(chosen) ? propertyOf(chosen, String(part)) : (itemsOf(here) ?? valuesOf(here))
    if (!next) return []
    here = next
    data = (data as Record<string | number, unknown> | null | undefined)?.[part]
  }
  return Object.keys(propertiesOf(pick(here, data)) ?? {})
}

// A union is the branch whose mark fits, else the first one with keys.
function pick(schema: Json, value: unknown): Json {
  const branches = branchesOf(schema)
  if (branches === null) return schema
  const discriminator = discriminatorOf(schema)
  if (discriminator === null) return branches.find((one) => propertiesOf(one) !== null) ?? schema
  const written = (value as Record<string, unknown> | null)?.[discriminator]
  const fits = branches.find((one) => propertyOf(one, discriminator)?.const === written)
  return fits ?? schema
}

/** Every key of the schema: name → whether its value is (or may be) a secret anywhere. */
export function keyNames(schema: Json): ReadonlyMap<string, { readonly secret: boolean }> {
  const names = new Map<string, { secret: boolean }>()
  const visit = (here: Json): void => {
    for (const [name, member] of Object.entries(propertiesOf(here) ?? {})) {
      const before = names.get(name)?.secret ?? false
      names.set(name, { secret: before || isSecret(member) })
      visit(member)
    }
    for (const inner of [itemsOf(here), valuesOf(here), ...(branchesOf(here) ?? [])]) {
      if (inner !== null) visit(inner)
    }
  }
  visit(schema)
  return names
}

/** Its value is a reference, or may be one. */
export function isSecret(schema: Json): boolean {
  return schema['x-secret'] === true || schema['x-secret'] === 'or-text'
}

export interface InlineSecret {
  readonly path: Path
  readonly message: string
}

/** Secrets that were written in place of references: whoever marked the key need not look for them. */
export function inlineSecrets(schema: Json, value: unknown, path: Path = []): readonly InlineSecret[] {
  if (typeof value === 'string') {
    const wrong = schema['x-secret'] === true && !SECRET_REFERENCE.test(value)
    return wrong ? [{ path, message: `a secret is never written here; ${SECRET_HINT}` }] : []
  }
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    return items === null ? [] : value.flatMap((one, at) => inlineSecrets(items, one, [...path, at]))
  }
  if (!isMap(value)) return []
  const chosen = pick(schema, value)
  return Object.entries(value).flatMap(([key, member]) => {
    const known = propertyOf(chosen, key) ?? valuesOf(chosen)
    return known ? inlineSecrets(known, member, [...path, key]) : []
  })
}
