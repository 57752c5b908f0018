// What of a configuration file is known not to be a secret: its YAML tree is walked beside the schema of our own
// adapters. All that is not found here is masked, whoever shows the file.
import { isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap } from 'yaml'
import type { LoadedAdapters } from '../../contract/index.ts'
import { namesOfOthers } from '../schema/adapter-entry.ts'
import { configurationJsonSchema } from '../schema/json-schema.ts'
import {
  branchesOf,
  discriminatorOf,
  isSecret,
  itemsOf,
  type Json,
  keyNames,
  propertiesOf,
  valuesOf,
  wordsOf,
} from '../schema/schema-walk.ts'
import { isHarmlessText, isReference, shownName } from './shown-names.ts'

// Not secrets to the schema, but people write `--token=…` there.
const COMMAND_LINES = ['command', 'args']

/** What the schema of our own adapters knows. */
export interface KnownKeys {
  readonly schema: Json
  has(name: string): boolean
  /** Its value is a secret somewhere, or may hold one. */
  isClosed(name: string): boolean
}

const known = new WeakMap<LoadedAdapters, KnownKeys>()

/** Without the modules of others: what their schemas say is not trusted to show a value. */
export function knownKeys(catalog: LoadedAdapters): KnownKeys {
  const before = known.get(catalog)
  if (before !== undefined) return before
  const theirs = namesOfOthers(catalog)
  const isOurs = (name: string) => !theirs.has(name)
  const ours: LoadedAdapters = {
    ...catalog,
    platformNames: catalog.platformNames.filter(isOurs),
    connectorNames: catalog.connectorNames.filter(isOurs),
  }
  const schema = configurationJsonSchema(theirs.size === 0 ? catalog : ours)
  const names = keyNames(schema)
  const keys: KnownKeys = {
    schema,
    has: (name) => names.has(name),
    isClosed: (name) => COMMAND_LINES.includes(name) || names.get(name)?.secret === true,
  }
  known.set(catalog, keys)
  return keys
}

export interface Harmless {
  /** The keys and values that may be shown: offset of the first character → offset behind the last one. */
  readonly ranges: ReadonlyMap<number, number>
  /** A value is used a second time, by an alias, where it may be a secret: messages may name it by its other use. */
  readonly lendsSecrets: boolean
}

/** The schemas that a value may be held to; none: nothing is known of it. */
type Place = readonly Json[]

interface Step {
  readonly node: unknown
  readonly place: Place
  /** The anchors that it stands under. */
  readonly under: readonly string[]
}

interface Found {
  readonly node: Scalar
  readonly under: readonly string[]
}

/** Nodes that are looked at between two pauses. */
const NODES_AT_A_TIME = 10_000

/** Of a text that was read without a problem: `root` is its tree. */
export function* unmaskedSteps(root: unknown, text: string, keys: KnownKeys): Generator<void, Harmless> {
  const open: Step[] = [{ node: root, place: [keys.schema], under: [] }]
  const found: Found[] = []
  const anchored: (Step & { readonly anchor: string })[] = []
  const uses = new Map<string, Place[]>()
  const use = (alias: string, place: Place) => {
    const places = uses.get(alias) ?? []
    places.push(place)
    uses.set(alias, places)
  }

  const visitMap = (map: YAMLMap, place: Place, under: readonly string[]) => {
    const memberOf = membersOf(map, place)
    for (const { key, value } of map.items as Pair[]) {
      if (isAlias(key)) use(key.source, [])
      else if (isScalar(key) && key.anchor)
        anchored.push({ anchor: key.anchor, node: key, place: [], under: [] })
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : null
      if (name !== null && keys.has(name)) found.push({ node: key as Scalar, under: [] })
      const member = name === null ? [] : memberOf(name, value)
      const closed = name !== null && keys.isClosed(name)
      open.push({ node: value, place: closed ? member.filter(isSecret) : member, under })
    }
  }

  for (let looked = 1; open.length > 0; looked++) {
    const { node, place, under: above } = open.pop() as Step
    if (isAlias(node)) use(node.source, place)
    else if (isScalar(node) || isSeq(node) || isMap(node)) {
      const under = node.anchor ? [...above, node.anchor] : above
      if (node.anchor) anchored.push({ anchor: node.anchor, node, place, under })
      if (isScalar(node)) {
        if (mayShow(node, place, text, keys)) found.push({ node, under })
      } else if (isSeq(node)) {
        const items = place.flatMap((one) => alternatives(itemsOf(one)))
        for (const item of node.items) open.push({ node: item, place: items, under })
      } else visitMap(node, place, under)
    }
    if (looked % NODES_AT_A_TIME === 0) yield
  }
  const lent = lentSecrets(anchored, uses)
  const shown = found.filter(({ under }) => !under.some((anchor) => lent.has(anchor)))
  return { ranges: rangesOf(shown, text), lendsSecrets: lent.size > 0 }
}

function rangesOf(found: readonly Found[], text: string): ReadonlyMap<number, number> {
  const ranges = new Map<number, number>()
  for (const { node } of found) {
    const [from, to] = node.range ?? [0, 0]
    // A key of several lines is known by its name, and still not a word to show.
    if (from < to && to - from < 1_000 && !/[\n\r]/.test(text.slice(from, to))) ranges.set(from, to)
  }
  return ranges
}

/** Anchors whose value stands, by an alias, where a secret may be. One without any alias may have lost it. */
function lentSecrets(
  anchored: readonly (Step & { readonly anchor: string })[],
  uses: ReadonlyMap<string, readonly Place[]>,
): ReadonlySet<string> {
  const isSame = (a: Place, b: Place) => a.length === b.length && a.every((one, at) => one === b[at])
  const isKept = ({ anchor, node, place }: (typeof anchored)[number]) =>
    uses
      .get(anchor)
      ?.every((there) => (isScalar(node) ? isOpen(place) && isOpen(there) : isSame(place, there)))
  return new Set(anchored.filter((one) => !isKept(one)).map(({ anchor }) => anchor))
}

/** Text, number or switch, and no secret. */
function isOpen(place: Place): boolean {
  return place.some(isPlain) && !place.some(isSecret)
}

function isPlain(schema: Json): boolean {
  const types = [schema.type].flat()
  return types.some((type) => type !== 'object' && type !== 'array' && type !== undefined)
}

function mayShow(node: Scalar, place: Place, text: string, keys: KnownKeys): boolean {
  const [from, to] = node.range ?? [0, 0]
  if (place.length === 0 || from >= to || node.type?.startsWith('BLOCK')) return false
  if (typeof node.value === 'string' && isReference(node.value) && place.some(isPlain)) return true
  if (!isOpen(place) || !(isName(node) || place.some((schema) => fits(node.value, schema)))) return false
  const isKey = (word: string) => keys.has(word)
  return (
    isHarmlessText(text.slice(from, to).replace(/^(["'])(.*)\1$/, '$2'), isKey) &&
    (typeof node.value !== 'string' || isHarmlessText(node.value, isKey))
  )
}

/** Whether it is written as the schema demands, where that demands a form of words. */
function fits(value: unknown, schema: Json): boolean {
  const words = wordsOf(schema)
  if (words !== null) return words.includes(String(value))
  return typeof schema.pattern !== 'string' || new RegExp(schema.pattern).test(String(value))
}

/** Those of a union without a mark; a secret is one whatever form it may have. */
function alternatives(schema: Json | null): Place {
  if (schema === null) return []
  if (isSecret(schema) || markOf(schema) !== null) return [schema]
  return branchesOf(schema)?.flatMap(alternatives) ?? [schema]
}

/** The place of a key's value within a map at a place. */
function membersOf(map: YAMLMap, place: Place): (name: string, value: unknown) => Place {
  const named = place.flatMap((schema) => {
    const mark = isSecret(schema) ? null : markOf(schema)
    return mark === null ? [schema] : [mark.branches.get(writtenAt(map, mark.key)) ?? mark.shared]
  })
  const marks = new Set(place.flatMap((schema) => markOf(schema)?.key ?? []))
  return (name, value) => {
    if (marks.has(name)) return isName(value) ? [{ type: 'string' }] : []
    if (named.some((schema) => valuesOf(schema) !== null)) return named.flatMap(userNamed)
    return named.flatMap((schema) => {
      const properties = propertiesOf(schema)
      return properties !== null && Object.hasOwn(properties, name)
        ? alternatives(properties[name] ?? null)
        : []
    })
  }
}

function isName(value: unknown): boolean {
  return isScalar(value) && typeof value.value === 'string' && shownName(value.value) === value.value
}

/** In a map whose keys are the user's own nothing is known of texts: only maps with keys of ours, and references. */
function userNamed(schema: Json): Place {
  const values = valuesOf(schema)
  return values !== null && (isSecret(values) || propertiesOf(values) !== null) ? [values] : []
}

/** What is written at a key, where it is written once and is text. */
function writtenAt(map: YAMLMap, name: string): string {
  const at = (map.items as Pair[]).filter(({ key }) => !isScalar(key) || key.value === name)
  const value = at.length === 1 ? at[0]?.value : null
  return isScalar(value) && isScalar(at[0]?.key) ? String(value.value) : ''
}

interface Mark {
  /** The key that names the adapter. */
  readonly key: string
  readonly branches: ReadonlyMap<string, Json>
  /** What every branch has alike: known where nobody knows the adapter. */
  readonly shared: Json
}

const marks = new WeakMap<Json, Mark | null>()

function markOf(schema: Json): Mark | null {
  const before = marks.get(schema)
  if (before !== undefined) return before
  const key = branchesOf(schema) === null ? null : discriminatorOf(schema)
  const found = key === null ? null : markBy(key, branchesOf(schema) ?? [])
  marks.set(schema, found)
  return found
}

function markBy(key: string, all: readonly Json[]): Mark {
  const [first = {}] = all
  const alike = Object.entries(propertiesOf(first) ?? {}).filter(([name, member]) =>
    all.every((one) => propertiesOf(one)?.[name] === member),
  )
  return {
    key,
    branches: new Map(all.map((one) => [String(propertiesOf(one)?.[key]?.const), one])),
    shared: { properties: Object.fromEntries(alike) },
  }
}
