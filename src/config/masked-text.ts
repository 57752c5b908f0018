// A configuration file as it may be shown: line by line, with everything masked that could be a secret.
import type { AdapterBook, OptionsSchema } from '../contract/index.ts'
import { excerptOf, type KnownKeys } from './excerpt.ts'
import { configurationJsonSchema } from './json-schema.ts'
import { optionsJsonSchema } from './options-schema.ts'
import { itemsOf, type Json, keyNames, propertiesOf, valuesOf } from './schema-walk.ts'

const MOST_LINES = 5_000

/** What somebody else's schema does not mark, and is called so, stays masked: its author may have forgotten the mark. */
const SOUNDS_SECRET =
  /token|secret|pass|pwd|key|pin$|^pin[_-]|credential|auth|cookie|session|private|sign|cert|bearer|dsn/i
/** What keeps us from knowing what a value may be. */
const UNTOLD = /"(\$ref|allOf|patternProperties|prefixItems|if|x-secret)":/
const PLAIN_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

/**
 * By the keys of everything that is in the book: what it does not know is masked with its value. `others`: the options of
 * modules of others that are in force.
 */
export function maskedLines(
  text: string,
  book: AdapterBook,
  others: readonly OptionsSchema[] = [],
): readonly string[] {
  const keys = withOthers(keyNames(configurationJsonSchema(book)), others)
  return text
    .split('\n', MOST_LINES)
    .map((line) => (/^\s*#/.test(line) ? '# …' : excerptOf(line, 0, false, keys).excerpt))
}

/** A key is plain when everybody who has it says so. */
function withOthers(own: KnownKeys, others: readonly OptionsSchema[]): KnownKeys {
  const keys = new Map(own)
  const visit = (here: Json): void => {
    for (const [name, member] of Object.entries(propertiesOf(here) ?? {})) {
      const known = keys.get(name)?.secret
      keys.set(name, {
        secret: known === true || isUntold(member) || (known === undefined && SOUNDS_SECRET.test(name)),
      })
      visit(member)
    }
    for (const inner of [itemsOf(here), valuesOf(here)]) if (inner !== null) visit(inner)
  }
  for (const one of others) visit(optionsJsonSchema(one))
  return keys
}

/** It is, holds or may hold a secret, or its schema does not say what it is. */
function isUntold(member: Json): boolean {
  const isTold = PLAIN_TYPES.has(String(member.type)) || 'const' in member || 'enum' in member
  return !isTold || UNTOLD.test(JSON.stringify(member))
}
