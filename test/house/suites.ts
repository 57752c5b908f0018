// Which suites of src/testing/ a file of tests really runs, and on what: read as syntax, for house.test.ts.
import { type Parsed, parsed } from './parse-test.ts'
import { childrenOf, FUNCTIONS, isNode, type Node } from './syntax.ts'
import { isWrittenDown } from './written-lists.ts'

/** What stands in them is run by condition, later, or as often as a list is long. */
const MAYBE = new Set([
  ...['IfStatement', 'ConditionalExpression', 'LogicalExpression', 'SwitchStatement', 'TryStatement'],
  ...['ForStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement'],
  ...['ClassDeclaration', 'ClassExpression', ...FUNCTIONS],
])
const LEAVING = new Set(['ReturnStatement', 'ThrowStatement', 'BreakStatement', 'ContinueStatement'])

/** The suites of src/testing/ that a file of tests calls where the call is run: at its top or in a `describe` there. */
export function suitesCalled(test: Parsed): readonly string[] {
  const called: string[] = []
  /** Whether what follows is come to. */
  const visit = (node: Node): boolean => {
    if (LEAVING.has(node.type)) return false
    if (MAYBE.has(node.type)) return !mayLeave(node)
    if (node.type === 'ForOfStatement' && !isWrittenDown(node.right as Node, test)) return !mayLeave(node)
    if (node.type === 'AssignmentExpression' && node.operator !== '=') return true
    if (node.type !== 'CallExpression') return childrenOf(node).every(visit)
    const name = ((node.callee as Node).name as string | undefined) ?? ''
    const from = test.imports.get(name)
    if (from?.file.startsWith('src/testing/')) called.push(from.name)
    // With options between (`skip`) it may not be run.
    const [, body] = node.arguments as Node[]
    const isDescribe = name === 'describe' && from === undefined && !test.functions.has(name)
    if (isDescribe && body && FUNCTIONS.has(body.type) && isNode(body.body)) visit(body.body)
    return true
  }
  visit(test.program)
  return called
}

/** Whether what stands in it may end what it stands in without a failure. */
function mayLeave(node: Node): boolean {
  if (FUNCTIONS.has(node.type)) return false
  if (LEAVING.has(node.type)) return node.type !== 'ThrowStatement'
  return childrenOf(node).some(mayLeave)
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
