// Finds small wrong changes of a source file on its syntax tree. A test should notice each of them.
import { createHash } from 'node:crypto'
import { parseSync } from 'vite'

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  /** The present text, and its replacement. */
  readonly from: string
  readonly to: string
  /** The innermost function around it, as `file:offset`, or the file itself. */
  readonly within: string
  /** Names the mutant by its change and not by its place, so that it stays the same when other lines change. */
  readonly key: string
}

/** A place that records when it is reached: a function's body, or the top of the file. */
export interface Place {
  readonly id: string
  readonly start: number
  readonly end: number
  readonly form: 'block' | 'expression' | 'file'
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const SWAPPED: Readonly<Record<string, string>> = {
  '>': '>=',
  '<': '<=',
  '>=': '>',
  '<=': '<',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '-': '+',
  '*': '/',
}
const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
}
/** Types are not executed. Only the expression inside an assertion is. */
const TRANSPARENT = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export function readMutants(
  file: string,
  text: string,
): { readonly mutants: readonly Mutant[]; readonly places: readonly Place[] } {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`)
  const mutants: Mutant[] = []
  const places: Place[] = [{ id: file, start: 0, end: 0, form: 'file' }]
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const lines = text.split('\n')
  const alike = new Map<string, number>()
  const keyOf = (line: number, from: string, to: string) => {
    const change = [file, lines[line - 1], from, to]
      .map((part) => part?.replace(/\s+/g, ' ').trim())
      .join('\n')
    const nth = (alike.get(change) ?? 0) + 1
    alike.set(change, nth)
    return `${change}\n${nth}`
  }

  const visit = (node: Node, within: string): void => {
    if (node.type.startsWith('TS') && !TRANSPARENT.has(node.type)) return
    for (const [start, end, to] of changesOf(node, text)) {
      const from = text.slice(start, end)
      if (from === to) continue
      const line = lineAt(start)
      mutants.push({ file, line, start, end, from, to, within, key: keyOf(line, from, to) })
    }
    let inside = within
    const body = node.body as Node | undefined
    if (FUNCTIONS.has(node.type) && body) {
      inside = `${file}:${node.start}`
      const form = body.type === 'BlockStatement' ? 'block' : 'expression'
      places.push({ id: inside, start: body.start, end: body.end, form })
    }
    for (const [key, value] of Object.entries(node)) {
      if (key === 'typeAnnotation' || key === 'returnType' || key === 'typeParameters') continue
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, inside)
    }
  }
  visit(program as unknown as Node, file)
  return { mutants, places }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Yields the start, end and new text of each change of this node itself. */
function* changesOf(node: Node, text: string): Generator<readonly [number, number, string]> {
  const piece = (part: Node) => text.slice(part.start, part.end)
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right, operator } = node as unknown as { left: Node; right: Node; operator: string }
      const at = left.end + text.slice(left.end, right.start).indexOf(operator)
      const swapped = SWAPPED[operator]
      if (swapped !== undefined) yield [at, at + operator.length, swapped]
      if (operator === '??') yield [node.start, node.end, piece(left)]
      if (operator === '+' && ![left, right].some(isText)) yield [at, at + 1, '-']
      break
    }
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node.test as Node
      yield [test.start, test.end, 'true']
      yield [test.start, test.end, 'false']
      break
    }
    case 'UnaryExpression':
      if (node.operator === '!') yield [node.start, node.end, piece(node.argument as Node)]
      break
    case 'Literal':
      if (node.value === true) yield [node.start, node.end, 'false']
      else if (node.value === false) yield [node.start, node.end, 'true']
      else if (typeof node.value === 'number') yield [node.start, node.end, `${node.value + 1}`]
      break
    case 'ExpressionStatement': {
      const done = node.expression as Node
      const isCall = done.type === 'CallExpression' || done.type === 'AwaitExpression'
      // An empty statement instead of `void 0`, so that the next line cannot become its argument.
      if (isCall || done.type === 'YieldExpression') yield [node.start, node.end, ';']
      break
    }
    case 'CallExpression': {
      const callee = node.callee as Node
      const name = callee.type === 'MemberExpression' ? (callee.property as Node) : null
      const other = name?.type === 'Identifier' ? METHODS[name.name as string] : undefined
      if (name && other !== undefined && Object.hasOwn(METHODS, name.name as string))
        yield [name.start, name.end, other]
      if (name?.name === 'filter') yield [node.start, node.end, piece(callee.object as Node)]
      break
    }
  }
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

export function apply(text: string, { start, end, to }: Pick<Mutant, 'start' | 'end' | 'to'>): string {
  return text.slice(0, start) + to + text.slice(end)
}

/** Returns the file with code that records each reached place in `globalThis.reachedPlaces`. */
export function instrument(text: string, places: readonly Place[]): string {
  const insertions: { at: number; text: string }[] = []
  for (const { id, start, end, form } of places) {
    const mark = `globalThis.reachedPlaces?.add(${JSON.stringify(id)})`
    if (form === 'file') insertions.push({ at: 0, text: `${mark};` })
    else if (form === 'block') insertions.push({ at: start + 1, text: `${mark};` })
    else insertions.push({ at: start, text: `(${mark},` }, { at: end, text: ')' })
  }
  let out = text
  for (const { at, text: piece } of insertions.sort((a, b) => b.at - a.at))
    out = out.slice(0, at) + piece + out.slice(at)
  return out
}

/**
 * The same seed gives the same order of the same mutants. Mutants that two states of the code share have the same
 * relative order, so that their scores can be compared.
 */
export function inOrder<T extends { readonly key: string }>(
  mutants: readonly T[],
  seed: number,
): readonly T[] {
  const drawn = ({ key }: T) => createHash('sha256').update(`${seed}\n${key}`).digest('hex')
  return mutants
    .map((mutant) => ({ mutant, at: drawn(mutant) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ mutant }) => mutant)
}
