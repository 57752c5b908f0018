// Lists that cannot be empty because they are written down: what stands in a loop over one is run.
import { type Parsed, parsed } from './parse-test.ts'
import { isNode, type Node, walk } from './syntax.ts'

/** Of a list that is not empty they make another such. */
const KEEPING = new Set(['map', 'entries', 'values', 'keys', 'sort', 'toSorted', 'reverse', 'concat'])
const WRAPPERS = new Set(['TSAsExpression', 'TSSatisfiesExpression'])

/** Whether the list is written down with something in it: here, or as a constant of this file or of one it uses. */
export function isWrittenDown(over: Node, test: Parsed): boolean {
  if (WRAPPERS.has(over.type)) return isWrittenDown(over.expression as Node, test)
  if (over.type === 'ArrayExpression') return holds(over.elements as (Node | null)[], test)
  if (over.type === 'ObjectExpression') return holds(over.properties as Node[], test)
  if (over.type === 'Literal') return typeof over.value === 'string' && over.value !== ''
  if (over.type === 'ConditionalExpression')
    return [over.consequent, over.alternate].every((way) => isWrittenDown(way as Node, test))
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

function holds(members: readonly (Node | null)[], test: Parsed): boolean {
  return members.some((one) => one?.type !== 'SpreadElement' || isWrittenDown(one.argument as Node, test))
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

/** Whether `for (let i = 0; i < 3; i++)` is run at least once by the numbers that are written there. */
export function isCountedUp(loop: Node): boolean {
  const [first] = ((loop.init as Node | null)?.declarations as Node[] | undefined) ?? []
  const { operator, right } = loop.test as Node
  const from = (first?.init as Node | undefined)?.value
  const to = (right as Node | undefined)?.value
  return (
    typeof from === 'number' &&
    typeof to === 'number' &&
    (operator === '<' ? from < to : operator === '<=' && from <= to)
  )
}
