// The syntax tree of a source file, and how to walk it.
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function childrenOf(node: Node): readonly Node[] {
  const found: Node[] = []
  for (const key in node) {
    const value = node[key]
    if (Array.isArray(value)) for (const one of value) isNode(one) && found.push(one)
    else if (isNode(value)) found.push(value)
  }
  return found
}

export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const child of childrenOf(node)) walk(child, visit)
}

/** The name of an identifier, of a literal key or of `a.b`: its last word. */
export function nameOf(node: unknown): string | null {
  if (!isNode(node)) return null
  if (node.type === 'MemberExpression')
    return node.computed === true && (node.property as Node).type !== 'Literal' ? null : nameOf(node.property)
  const name = node.name ?? node.value
  return typeof name === 'string' ? name : null
}

/** Unwraps syntax that changes no value: `a?.b`, `a!`, `a as B`, `await a`. */
export function bare(node: unknown): Node | null {
  if (!isNode(node)) return null
  const through =
    /^(ChainExpression|TSNonNullExpression|TSAsExpression|TSSatisfiesExpression|ParenthesizedExpression)$/
  if (through.test(node.type)) return bare(node.expression)
  return node.type === 'AwaitExpression' ? bare(node.argument) : node
}
