// A configuration file as it may be shown: line by line, with everything masked that could be a secret.
import type { AdapterBook } from '../contract/index.ts'
import { excerptOf } from './excerpt.ts'
import { configurationJsonSchema } from './json-schema.ts'
import { keyNames } from './schema-walk.ts'

const MOST_LINES = 5_000

/** By the keys of everything that is in the book: what it does not know is masked with its value. */
export function maskedLines(text: string, book: AdapterBook): readonly string[] {
  const keys = keyNames(configurationJsonSchema(book))
  return text
    .split('\n', MOST_LINES)
    .map((line) => (/^\s*#/.test(line) ? '# …' : excerptOf(line, 0, false, keys).excerpt))
}
