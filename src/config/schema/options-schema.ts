// The JSON Schema of an adapter's options, asked for once. It was looked at when the module was taken in; should it throw
// now all the same, nothing is known of its keys.
import type { OptionsSchema } from '../../contract/index.ts'
import { isMap, type Json } from './schema-walk.ts'

const asked = new WeakMap<OptionsSchema, Json>()

export function optionsJsonSchema(schema: OptionsSchema): Json {
  const before = asked.get(schema)
  if (before !== undefined) return before
  let json: unknown
  try {
    json = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  } catch {
    json = null
  }
  const found = isMap(json) ? json : {}
  asked.set(schema, found)
  return found
}
