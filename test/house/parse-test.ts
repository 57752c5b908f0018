// A file of tests as syntax: what it imports, the functions it names, and where in other files of ours those are.
import { posix } from 'node:path'
import { parseSync } from 'vite'
import { exists, read } from './source.ts'
import { FUNCTIONS, isNode, type Node, walk } from './syntax.ts'

export interface Parsed {
  readonly file: string
  readonly text: string
  readonly program: Node
  /** Local name → the name over there and the file, for what comes from a file of ours. */
  readonly imports: ReadonlyMap<string, { readonly name: string; readonly file: string }>
  /** Functions of the file by the name that they are called by: declared, assigned, or a property. */
  readonly functions: ReadonlyMap<string, readonly Node[]>
  /** Names that it passes on from other files, with those. */
  readonly passedOn: ReadonlyMap<string, string>
  readonly passedOnWhole: readonly string[]
}

/** A function, and the file that it stands in. */
export type Placed = readonly [Node, Parsed]

export function parseTest(file: string, text = read(file)): Parsed {
  const { program, errors } = parseSync(file, text, { preserveParens: false })
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const imports = new Map<string, { name: string; file: string }>()
  const functions = new Map<string, Node[]>()
  const passedOn = new Map<string, string>()
  const passedOnWhole: string[] = []
  const fileOf = (from: string) =>
    from.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), from)) : null
  const named = (name: unknown, node: unknown) => {
    if (typeof name !== 'string' || !isNode(node) || !FUNCTIONS.has(node.type)) return
    functions.set(name, [...(functions.get(name) ?? []), node])
  }
  walk(program as unknown as Node, (node) => {
    const from = isNode(node.source) ? fileOf(String(node.source.value)) : null
    if (node.type === 'ImportDeclaration' && from !== null) {
      for (const one of node.specifiers as Node[]) {
        const local = (one.local as Node).name as string
        imports.set(local, { name: (one.imported as Node | undefined)?.name as string, file: from })
      }
    }
    if (node.type === 'ExportNamedDeclaration' && from !== null) {
      for (const one of node.specifiers as Node[]) passedOn.set((one.exported as Node).name as string, from)
    }
    if (node.type === 'ExportAllDeclaration' && from !== null) passedOnWhole.push(from)
    if (node.type === 'FunctionDeclaration') named((node.id as Node | null)?.name, node)
    if (node.type === 'VariableDeclarator') named((node.id as Node).name, node.init)
    if (node.type === 'Property') named((node.key as Node).name, node.value)
  })
  return { file, text, program: program as unknown as Node, imports, functions, passedOn, passedOnWhole }
}

const known = new Map<string, Parsed>()

/** Read once: no test changes the sources. */
export function parsed(file: string): Parsed | null {
  if (!file.endsWith('.ts') || !exists(file)) return null
  const found = known.get(file) ?? parseTest(file)
  known.set(file, found)
  return found
}

/** Functions that a call by this name may mean: of the file, or imported. */
export function functionsNamed(name: string, within: Parsed): readonly Placed[] {
  const here = within.functions.get(name)
  if (here) return here.map((one) => [one, within] as const)
  const imported = within.imports.get(name)
  return imported ? declared(imported.name, imported.file) : []
}

function declared(name: string, file: string): readonly Placed[] {
  const there = parsed(file)
  if (there === null) return []
  const own = there.functions.get(name)
  if (own) return own.map((one) => [one, there] as const)
  const on = there.passedOn.get(name)
  if (on !== undefined) return declared(name, on)
  return there.passedOnWhole.flatMap((each) => declared(name, each))
}

/** `f()`, `x.f()` and `x?.f()` call f. */
export function calledName(callee: Node): string | null {
  if (callee.type === 'Identifier') return callee.name as string
  if (callee.type !== 'MemberExpression') return null
  return ((callee.property as Node).name as string | undefined) ?? null
}

/** Where the test calls `it` or `test`, with the function that it gives, itself or by its name. */
export function testCalls(test: Parsed): readonly { readonly call: Node; readonly body: Node }[] {
  const found: { call: Node; body: Node }[] = []
  walk(test.program, (call) => {
    if (call.type !== 'CallExpression' || !isTestCall(call)) return
    for (const given of call.arguments as Node[]) {
      const named = given.type === 'Identifier' ? (test.functions.get(given.name as string) ?? []) : [given]
      for (const body of named) if (FUNCTIONS.has(body.type)) found.push({ call, body })
    }
  })
  return found
}

function isTestCall(node: Node): boolean {
  const callee = node.callee as Node
  const inner = callee.type === 'CallExpression' ? (callee.callee as Node) : callee
  const root = inner.type === 'MemberExpression' ? (inner.object as Node) : inner
  return root.type === 'Identifier' && (root.name === 'it' || root.name === 'test')
}

export function placeOf({ file, text }: Parsed, { start }: Node): string {
  return `${file}:${text.slice(0, start).split('\n').length}`
}
