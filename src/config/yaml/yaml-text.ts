// YAML with positions: text → plain data, and a way back from a path to line and column.
// The conversion is our own, so that big numbers used as keys keep their digits, `__proto__` is a plain key,
// duplicate keys name both lines, and aliases cannot blow up.
import {
  type Alias,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import type { Path } from '../problem.ts'
import { shownName } from './shown-names.ts'
import { atOnce, withPauses } from './steps.ts'
import { documentSteps, ENTRIES_AT_A_TIME } from './yaml-document.ts'

export interface Position {
  readonly line: number
  readonly column: number
}

export interface YamlProblem extends Position {
  readonly path: Path
  readonly message: string
  readonly hint: string | null
}

export interface YamlText {
  readonly value: unknown
  readonly problems: readonly YamlProblem[]
  /** The tree behind the value; null where there is none. */
  readonly root: unknown
  /** Where the key (or, for a list, the item) stands; the nearest parent when it is absent. */
  locateKey(path: Path): Position
  locateValue(path: Path): Position
  /** The text of a scalar as it was written, e.g. `123456789012345678` of a number. */
  written(path: Path): string | null
}

const MAX_DEPTH = 40
const MAX_NODES = 200_000
const MAX_ALIASED_NODES = 2_000
const START: Position = { line: 1, column: 1 }

class TooMuch extends Error {}

/** All at once. */
export function readYaml(text: string): YamlText {
  return atOnce(yamlSteps(text))
}

/** The same, with a pause after every part of a large text: it may take a second. */
export function readYamlInSlices(text: string, pause: () => Promise<void>): Promise<YamlText> {
  return withPauses(yamlSteps(text), pause)
}

function* yamlSteps(text: string): Generator<void, YamlText> {
  const lines = new LineCounter()
  const at = (offset: number | undefined): Position => {
    if (offset === undefined) return START
    const { line, col } = lines.linePos(offset)
    return line === 0 ? START : { line, column: col }
  }
  const problems: YamlProblem[] = []
  const say = (offset: number | undefined, path: Path, message: string, hint: string | null = null) =>
    problems.push({ ...at(offset), path, message, hint })

  if (tooDeep(text)) {
    say(0, [], 'the file is nested too deeply', `at most ${MAX_DEPTH} levels are read`)
    return { value: null, problems, ...nowhere }
  }
  let root: Node | null
  try {
    const document = yield* documentSteps(text, lines)
    for (const error of [...document.errors, ...document.warnings].slice(0, 20)) {
      say(error.pos[0], [], yamlMessage(error.code, error.message), yamlHint(error.code, text, error.pos[0]))
    }
    root = document.contents as Node | null
  } catch (thrown) {
    say(
      0,
      [],
      thrown instanceof RangeError ? 'the file is nested too deeply' : 'the file cannot be read as YAML',
    )
    return { value: null, problems, ...nowhere }
  }

  const anchors = yield* collectAnchors(root)
  yield
  let nodes = 0
  let aliased = 0

  function convert(node: unknown, path: Path, depth: number, inAlias: boolean): unknown {
    nodes++
    if (inAlias) aliased++
    if (aliased > MAX_ALIASED_NODES) throw new TooMuch('aliases expand to too much data')
    if (nodes > MAX_NODES) throw new TooMuch('the file holds too many values')
    if (depth > MAX_DEPTH) throw new TooMuch('the file is nested too deeply')
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (target === undefined) {
        say(offsetOf(node), path, 'an alias names an anchor that is not set before it')
        return null
      }
      return convert(target, path, depth + 1, true)
    }
    if (isScalar(node)) return node.value
    if (isSeq(node))
      return node.items.map((item, index) => convert(item, [...path, index], depth + 1, inAlias))
    if (isMap(node)) return convertMap(node.items, path, depth, inAlias)
    return null
  }

  function convertMap(pairs: readonly unknown[], path: Path, depth: number, inAlias: boolean): unknown {
    return fromPairs(
      distinct(pairs, path).map(([key, node]) => [key, convert(node, [...path, key], depth + 1, inAlias)]),
    )
  }

  /** Keys as text, each once, with the node behind it. */
  function distinct(pairs: readonly unknown[], path: Path): readonly (readonly [string, unknown])[] {
    const nodesOf = new Map<string, { readonly line: number; readonly value: unknown }>()
    for (const pair of pairs) {
      if (!isPair(pair)) continue
      const key = keyText(pair.key, anchors)
      const offset = offsetOf(pair.key)
      if (key === null) {
        say(offset, path, 'a key must be plain text')
        continue
      }
      const line = at(offset).line
      const before = nodesOf.get(key)
      if (before !== undefined) {
        say(
          offset,
          [...path, key],
          `duplicate key "${shownName(key)}": it stands on line ${before.line} and on line ${line}`,
        )
        continue
      }
      nodesOf.set(key, { line, value: pair.value })
    }
    return [...nodesOf].map(([key, { value }]) => [key, value])
  }

  /** What makes a file long are the lists at its top. */
  function* convertRoot(): Generator<void, unknown> {
    if (!isMap(root)) return convert(root, [], 0, false)
    nodes++
    const entries: [string, unknown][] = []
    for (const [key, node] of distinct(root.items, [])) {
      const long = isSeq(node) && node.items.length > ENTRIES_AT_A_TIME
      entries.push([key, long ? yield* convertList(node.items, key) : convert(node, [key], 1, false)])
    }
    return fromPairs(entries)
  }

  function* convertList(items: readonly unknown[], key: string): Generator<void, unknown> {
    const values: unknown[] = []
    nodes++
    for (const [index, item] of items.entries()) {
      values.push(convert(item, [key, index], 2, false))
      if (values.length % ENTRIES_AT_A_TIME === 0) yield
    }
    return values
  }

  let value: unknown = null
  try {
    value = yield* convertRoot()
  } catch (thrown) {
    const message = thrown instanceof TooMuch ? thrown.message : 'the file is nested too deeply'
    say(0, [], message, 'write it plainly, without anchors that repeat one another')
  }

  const indexes = new WeakMap<object, ReadonlyMap<string, Pair>>()
  function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = indexes.get(map)
    if (known !== undefined) return known
    const index = new Map(map.items.map((pair) => [keyText(pair.key, anchors) ?? '', pair as Pair]))
    indexes.set(map, index)
    return index
  }

  function walk(path: Path): { pair: Pair | null; node: unknown; found: boolean } {
    let node: unknown = root
    let pair: Pair | null = null
    for (const part of path) {
      const here = isAlias(node) ? anchors.get((node as Alias).source) : node
      let next: unknown
      let nextPair: Pair | null = null
      if (isMap(here)) {
        const match = pairsOf(here).get(String(part))
        if (!match) return { pair, node, found: false }
        nextPair = match
        next = match.value
      } else if (isSeq(here) && typeof part === 'number' && here.items[part] !== undefined) {
        next = here.items[part]
      } else return { pair, node, found: false }
      node = next
      pair = nextPair
    }
    return { pair, node, found: true }
  }

  return {
    value,
    problems,
    root,
    locateKey(path) {
      const { pair, node } = walk(path)
      return at(pair ? offsetOf(pair.key) : offsetOf(node))
    },
    locateValue(path) {
      const { pair, node } = walk(path)
      return at(offsetOf(node) ?? (pair ? offsetOf(pair.key) : undefined))
    },
    written(path) {
      const { node, found } = walk(path)
      return found && isScalar(node) ? (node.source ?? String(node.value)) : null
    },
  }
}

// It defines own properties, so a key named __proto__ stays a plain (and unknown) key.
const fromPairs = (pairs: readonly (readonly [string, unknown])[]): unknown => Object.fromEntries(pairs)

const nowhere = { root: null, locateKey: () => START, locateValue: () => START, written: () => null }

/** Nodes that are looked at between two pauses. */
const NODES_AT_A_TIME = 10_000

function* collectAnchors(root: unknown): Generator<void, Map<string, unknown>> {
  const anchors = new Map<string, unknown>()
  const open: unknown[] = [root]
  for (let looked = 1; open.length > 0; looked++) {
    const node = open.pop()
    if (isPair(node)) open.push(node.key, node.value)
    else if (isMap(node) || isSeq(node)) {
      if (node.anchor) anchors.set(node.anchor, node)
      for (const item of node.items) open.push(item)
    } else if (isScalar(node) && node.anchor) anchors.set(node.anchor, node)
    if (looked % NODES_AT_A_TIME === 0) yield
  }
  return anchors
}

// A number as a key keeps its digits: chat ids are longer than a double.
function keyText(key: unknown, anchors: ReadonlyMap<string, unknown>): string | null {
  if (isAlias(key)) return keyText(anchors.get(key.source), new Map())
  if (!isScalar(key)) return null
  if (typeof key.value === 'string') return key.value
  return key.source ?? String(key.value)
}

function offsetOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node)
    ? (node.range?.[0] ?? undefined)
    : undefined
}

// The parser is recursive: brackets are counted first so that hostile depth never reaches it.
function tooDeep(text: string): boolean {
  let depth = 0
  for (const line of text.split('\n')) {
    if (/^\s*#/.test(line)) continue
    const dashes = /^\s*((?:[-?:] +)+)/.exec(line)?.[1]
    if (dashes !== undefined && dashes.replaceAll(' ', '').length > MAX_DEPTH) return true
    for (const char of brackets(line)) {
      depth = char === '[' || char === '{' ? depth + 1 : Math.max(0, depth - 1)
      if (depth > MAX_DEPTH * 4) return true
    }
  }
  return false
}

/** The brackets of a line that stand in no quotes. A quote without an end quotes nothing, and is looked for once only. */
function* brackets(line: string): Generator<string> {
  const lastOf = { '"': line.lastIndexOf('"'), "'": line.lastIndexOf("'") }
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ''
    if ((char === '"' || char === "'") && at < lastOf[char]) {
      const end = quoteEnd(line, at, char)
      // From here on every quote of this kind that is found was escaped: none ends.
      if (end === -1) lastOf[char] = -1
      else at = end
    } else if ('[]{}'.includes(char)) yield char
  }
}

function quoteEnd(line: string, from: number, quote: string): number {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === quote) return at
    if (quote === '"' && line[at] === '\\') at++
  }
  return -1
}

const FIXED_WORDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab is used to indent',
  MULTIPLE_DOCS: 'the file holds more than one document',
  TAG_RESOLVE_FAILED: 'tags (!…) are not used here',
  BAD_COLLECTION_TYPE: 'tags (!…) are not used here',
  BAD_DIRECTIVE: 'directives (%…) are not used here',
  BAD_DQ_ESCAPE: 'not valid YAML: invalid escape sequence in double quotes',
}

function yamlMessage(code: string, message: string): string {
  // The parser's texts may quote what it read: only their first, fixed part is shown.
  const first = (message.split(/[:\n"]/)[0] ?? message).replace(/^(Unexpected) \S{2,} in /, '$1 text in ')
  return FIXED_WORDS[code] ?? `not valid YAML: ${lowerFirst(first).trim()}`
}

function yamlHint(code: string, text: string, offset: number): string | null {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  if (code === 'TAB_AS_INDENT' || /^ *\t/.test(text.slice(lineStart, offset + 1))) return 'indent with spaces'
  if (code === 'MULTIPLE_DOCS') return 'keep one and remove the "---" line'
  return null
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
