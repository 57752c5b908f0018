// Finds by syntax what the rules of the house forbid: each says of one node whether it is such a place.
import { bare, childrenOf, FUNCTIONS, isNode, type Node, nameOf, some } from './syntax.ts'

const isCall = (node: Node, method: RegExp) =>
  node.type === 'CallExpression' &&
  bare(node.callee)?.type === 'MemberExpression' &&
  method.test(nameOf(bare(node.callee)) ?? '')

/** `a.b` in its words; null: something that is made on the spot. */
function wordsOf(value: unknown): string | null {
  const node = bare(value)
  if (node?.type === 'ThisExpression') return 'this'
  if (node?.type === 'Identifier') return nameOf(node)
  const before = node?.type === 'MemberExpression' ? wordsOf(node.object) : null
  return before === null ? null : `${before}.${nameOf(node)}`
}

/** Whose member it is: `a.b` of `a.b.size`. */
function ownerOf(member: unknown): string | null {
  const node = bare(member)
  return node?.type === 'MemberExpression' ? wordsOf(node.object) : null
}

/** The node and all within it, but for the functions within. */
function* ownNodes(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) if (!FUNCTIONS.has(child.type)) yield* ownNodes(child)
}

const COMPARES = /^[<>]=?$/
const isZero = (node: unknown) => isNode(node) && node.value === 0

/** A function that compares the size of a map, goes through the same map and takes out of it: it forgets by count. */
export function forgetsByCount(node: Node): boolean {
  if (!FUNCTIONS.has(node.type)) return false
  const [sized, walked, lessened] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const add = (to: Set<string>, owner: string | null) => owner !== null && to.add(owner)
  for (const one of ownNodes(node)) {
    if (one.type === 'BinaryExpression' && COMPARES.test(String(one.operator)))
      for (const [side, other] of [
        [one.left, one.right],
        [one.right, one.left],
      ])
        if (nameOf(bare(side)) === 'size' && !isZero(other)) add(sized, ownerOf(side))
    if (one.type === 'ForOfStatement' || one.type === 'SpreadElement')
      add(walked, wordsOf(one.right ?? one.argument))
    if (isCall(one, /^(keys|values|entries)$/)) add(walked, ownerOf(one.callee))
    if (isCall(one, /^delete$/)) add(lessened, ownerOf(one.callee))
  }
  return [...lessened].some((owner) => sized.has(owner) && walked.has(owner))
}

const RATE = /^(rps|rate|per(ms|millisecond|second|minute|hour|day))$|(rate|per(second|minute|hour|day))$/i

/** Reckons with a rate by its name, or refills: the least of a limit and what was there plus so much for the time. */
export function refills(node: Node): boolean {
  const product = (one: unknown) => {
    const inner = bare(one)
    return inner?.type === 'BinaryExpression' && /^[*/]$/.test(String(inner.operator))
  }
  if (node.type === 'BinaryExpression' && /^[*/]$/.test(String(node.operator)))
    return [node.left, node.right].some((side) => RATE.test(nameOf(bare(side)) ?? ''))
  return (
    isCall(node, /^min$/) &&
    (node.arguments as Node[]).some((argument) => {
      const sum = bare(argument)
      return (
        sum?.type === 'BinaryExpression' && sum.operator === '+' && (product(sum.left) || product(sum.right))
      )
    })
  )
}

const FOLLOWS = /^(then|catch|finally)$/

/** What stands before `.then(…).catch(…)`. */
function rootOf(value: unknown): Node | null {
  const node = bare(value)
  if (node === null || !isCall(node, FOLLOWS)) return node
  return rootOf((bare(node.callee) as Node).object)
}

function mentions(value: unknown, words: string): boolean {
  if (!isNode(value)) return false
  if (value.type !== 'MemberExpression')
    return wordsOf(value) === words || childrenOf(value).some((one) => mentions(one, words))
  return (
    wordsOf(value) === words ||
    mentions(value.object, words) ||
    (value.computed === true && mentions(value.property, words))
  )
}

/** `a = value`, or `a.set(key, value)`: what is kept, in its words, and the value. */
function keeping(node: Node): { readonly words: string | null; readonly value: unknown } | null {
  if (node.type === 'AssignmentExpression') return { words: wordsOf(node.left), value: node.right }
  if (!isCall(node, /^set$/)) return null
  return { words: ownerOf(node.callee), value: (node.arguments as Node[])[1] }
}

/** A function that keeps what follows the kept: `chain = chain.then(…)`, on however many lines, or by a name between. */
export function followsItself(node: Node): boolean {
  if (!FUNCTIONS.has(node.type) && node.type !== 'Program') return false
  const between = new Map<string | null, Node | null>()
  for (const one of ownNodes(node))
    if (one.type === 'VariableDeclarator' && rootOf(one.init) !== bare(one.init))
      between.set(wordsOf(one.id), rootOf(one.init))
  for (const one of ownNodes(node)) {
    const { words = null, value } = keeping(one) ?? {}
    const root = rootOf(value)
    const origin = (root?.type === 'Identifier' && between.get(wordsOf(root))) || root
    if (origin === null || origin === bare(value)) continue
    if ((words !== null && mentions(origin, words)) || some(origin, isNothingYet)) return true
  }
  return false
}

/** `?? Promise.resolve()`. */
function isNothingYet(node: Node): boolean {
  const other = node.type === 'LogicalExpression' ? bare(node.right) : null
  return other !== null && wordsOf(other.callee) === 'Promise.resolve'
}

/** The same in other words: it waits for what is kept, or follows something that was kept. */
export function chains(node: Node): boolean {
  const { words = null, value } = keeping(node) ?? {}
  const waits = some(value, (one) => one.type === 'AwaitExpression' || isCall(one, FOLLOWS))
  const root = rootOf(value)
  return (
    (waits && words !== null && mentions(value, words)) || (root !== bare(value) && wordsOf(root) !== null)
  )
}

const OUTCOMES = new Set(['sent', 'deduplicated'])
const isSentence = (text: string) => /[a-z,:] [a-z$]/i.test(text)

/** Words that are chosen by how a send ended, or the record of such an end. */
export function wordsResult(node: Node): boolean {
  if (node.type === 'ObjectExpression')
    return ['platform_ids', 'status'].every((key) =>
      (node.properties as Node[]).some((one) => nameOf(one.key) === key),
    )
  if (node.type !== 'ConditionalExpression' && node.type !== 'IfStatement') return false
  const asks = some(
    node.test,
    (one) =>
      nameOf(one.type === 'MemberExpression' ? one : null) === 'ok' ||
      (one.type === 'BinaryExpression' &&
        [one.left, one.right].some((side) => isNode(side) && OUTCOMES.has(side.value as string))),
  )
  const says = (one: Node) =>
    one.type === 'TemplateLiteral'
      ? isSentence((one.quasis as Node[]).map(({ value }) => (value as { raw: string }).raw).join('$'))
      : typeof one.value === 'string' && isSentence(one.value)
  return asks && [node.consequent, node.alternate].some((branch) => some(branch, says))
}

/** A row for the outbox, or the effect that becomes one, is put together here. */
export function makesRow(node: Node): boolean {
  if (node.type !== 'ObjectExpression') return false
  const keys = (node.properties as Node[]).map((one) => nameOf(one.key))
  return keys.includes('op') && keys.includes('cause')
}
