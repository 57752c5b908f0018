// Checks a third-party module's exports against the contract before use. It must have all members, or it is not used.
import { isDefaultAccess } from '../config/default-access.ts'
import { CONNECTOR_KEY } from '../config/schema/agents.ts'
import { PLATFORM_KEY, sharedSchema } from '../config/schema/integrations.ts'
import type { AdapterExports, ConnectorModule, OptionsSchema, PlatformModule } from '../contract/index.ts'

export interface TakenNames {
  readonly platforms: Set<string>
  readonly connectors: Set<string>
}

type Unknown = Readonly<Record<string, unknown>>

const NAME = /^[a-z][a-z0-9-]{0,31}$/
// Sources of turns besides the names of platforms.
const RESERVED: readonly string[] = ['schedule', 'channel', 'server', 'given']

/** Throws an error that says what is wrong. */
export function validateModule(
  exports: AdapterExports,
  taken: TakenNames,
): { readonly platforms: readonly PlatformModule[]; readonly connectors: readonly ConnectorModule[] } {
  const found = exports as Unknown & { readonly default?: unknown }
  // A CommonJS package has its exports there.
  const inner = isMap(found.default) ? found.default : {}
  const platforms = listOf(found.platforms ?? inner.platforms, 'platforms')
  const connectors = listOf(found.connectors ?? inner.connectors, 'connectors')
  if (platforms.length + connectors.length === 0)
    throw new Error('exports neither "platforms" nor "connectors"')
  const seen = { platforms: new Set(taken.platforms), connectors: new Set(taken.connectors) }
  for (const [index, one] of platforms.entries()) {
    const what = lookOver(one, { what: `platforms[${index}]`, bank: 'platform', taken: seen.platforms })
    const shared = Object.keys(sharedSchema.shape)
    noSharedKey(one.options as OptionsSchema, [PLATFORM_KEY, ...shared], what)
    if (
      one.defaultAccess !== undefined &&
      typeof one.defaultAccess !== 'function' &&
      !isDefaultAccess(one.defaultAccess)
    )
      throw new Error(`${what}: "defaultAccess" names no policy`)
  }
  for (const [index, one] of connectors.entries()) {
    const what = lookOver(one, { what: `connectors[${index}]`, bank: 'connector', taken: seen.connectors })
    noSharedKey(one.options as OptionsSchema, [CONNECTOR_KEY], what)
  }
  return {
    platforms: platforms as unknown as readonly PlatformModule[],
    connectors: connectors as unknown as readonly ConnectorModule[],
  }
}

function listOf(value: unknown, name: string): readonly Unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Error(`"${name}" is no list`)
  return value.map((one, index) => {
    if (!isMap(one)) throw new Error(`${name}[${index}] is no module`)
    return one
  })
}

function lookOver(
  one: Unknown,
  { what, bank, taken }: { readonly what: string; readonly bank: string; readonly taken: Set<string> },
): string {
  const { name } = one
  if (typeof name !== 'string') throw new Error(`${what} lacks "name"`)
  if (!NAME.test(name) || name in Object.prototype || RESERVED.includes(name))
    throw new Error(`${what}: "${name.slice(0, 40)}" can be no name (lower-case letters, digits and dashes)`)
  if (taken.has(name)) throw new Error(`brings ${bank} "${name}", which is there already`)
  taken.add(name)
  const called = `${bank} "${name}"`
  if (typeof one.create !== 'function') throw new Error(`${called} lacks "create"`)
  if (typeof one.docs !== 'string' || one.docs === '') throw new Error(`${called} lacks "docs"`)
  lookOverOptions(one.options, called)
  if (one.setup !== undefined && !(isMap(one.setup) && Array.isArray(one.setup.questions)))
    throw new Error(`${called}: "setup" lacks "questions"`)
  for (const member of ['doctor', 'security', 'emulator'])
    if (one[member] !== undefined && typeof one[member] !== 'function')
      throw new Error(`${called}: "${member}" is no function`)
  return called
}

function lookOverOptions(options: unknown, called: string): void {
  // Some libraries make their schemas as functions.
  const schema =
    isMap(options) || typeof options === 'function' ? (options as Unknown)['~standard'] : undefined
  if (!isMap(schema) || schema.version !== 1 || typeof schema.validate !== 'function')
    throw new Error(`${called} lacks "options": a Standard Schema`)
  const { jsonSchema } = schema
  if (!isMap(jsonSchema) || typeof jsonSchema.input !== 'function')
    throw new Error(`${called}: "options" cannot tell its JSON Schema (~standard.jsonSchema)`)
  let json: unknown
  try {
    json = (options as OptionsSchema)['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  } catch (thrown) {
    throw new Error(
      `${called}: "options" threw when asked for its JSON Schema: ${String(thrown).slice(0, 200)}`,
    )
  }
  if (!isMap(json) || json.type !== 'object') throw new Error(`${called}: "options" is no object of keys`)
}

/** A key that every entry has belongs to Switchboard, not to the module. */
function noSharedKey(options: OptionsSchema, shared: readonly string[], called: string): void {
  const { properties } = options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const taken = shared.find((key) => isMap(properties) && Object.hasOwn(properties, key))
  if (taken !== undefined)
    throw new Error(`${called}: "options" takes the key "${taken}", which every entry has`)
}

function isMap(value: unknown): value is Unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
