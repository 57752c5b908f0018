// Reads the tests as syntax for house.test.ts: which suites are really called, and which tests assert nothing.
import { posix } from 'node:path'
import { parseSync } from 'vite'
import { exists, read } from './source.ts'
import { childrenOf, FUNCTIONS, isNode, type Node, walk } from './syntax.ts'

interface Parsed {
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

const known = new Map<string, Parsed>()
/** What stands in them is run by condition, or as often as a list is long. */
const MAYBE = new Set([
  ...['IfStatement', 'ConditionalExpression', 'LogicalExpression', 'SwitchStatement', 'TryStatement'],
  ...['ForStatement', 'ForInStatement', 'WhileStatement'],
])
/** Throw when what they look for is not so. */
const ASSERTS = new Set(['expect', 'assert', 'until', 'waitFor'])

export function parseTest(file: string, text = read(file)): Parsed {
  const { program, errors } = parseSync(file, text)
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

function parsed(file: string): Parsed | null {
  if (!file.endsWith('.ts') || !exists(file)) return null
  const found = known.get(file) ?? parseTest(file)
  known.set(file, found)
  return found
}

/** Lines of the tests whose body, with all it calls in files of ours, can fail by no assertion. */
export function testsWithoutAssertion(test: Parsed): readonly string[] {
  const bare: string[] = []
  walk(test.program, (node) => {
    if (node.type !== 'CallExpression' || !isTestCall(node)) return
    const body = (node.arguments as Node[]).find(({ type }) => FUNCTIONS.has(type))
    if (body && !asserts(body, test)) bare.push(`${test.file}:${lineOf(test, node)}`)
  })
  return bare
}

/** Lines where a test ends before it has asserted anything, and passes: what cannot be tested here is skipped. */
export function silentReturns(test: Parsed): readonly string[] {
  const silent: string[] = []
  walk(test.program, (node) => {
    if (node.type !== 'CallExpression' || !isTestCall(node)) return
    const body = (node.arguments as Node[]).find(({ type }) => FUNCTIONS.has(type))
    let asserted = false
    const look = (inside: Node) => {
      if (FUNCTIONS.has(inside.type)) return
      if (inside.type === 'ReturnStatement' && inside.argument === null && !asserted)
        silent.push(`${test.file}:${lineOf(test, inside)}`)
      if (inside.type === 'CallExpression') asserted ||= assertsByCall(inside, test)
      for (const child of childrenOf(inside)) look(child)
    }
    if (isNode(body?.body)) look(body.body)
  })
  return silent
}

/**
 * Tests whose assertions all stand where they may never be come to: in a `catch`, or in a loop over a list that may
 * be empty. A list that is written down in the file is not empty.
 */
export function testsThatMayAssertNothing(test: Parsed): readonly string[] {
  const doubtful: string[] = []
  walk(test.program, (node) => {
    if (node.type !== 'CallExpression' || !isTestCall(node)) return
    const body = (node.arguments as Node[]).find(({ type }) => FUNCTIONS.has(type))
    if (!isNode(body?.body) || !asserts(body, test)) return
    let sure = false
    const look = (inside: Node) => {
      if (sure || inside.type === 'CatchClause') return
      if (inside.type === 'IfStatement') {
        look(inside.test as Node)
        // One of two ways is taken.
        if (isNode(inside.alternate))
          for (const way of [inside.consequent, inside.alternate]) look(way as Node)
        return
      }
      if (inside.type === 'ForOfStatement' || inside.type === 'ForInStatement') {
        const over = inside.right as Node
        look(over)
        if (!isWrittenDown(over, test)) return
      }
      if (inside.type === 'CallExpression') {
        const callee = inside.callee as Node
        const property = callee.type === 'MemberExpression' ? (callee.property as Node).name : null
        const isEach = property === 'forEach' || property === 'catch'
        if (isEach && !isWrittenDown(callee.object as Node, test)) return
        const name = calledName(callee)
        if (name !== null && ASSERTS.has(name)) sure = true
        if (name !== null && functionsNamed(name, test).some(([one, there]) => asserts(one, there)))
          sure = true
      }
      for (const child of childrenOf(inside)) look(child)
    }
    look(body.body)
    if (!sure) doubtful.push(`${test.file}:${lineOf(test, node)}`)
  })
  return doubtful
}

/** Of a list that is not empty they make another such. */
const KEEPING = new Set([
  'map',
  'slice',
  'entries',
  'values',
  'keys',
  'sort',
  'toSorted',
  'reverse',
  'concat',
])
const WRAPPERS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'ParenthesizedExpression'])

/** Whether the list is written down with something in it: here, or as a constant of this file or of one it uses. */
function isWrittenDown(over: Node, test: Parsed): boolean {
  if (WRAPPERS.has(over.type)) return isWrittenDown(over.expression as Node, test)
  if (over.type === 'ArrayExpression') {
    return (over.elements as Node[]).some((one) =>
      one.type === 'SpreadElement' ? isWrittenDown(one.argument as Node, test) : true,
    )
  }
  if (over.type === 'ConditionalExpression')
    return [over.consequent, over.alternate].some((way) => isWrittenDown(way as Node, test))
  if (over.type === 'ObjectExpression') return (over.properties as unknown[]).length > 0
  if (over.type === 'NewExpression') {
    const [of] = over.arguments as Node[]
    return of !== undefined && isWrittenDown(of, test)
  }
  if (over.type === 'CallExpression') {
    const callee = over.callee as Node
    if (callee.type !== 'MemberExpression') return false
    const object = callee.object as Node
    const [of] = over.arguments as Node[]
    const isMaker = object.type === 'Identifier' && (object.name === 'Object' || object.name === 'Array')
    if (isMaker) return of !== undefined && isWrittenDown(of, test)
    return KEEPING.has((callee.property as Node).name as string) && isWrittenDown(object, test)
  }
  return over.type === 'Identifier' && isConstant(over.name as string, test)
}

function isConstant(name: string, within: Parsed): boolean {
  const imported = within.imports.get(name)
  const there = imported === undefined ? within : parsed(imported.file)
  if (there === null || imported === undefined) return isHeld(name, within)
  const on = there.passedOn.get(imported.name)
  const further = on === undefined ? there.passedOnWhole : [on]
  return (
    isHeld(imported.name, there) ||
    further.map(parsed).some((one) => one !== null && isHeld(imported.name, one))
  )
}

function isHeld(name: string, within: Parsed): boolean {
  let found = false
  walk(within.program, (node) => {
    if (found || node.type !== 'VariableDeclarator' || (node.id as Node).name !== name) return
    const { init } = node
    // A name for another name would go round in circles.
    found = isNode(init) && init.type !== 'Identifier' && isWrittenDown(init, within)
  })
  return found
}

const judged = new Map<Node, boolean>()

/** Whether an assertion stands in the function or in what it calls. */
function asserts(body: Node, within: Parsed): boolean {
  const before = judged.get(body)
  if (before !== undefined) return before
  // A function that calls itself does not become one that asserts by that.
  judged.set(body, false)
  let found = false
  walk(body, (node) => {
    if (found || node.type !== 'CallExpression') return
    found = assertsByCall(node, within)
  })
  judged.set(body, found)
  return found
}

function assertsByCall(call: Node, within: Parsed): boolean {
  const name = calledName(call.callee as Node)
  if (name === null || isFixed(call)) return false
  return ASSERTS.has(name) || functionsNamed(name, within).some(([one, there]) => asserts(one, there))
}

/** `expect(true)` looks at nothing. */
function isFixed(call: Node): boolean {
  const [first] = call.arguments as readonly Node[]
  return (call.callee as Node).name === 'expect' && first?.type === 'Literal'
}

function functionsNamed(name: string, within: Parsed): readonly (readonly [Node, Parsed])[] {
  const here = (within.functions.get(name) ?? []).map((one) => [one, within] as const)
  const imported = within.imports.get(name)
  if (here.length > 0 || imported === undefined) {
    // A method of something that another file made: any function of that name in a file that this one uses.
    if (here.length > 0) return here
    const used = [...new Set([...within.imports.values()].map(({ file }) => file))]
    return used.flatMap((file) => {
      const there = parsed(file)
      return there === null ? [] : (there.functions.get(name) ?? []).map((one) => [one, there] as const)
    })
  }
  return declared(imported.name, imported.file)
}

function declared(name: string, file: string): readonly (readonly [Node, Parsed])[] {
  const there = parsed(file)
  if (there === null) return []
  const own = there.functions.get(name)
  if (own) return own.map((one) => [one, there] as const)
  const on = there.passedOn.get(name)
  if (on !== undefined) return declared(name, on)
  return there.passedOnWhole.flatMap((each) => declared(name, each))
}

/** The suites of src/testing/ that a file of tests calls where the call is run: at its top or in a `describe` there. */
export function suitesCalled(test: Parsed): readonly string[] {
  const called: string[] = []
  const visit = (node: Node) => {
    // What may not be come to is not called.
    if (FUNCTIONS.has(node.type) || MAYBE.has(node.type)) return
    if (node.type !== 'CallExpression') {
      for (const child of childrenOf(node)) visit(child)
      return
    }
    const name = calledName(node.callee as Node) ?? ''
    const from = test.imports.get(name)
    if (from?.file.startsWith('src/testing/')) called.push(from.name)
    if (!/^describe$/.test(name)) return
    for (const argument of node.arguments as Node[]) {
      if (FUNCTIONS.has(argument.type) && isNode(argument.body)) visit(argument.body)
    }
  }
  visit(test.program)
  return called
}

/** Whether the test uses what the file makes, itself or by its fixtures. */
export function reaches(test: Parsed, file: string, seen = new Set<string>()): boolean {
  return [...test.imports.values()].some((one) => {
    if (one.file === file) return true
    if (!/\/fixtures\/|^test\//.test(one.file) || seen.has(one.file)) return false
    seen.add(one.file)
    const fixture = parsed(one.file)
    return fixture !== null && reaches(fixture, file, seen)
  })
}

function isTestCall(node: Node): boolean {
  const callee = node.callee as Node
  const inner = callee.type === 'CallExpression' ? (callee.callee as Node) : callee
  const root = inner.type === 'MemberExpression' ? (inner.object as Node) : inner
  return root.type === 'Identifier' && (root.name === 'it' || root.name === 'test')
}

/** `f()`, `x.f()` and `x?.f()` call f; `expect(x).toBe()` and `expect.poll()` call expect. */
function calledName(callee: Node): string | null {
  if (callee.type === 'Identifier') return callee.name as string
  if (callee.type !== 'MemberExpression') return null
  const object = callee.object as Node
  if (object.type === 'Identifier' && ASSERTS.has(object.name as string)) return object.name as string
  return ((callee.property as Node).name as string | undefined) ?? null
}

function lineOf({ text }: Parsed, { start }: Node): number {
  return text.slice(0, start).split('\n').length
}
