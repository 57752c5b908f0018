// `switchboard schema`: the configuration as JSON Schema, so that editors complete and check while one writes.
import { z } from 'zod'
import { CHANNEL_PLATFORM, defined, type KnownAdapter, type LoadedAdapters } from '../../contract/index.ts'
import { CONNECTOR_KEY } from './agents.ts'
import { configSchema } from './index.ts'
import { PLATFORM_KEY, sharedSchema } from './integrations.ts'
import { optionsJsonSchema } from './options-schema.ts'
import { isMap, itemsOf, type Json, propertiesOf } from './schema-walk.ts'

const made = new WeakMap<LoadedAdapters, Json>()

/** JSON Schema, draft 2020-12, of what may be written in switchboard.yaml with the adapters of the catalog. */
export function configurationJsonSchema(catalog: LoadedAdapters): Json {
  const before = made.get(catalog)
  if (before !== undefined) return before
  const root = jsonSchemaOf(configSchema(catalog))
  const definitions: Record<string, Json> = {}
  const integrations = propertiesOf(root)?.integrations as Record<string, unknown>
  integrations.items = union(
    catalog.platformNames.filter((name) => name !== CHANNEL_PLATFORM).map((name) => catalog.platform(name)),
    PLATFORM_KEY,
    jsonSchemaOf(sharedSchema),
    definitions,
  )
  const agent = itemsOf(propertiesOf(root)?.agents ?? {}) ?? {}
  const connector = propertiesOf(agent)?.connector as Record<string, unknown>
  Object.assign(
    connector,
    union(
      catalog.connectorNames.map((name) => catalog.connector(name)),
      CONNECTOR_KEY,
      {},
      definitions,
    ),
  )
  const whole = Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions }
  made.set(catalog, whole)
  return whole
}

export function jsonSchemaOf(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' }) as Json
}

/** One closed object per adapter: its mark, the keys that all share, its own. */
function union(
  adapters: readonly (KnownAdapter | undefined)[],
  key: string,
  shared: Json,
  definitions: Record<string, Json>,
): Json {
  const oneOf = adapters
    .filter((one) => one !== undefined)
    .map(({ name, options }) => {
      const { $schema: _schema, $defs, ...own } = optionsJsonSchema(options)
      const prefix = `${key}.${name}.`
      for (const [id, one] of Object.entries(isMap($defs) ? $defs : {}))
        definitions[prefix + id] = moved(one, prefix) as Json
      const here = moved(own, prefix) as Json
      const { id: idSchema, ...others } = propertiesOf(shared) ?? {}
      return {
        ...here,
        type: 'object',
        properties: {
          ...defined({ id: idSchema }),
          ...others,
          [key]: { type: 'string', const: name },
          ...propertiesOf(here),
        },
        required: [...requiredOf(shared), key, ...requiredOf(here)],
        additionalProperties: here.additionalProperties ?? false,
      }
    })
  return { oneOf }
}

function requiredOf(schema: Json): readonly string[] {
  return Array.isArray(schema.required) ? schema.required.map(String) : []
}

/** Definitions of an adapter's own are kept apart from those of others: what points to them follows. */
function moved(schema: unknown, prefix: string): unknown {
  if (Array.isArray(schema)) return schema.map((one) => moved(one, prefix))
  if (!isMap(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace(/^#\/\$defs\//, `#/$defs/${prefix}`)
        : moved(value, prefix),
    ]),
  )
}
