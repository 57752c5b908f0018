// One entry of the file that names an adapter (`platform: telegram`, `type: demo`): the keys that all share are checked
// here, the rest by the adapter's own schema, whoever wrote it. Whatever that schema does, it is a problem of the entry.
import { z } from 'zod'
import type {
  KnownAdapter,
  LoadedAdapters,
  Options,
  OptionsIssue,
  OptionsSchema,
} from '../../contract/index.ts'
import { MASK } from '../yaml/shown-names.ts'
import { optionsJsonSchema } from './options-schema.ts'
import { inlineSecrets, isMap } from './schema-walk.ts'

export interface AdapterEntry<Shared extends z.ZodObject> {
  readonly name: string
  readonly shared: z.output<Shared>
  readonly options: Options
  /** Null: the module that might bring it failed. Nothing is known of its options, and it stays down. */
  readonly adapter: KnownAdapter | null
}

export interface EntryRules<Shared extends z.ZodObject> {
  /** The key that names the adapter. */
  readonly key: string
  readonly shared: Shared
  readonly find: (name: string) => KnownAdapter | undefined
  /** An unknown name may be one that a failed module would have brought. */
  readonly mayBeMissing: boolean
  /** Adapters of others: their words are told without the values that they are about. */
  readonly others: ReadonlySet<string>
}

/** Names of the platforms and connectors that modules of others bring. */
export function namesOfOthers({ modules }: LoadedAdapters): ReadonlySet<string> {
  return new Set(modules.flatMap(({ platforms, connectors }) => [...platforms, ...connectors]))
}

type Issue = z.core.$ZodRawIssue

export function adapterEntry<Shared extends z.ZodObject>(rules: EntryRules<Shared>) {
  const { key, shared, find, mayBeMissing, others } = rules
  const sharedKeys = new Set(Object.keys(shared.shape))
  return z.unknown().transform((entry, context): AdapterEntry<Shared> => {
    const wrong = (issue: Issue) => void context.issues.push(issue)
    if (!isMap(entry)) {
      wrong({ code: 'invalid_type', expected: 'object', input: entry, path: [] })
      return z.NEVER
    }
    const name = Object.hasOwn(entry, key) ? entry[key] : undefined
    const adapter = typeof name === 'string' ? find(name) : undefined
    if (typeof name !== 'string' || (adapter === undefined && !mayBeMissing)) {
      wrong({ code: 'invalid_union', errors: [], discriminator: key, input: entry, path: [key] })
      return z.NEVER
    }
    const rest = Object.entries(entry).filter(([one]) => one !== key)
    const parsed = shared.safeParse(Object.fromEntries(rest.filter(([one]) => sharedKeys.has(one))))
    const own = Object.fromEntries(rest.filter(([one]) => !sharedKeys.has(one)))
    if (!parsed.success) for (const issue of parsed.error.issues) wrong({ ...issue, input: entry } as Issue)
    const checked =
      adapter === undefined ? { value: own } : checkOptions(adapter.options, own, others.has(name))
    if ('issues' in checked) for (const issue of checked.issues) wrong(issue)
    if (!parsed.success || 'issues' in checked) return z.NEVER
    return { name, shared: parsed.data, options: checked.value, adapter: adapter ?? null }
  })
}

type Checked = { readonly value: Options } | { readonly issues: readonly Issue[] }

/** Never throws. What a foreign schema says is taken as text, unless it is of the library that we use ourselves. */
function checkOptions(schema: OptionsSchema, own: Options, isForeign: boolean): Checked {
  const harmless = (message: unknown) => (isForeign ? withoutValues(String(message), own) : String(message))
  const refusedAs = (message: string): Checked => ({ issues: [custom(message, [], own)] })
  let result: unknown
  try {
    result = schema['~standard'].validate(own)
  } catch (thrown) {
    return refusedAs(`"options" of its module threw: ${shorten(harmless(thrown))}`)
  }
  if (!isMap(result)) return refusedAs('"options" of its module answered nothing')
  if (typeof result.then === 'function') {
    Promise.resolve(result).catch(() => undefined)
    return refusedAs('"options" of its module answered with a promise: it must answer at once')
  }
  if (result.issues !== undefined) {
    const issues = Array.isArray(result.issues) ? result.issues.filter(isMap).slice(0, 100) : []
    if (issues.length === 0) return refusedAs('"options" of its module refused it without a reason')
    const known = schema['~standard'].vendor === 'zod'
    return {
      issues: issues.map((issue) =>
        asIssue({ ...issue, message: harmless(issue.message) } as unknown as OptionsIssue, known, own),
      ),
    }
  }
  if (!isMap(result.value)) return refusedAs('"options" of its module gave no map of keys')
  const inline = inlineSecrets(optionsJsonSchema(schema), own)
  if (inline.length > 0) return { issues: inline.map(({ path, message }) => custom(message, path, own)) }
  return { value: result.value }
}

const SHOWN_CHARS = 300
const MAX_DEPTH = 32

function asIssue(issue: OptionsIssue, known: boolean, input: Options): Issue {
  const path = Array.isArray(issue.path)
    ? issue.path.slice(0, MAX_DEPTH).map((part) => {
        const at = isMap(part) ? part.key : part
        return typeof at === 'number' ? at : String(at)
      })
    : []
  if (known && isWhole(issue as unknown as Readonly<Record<string, unknown>>))
    return { ...(issue as unknown as Issue), path, input } as Issue
  return custom(shorten(issue.message), path, input)
}

/** Whether it holds what its code promises: then it can be told in our own words. */
function isWhole(issue: Readonly<Record<string, unknown>>): boolean {
  switch (issue.code) {
    case 'unrecognized_keys':
      return Array.isArray(issue.keys) && issue.keys.every((key) => typeof key === 'string')
    case 'invalid_value':
      return Array.isArray(issue.values)
    case 'invalid_union':
      return Array.isArray(issue.errors) && issue.errors.every(Array.isArray)
    case 'invalid_type':
      return typeof issue.expected === 'string'
    case 'invalid_key':
      return Array.isArray(issue.issues)
    default:
      return typeof issue.code === 'string' && typeof issue.message === 'string'
  }
}

function custom(message: string, path: readonly (string | number)[], input: unknown): Issue {
  return { code: 'custom', message, path: [...path], input }
}

/** One line of a stranger's words. */
function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').trim()
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}

/** A shorter text is an ordinary word. */
const SHORTEST_SECRET = 6

function withoutValues(text: string, own: Options): string {
  return textsIn(own).reduce((left, value) => left.replaceAll(value, MASK), text.slice(0, 10_000))
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number')
    return String(value).length < SHORTEST_SECRET ? [] : [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
