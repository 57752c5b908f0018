// Answers as the configuration holds them: values at nested keys, and secrets apart from the rest.
import type { OptionsSchema } from '../contract/index.ts'

/** An id of an integration or an agent. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export type Definition = Record<string, unknown>

/** Values by the key that they fill, such as `out.secret`. */
export type SecretAnswers = ReadonlyMap<string, string>

/** The value at `out.url`; undefined: there is none. */
export function readAt(place: unknown, key: string): unknown {
  let at = place
  for (const part of key.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined
    at = (at as Definition)[part]
  }
  return at
}

export function putAt(definition: Definition, key: string, value: unknown): void {
  const path = key.split('.')
  const last = path.pop() ?? ''
  let place = definition
  for (const part of path) {
    const inner = Object.hasOwn(place, part) ? place[part] : undefined
    const next: Definition = typeof inner === 'object' && inner !== null ? (inner as Definition) : {}
    place[part] = next
    place = next
  }
  place[last] = value
}

/** A copy with a value for each secret: the secret itself, or what stands in its place. */
export function withSecrets(
  definition: Definition,
  secrets: SecretAnswers,
  written: (key: string, secret: string) => string = (_key, secret) => secret,
): Definition {
  const whole = structuredClone(definition)
  for (const [key, secret] of secrets) putAt(whole, key, written(key, secret))
  return whole
}

/** How a schema is held to answers whose secrets are not kept yet. */
export const withPlaceholders = (definition: Definition, secrets: SecretAnswers) =>
  withSecrets(definition, secrets, () => 'secret:new')

/** Reads true, false, null, numbers, lists and objects as JSON. Everything else is a text. */
export function readValue(written: string): unknown {
  if (!/^(true|false|null|-?\d+(\.\d+)?|[[{].*)$/s.test(written)) return written
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}

/** Reads an answer by the schema of its module: what is a text there stays one. */
export function valueReader(options: OptionsSchema | undefined) {
  const schema = options === undefined ? undefined : jsonSchemaOf(options)
  return (key: string, written: string): unknown => {
    const at = key.split('.').flatMap((part) => ['properties', part])
    return readAt(schema, [...at, 'type'].join('.')) === 'string' ? written : readValue(written)
  }
}

export const jsonSchemaOf = (options: OptionsSchema) =>
  options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })

/** The first of `wanted`, `wanted-2`, `wanted-3` … that is not taken. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted
  for (let more = 2; taken.has(name); more++) name = `${wanted}-${more}`
  return name
}
