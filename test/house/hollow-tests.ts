// Finds, by syntax, the tests that can pass without having asserted anything: for true-tests.test.ts.
import { isAssertion, isPromised } from './assertions.ts'
import { calledName, functionsNamed, type Parsed, type Placed, placeOf, testCalls } from './parse-test.ts'
import { childrenOf, FUNCTIONS, isNode, type Node, walk } from './syntax.ts'
import { isCountedUp, isWrittenDown } from './written-lists.ts'

/** Call what they are given once for each of a list. */
const EACH = new Set([
  ...['forEach', 'map', 'flatMap', 'filter', 'some', 'every', 'find', 'findIndex', 'findLast', 'reduce'],
])
/** Call what they are given later, or never. */
const LATER = new Set([
  ...['on', 'once', 'addEventListener', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
  ...['fn', 'mockImplementation', 'mockImplementationOnce', 'createServer'],
])

/** Tests with a way to their end that asserts nothing. */
export function hollowTests(test: Parsed): readonly string[] {
  return testCalls(test)
    .filter(({ call, body }) => waysThrough(body, test, givenByRows(call, body, test)).passes)
    .map(({ call }) => placeOf(test, call))
}

/** Lines where a test ends before it has asserted anything, and passes: what cannot be tested here is skipped. */
export function silentReturns(test: Parsed): readonly string[] {
  return testCalls(test).flatMap(({ call, body }) =>
    waysThrough(body, test, givenByRows(call, body, test)).silent.map((node) => placeOf(test, node)),
  )
}

/** Assertions that come true or false later, and that nobody waits for. */
export function unawaitedAssertions(test: Parsed): readonly string[] {
  const found: string[] = []
  walk(test.program, (node) => {
    if (node.type !== 'ExpressionStatement') return
    const stated = node.expression as Node
    const call = stated.operator === 'void' ? (stated.argument as Node) : stated
    if (call.type !== 'CallExpression') return
    const { type, name } = call.callee as Node
    const called = type === 'Identifier' ? functionsNamed(name as string, test) : []
    const isChecking = called.some(([one, there]) => one.async === true && !isOpen(one, there))
    if (isPromised(call) || isChecking) found.push(placeOf(test, node))
  })
  return found
}

interface Ways {
  /** Whether its end is come to with nothing asserted. */
  readonly passes: boolean
  /** Returns that are. */
  readonly silent: readonly Node[]
}

/** By the name of a parameter: the functions that stand for it in the rows of `it.each`, one of which is called. */
type Rows = ReadonlyMap<string, readonly Placed[]>

interface Walk {
  readonly within: Parsed
  readonly rows: Rows
  readonly silent: Node[]
  /** For each loop or switch around: whether a way breaks out of it, or goes on to the next round. */
  readonly around: { broken: boolean; continued: boolean }[]
}

const walked = new Map<Node, Ways>()

/**
 * Follows every way through a function for as long as it has asserted nothing: a way is over where it asserts, throws,
 * returns or skips the test. What a condition guards may be left out, a loop is run when its list is written down, and
 * a `catch` is come to with nothing asserted, for it has swallowed what was. Functions are followed where they are
 * called; those that are given to a call as if that called them.
 */
function waysThrough(body: Node, within: Parsed, rows: Rows = new Map()): Ways {
  const before = walked.get(body)
  if (before) return before
  // A function that calls itself does not become one that asserts by that.
  walked.set(body, { passes: true, silent: [] })
  const on: Walk = { within, rows, silent: [], around: [] }
  const ways = { passes: passes(body.body as Node, on), silent: on.silent }
  walked.set(body, ways)
  return ways
}

/** Whether the function, when it is called, may end without an assertion. */
function isOpen(body: Node, within: Parsed, rows?: Rows): boolean {
  const ways = waysThrough(body, within, rows)
  return ways.passes || ways.silent.length > 0
}

/** Whether a way leads past the node. */
function passes(node: Node, on: Walk): boolean {
  if (FUNCTIONS.has(node.type)) return true
  return BY_TYPE[node.type]?.(node, on) ?? inOrder(childrenOf(node), on)
}

function inOrder(nodes: readonly unknown[], on: Walk): boolean {
  return nodes.every((node) => !isNode(node) || passes(node, on))
}

/** Each is looked at, for the returns in it. */
function either(nodes: readonly unknown[], on: Walk): boolean {
  return nodes.map((node) => inOrder([node], on)).includes(true)
}

/** How a loop may be run, and how a round of it may end. */
function round(body: Node, on: Walk): { readonly passes: boolean; readonly broken: boolean } {
  const here = { broken: false, continued: false }
  on.around.push(here)
  const through = passes(body, on)
  on.around.pop()
  return { passes: through || here.continued || here.broken, broken: here.broken }
}

const branch = (node: Node, on: Walk) =>
  passes(node.test as Node, on) && either([node.consequent, node.alternate], on)
const overList = (node: Node, on: Walk) => {
  if (!passes(node.right as Node, on)) return false
  const { passes: through } = round(node.body as Node, on)
  return through || !isWrittenDown(node.right as Node, on.within)
}
const leave = (how: 'broken' | 'continued') => (node: Node, on: Walk) => {
  for (const each of node.label ? on.around : on.around.slice(-1)) each[how] = true
  return false
}

const BY_TYPE: Readonly<Record<string, (node: Node, on: Walk) => boolean>> = {
  IfStatement: branch,
  ConditionalExpression: branch,
  LogicalExpression: (node, on) => passes(node.left as Node, on),
  AssignmentExpression: (node, on) => node.operator !== '=' || inOrder([node.left, node.right], on),
  ReturnStatement(node, on) {
    if (inOrder([node.argument], on)) on.silent.push(node)
    return false
  },
  ThrowStatement: () => false,
  BreakStatement: leave('broken'),
  ContinueStatement: leave('continued'),
  ForOfStatement: overList,
  ForInStatement: overList,
  ForStatement(node, on) {
    if (!inOrder([node.init, node.test], on)) return false
    const { passes: through, broken } = round(node.body as Node, on)
    return isNode(node.test) ? through || !isCountedUp(node) : broken
  },
  WhileStatement(node, on) {
    if (!passes(node.test as Node, on)) return false
    const { broken } = round(node.body as Node, on)
    return broken || (node.test as Node).value !== true
  },
  DoWhileStatement: (node, on) => round(node.body as Node, on).passes && passes(node.test as Node, on),
  SwitchStatement(node, on) {
    if (!passes(node.discriminant as Node, on)) return false
    const cases = node.cases as Node[]
    const here = { broken: false, continued: false }
    on.around.push(here)
    const ends = cases.map((one) => inOrder(one.consequent as Node[], on))
    on.around.pop()
    for (const each of on.around.slice(-1)) each.continued ||= here.continued
    return here.broken || ends.at(-1) !== false || cases.every((one) => one.test !== null)
  },
  TryStatement(node, on) {
    const parts = [node.block, (node.handler as Node | null)?.body].filter(isNode)
    return either(parts, on) && inOrder([node.finalizer], on)
  },
  CallExpression: passesCall,
}

function passesCall(node: Node, on: Walk): boolean {
  const callee = node.callee as Node
  const given = node.arguments as readonly Node[]
  const name = calledName(callee) ?? ''
  const object = callee.type === 'MemberExpression' ? (callee.object as Node) : null
  if (isAssertion(node) || isSkip(node)) return false
  if (object && name === 'catch') return passes(object, on) || given.some((one) => isOpenWhenCalled(one, on))
  if (!inOrder([object, ...given], on)) return false
  if (isOptional(node)) return true
  if (FUNCTIONS.has(callee.type) && !isOpen(callee, on.within, on.rows)) return false
  if (callsGiven(name, object, given, on)) {
    const open = given.map((one) => isOpenWhenCalled(one, on))
    // Of two that `then` is given one is called.
    if (name === 'then' ? !open.includes(true) : open.includes(false)) return false
  }
  return isOpenByName(name, on)
}

/** Whether what is given to the call is called, and waited for. */
function callsGiven(name: string, object: Node | null, given: readonly Node[], on: Walk): boolean {
  if (given.length === 0 || LATER.has(name)) return false
  if (object === null || !EACH.has(name)) return true
  return isWrittenDown(object, on.within) && (name !== 'forEach' || given[0]?.async !== true)
}

function isOpenWhenCalled(given: Node, on: Walk): boolean {
  if (FUNCTIONS.has(given.type)) return isOpen(given, on.within, on.rows)
  return given.type !== 'Identifier' || isOpenByName(given.name as string, on)
}

function isOpenByName(name: string, on: Walk): boolean {
  const inRows = on.rows.get(name)
  if (inRows) return inRows.some(([one, there]) => isOpen(one, there))
  return functionsNamed(name, on.within).every(([one, there]) => isOpen(one, there))
}

/** What `it.each([['a', check]])` gives the test by its parameters, where each row has a function for it. */
function givenByRows(call: Node, body: Node, test: Parsed): Rows {
  const callee = call.callee as Node
  const [table] = callee.type === 'CallExpression' ? (callee.arguments as Node[]) : []
  const rows = table?.type === 'ArrayExpression' ? (table.elements as Node[]) : []
  const functionsOf = (given: unknown): readonly Placed[] => {
    if (!isNode(given)) return []
    if (FUNCTIONS.has(given.type)) return [[given, test]]
    return given.type === 'Identifier' ? functionsNamed(given.name as string, test) : []
  }
  const given = new Map<string, readonly Placed[]>()
  for (const [at, { name }] of (body.params as Node[]).entries()) {
    const inRows = rows.map((row) => functionsOf((row.elements as Node[] | undefined)?.[at]))
    const isWhole = inRows.length > 0 && inRows.every((functions) => functions.length > 0)
    if (typeof name === 'string' && isWhole) given.set(name, inRows.flat())
  }
  return given
}

/** `context.skip(why)` ends the test; with a condition before the reason it may not. */
function isSkip({ callee, arguments: given }: Node): boolean {
  const { type, object, property } = callee as Node
  const isOfTest = type === 'MemberExpression' && (object as Node).name === 'context'
  return isOfTest && (property as Node).name === 'skip' && (given as Node[]).length === 1
}

/** `a?.b()` may not be called. */
function isOptional(call: Node): boolean {
  for (let at: unknown = call; isNode(at); at = at.object ?? at.callee) if (at.optional === true) return true
  return false
}
