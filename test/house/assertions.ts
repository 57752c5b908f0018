// What asserts, by syntax: a call that throws when something is not so, and looks at more than what is written down.
import { calledName } from './parse-test.ts'
import { childrenOf, isNode, type Node } from './syntax.ts'

/** Throw when what they look for is not so. */
const THROWING = new Set(['assert', 'until', 'waitFor'])
/** Of `expect` itself; its others make something to compare with. */
const OF_EXPECT = new Set(['unreachable', 'fail', 'assertions', 'hasAssertions'])
const PROMISED = new Set(['rejects', 'resolves', 'poll'])

/** Whether the call asserts: `expect(x)` alone does not, nor does what can only be true. */
export function isAssertion(call: Node): boolean {
  const callee = call.callee as Node
  const subject = subjectOf(callee)
  if (subject) return !canOnlyBeTrue(subject.arguments as Node[], call.arguments as Node[])
  if (callee.type === 'MemberExpression') {
    const { name } = callee.object as Node
    if (name === 'expect') return OF_EXPECT.has(calledName(callee) ?? '')
    if (name === 'assert') return true
  }
  return THROWING.has(calledName(callee) ?? '')
}

/** `expect(x)` of `expect(x).not.toBe(y)`, and `expect.poll(…)` of what asks it. */
function subjectOf(callee: Node): Node | null {
  if (callee.type !== 'MemberExpression') return null
  const object = callee.object as Node
  if (object.type !== 'CallExpression') return subjectOf(object)
  const made = object.callee as Node
  const root = made.type === 'MemberExpression' ? (made.object as Node) : made
  const isMatched = made.type !== 'MemberExpression' || !OF_EXPECT.has(calledName(made) ?? '')
  return root.name === 'expect' && isMatched ? object : null
}

function canOnlyBeTrue([subject]: readonly Node[], compared: readonly Node[]): boolean {
  if (subject === undefined) return true
  if (isFixed(subject)) return compared.every(isFixed)
  return compared.length === 1 && isSame(subject, compared[0])
}

const FIXED = new Set([
  'ArrayExpression',
  'ObjectExpression',
  'Property',
  'UnaryExpression',
  'TemplateLiteral',
])

/** Written down as it is, with no name and no call in it. */
function isFixed(node: Node): boolean {
  if (node.type === 'Literal' || node.type === 'TemplateElement' || node.name === 'undefined') return true
  if (node.type === 'Property') return isFixed(node.value as Node)
  return FIXED.has(node.type) && childrenOf(node).every(isFixed)
}

/** The same name, or the same path from it: two calls may differ. */
function isSame(one: Node, other: Node | undefined): boolean {
  if (one.type !== other?.type) return false
  if (one.type === 'Identifier') return one.name === other.name
  if (one.type !== 'MemberExpression' || one.computed !== other.computed) return false
  return (
    isSame(one.object as Node, other.object as Node) && isSame(one.property as Node, other.property as Node)
  )
}

/** Whether it is an assertion that comes true or false later, so that nobody hears of it who does not wait. */
export function isPromised(call: Node): boolean {
  const callee = call.callee as Node
  if (!isAssertion(call)) return false
  const name = calledName(callee)
  if (name === 'until' || name === 'waitFor') return true
  for (let at: unknown = callee; isNode(at); at = at.object ?? at.callee) {
    if (PROMISED.has(calledName(at) ?? '')) return true
  }
  return false
}
