// Walks the zod schema beside the data: which keys are allowed at a place, which keys hold secrets.
import type { z } from 'zod'
import type { Path } from './problem.ts'

type Schema = z.core.$ZodType
type AnyDef = z.core.$ZodTypes['_zod']['def']

function defOf(schema: Schema): AnyDef {
  return (schema as z.core.$ZodTypes)._zod.def
}

/** The schema without optional, default and transform around it. */
export function bare(schema: Schema): Schema {
  const def = defOf(schema)
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return bare(def.innerType)
    case 'pipe':
      return bare(def.in)
    default:
      return schema
  }
}

export function shapeOf(schema: Schema): Readonly<Record<string, Schema>> | null {
  const def = defOf(bare(schema))
  return def.type === 'object' ? def.shape : null
}

export function elementOf(schema: Schema): Schema | null {
  const def = defOf(bare(schema))
  return def.type === 'array' ? def.element : null
}

export function recordValueOf(schema: Schema): Schema | null {
  const def = defOf(bare(schema))
  return def.type === 'record' ? def.valueType : null
}

export function optionsOf(schema: Schema): readonly Schema[] | null {
  const def = defOf(bare(schema))
  return def.type === 'union' ? def.options : null
}

export function discriminatorOf(schema: Schema): string | null {
  const def = defOf(bare(schema)) as { discriminator?: string }
  return def.discriminator ?? null
}

/** The values a literal or an enum allows, else null. */
export function wordsOf(schema: Schema): readonly string[] | null {
  const def = defOf(bare(schema))
  if (def.type === 'literal') return def.values.map(String)
  if (def.type === 'enum') return Object.values(def.entries).map(String)
  return null
}

/** Keys allowed at a place of the data. Empty where anything goes or nothing fits. */
export function allowedKeys(schema: Schema, path: Path, value: unknown): readonly string[] {
  const at = schemaAt(schema, path, value)
  return at === null ? [] : keysOf(at.schema, at.value)
}

function schemaAt(schema: Schema, path: Path, value: unknown): { schema: Schema; value: unknown } | null {
  let here: Schema = schema
  let data = value
  for (const part of path) {
    const shape = shapeOf(pick(here, data))
    const next = shape ? shape[String(part)] : (elementOf(here) ?? recordValueOf(here) ?? undefined)
    if (next === undefined) return null
    here = next
    data = (data as Record<string | number, unknown> | null | undefined)?.[part]
  }
  return { schema: here, value: data }
}

function keysOf(schema: Schema, value: unknown): readonly string[] {
  return Object.keys(shapeOf(pick(schema, value)) ?? {})
}

// A union is the member whose discriminator fits, else the first one with keys.
function pick(schema: Schema, value: unknown): Schema {
  const options = optionsOf(schema)
  if (options === null) return schema
  const discriminator = discriminatorOf(schema)
  const written = (value as Record<string, unknown> | null)?.[discriminator ?? '']
  const fits = options.find((option) => {
    const shape = shapeOf(option)
    if (shape === null) return false
    const mark = discriminator === null ? undefined : shape[discriminator]
    return mark === undefined || (wordsOf(mark) ?? []).includes(String(written))
  })
  return fits ?? schema
}

/** Every key of the schema: name → whether its value is (or may be) a secret anywhere. */
export function keyNames(schema: Schema): ReadonlyMap<string, { readonly secret: boolean }> {
  const names = new Map<string, { secret: boolean }>()
  const seen = new Set<Schema>()
  const visit = (here: Schema): void => {
    const plain = bare(here)
    if (seen.has(plain)) return
    seen.add(plain)
    for (const [name, member] of Object.entries(shapeOf(plain) ?? {})) {
      const before = names.get(name)?.secret ?? false
      names.set(name, { secret: before || isSecret(member) })
      visit(member)
    }
    for (const inner of [elementOf(plain), recordValueOf(plain), ...(optionsOf(plain) ?? [])]) {
      if (inner !== null) visit(inner)
    }
  }
  visit(schema)
  return names
}

export function isSecret(schema: Schema): boolean {
  return metaOf(schema)['x-secret'] === true || metaOf(bare(schema))['x-secret'] === true
}

export function metaOf(schema: Schema): Readonly<Record<string, unknown>> {
  return (schema as z.ZodType).meta() ?? {}
}
