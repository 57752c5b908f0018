// The syntax tree of a source file, and how to walk it.
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Each tree is walked many times. */
const children = new WeakMap<Node, readonly Node[]>()

export function childrenOf(node: Node): readonly Node[] {
  const known = children.get(node)
  if (known) return known
  const found: Node[] = []
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const one of value) isNode(one) && found.push(one)
    else if (isNode(value)) found.push(value)
  }
  children.set(node, found)
  return found
}

export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const child of childrenOf(node)) walk(child, visit)
}
