// Who calls which verb of the store, by syntax: also under another name, and which verbs are handed rows for the outbox.
import { filesOf, source } from './source.ts'
import { bare, childrenOf, isNode, type Node, nameOf, some, walk } from './syntax.ts'

/** `store`, `deps.store`, `deps?.store`, and either of two of which one is a store. */
function isStore(value: unknown): boolean {
  const node = bare(value)
  if (node === null) return false
  if (node.type === 'LogicalExpression') return isStore(node.left) || isStore(node.right)
  if (node.type === 'ConditionalExpression') return isStore(node.consequent) || isStore(node.alternate)
  return /^(Identifier|MemberExpression)$/.test(node.type) && nameOf(node) === 'store'
}

/** The verbs that are taken from a store here: called, handed on, or taken out of it. */
export function verbsTaken(tree: Node): readonly string[] {
  const taken: string[] = []
  walk(tree, (node) => {
    if (node.type === 'MemberExpression' && isStore(node.object)) taken.push(nameOf(node) ?? '[…]')
    const pattern = node.type === 'VariableDeclarator' && isStore(node.init) ? node.id : storePattern(node)
    if (isNode(pattern) && pattern.type === 'ObjectPattern')
      for (const one of pattern.properties as Node[]) taken.push(nameOf(one.key) ?? '{…}')
  })
  return taken
}

/** `{ store: { enqueue } }`. */
function storePattern(node: Node): unknown {
  if (node.type !== 'Property' || nameOf(node.key) !== 'store' || !isNode(node.value)) return null
  return node.value.type === 'AssignmentPattern' ? node.value.left : node.value
}

/** Every member that is called, on whatever; every name that is taken out of something; every text but in a type. */
export function namesUsed(tree: Node): ReadonlySet<string> {
  const used = new Set<string>()
  const visit = (node: Node) => {
    if (node.type === 'TSLiteralType') return
    const callee = node.type === 'CallExpression' ? bare(node.callee) : null
    if (callee?.type === 'MemberExpression') used.add(nameOf(callee) ?? '')
    if (node.type === 'Literal' && typeof node.value === 'string') used.add(node.value)
    if (node.type === 'ObjectPattern')
      for (const one of node.properties as Node[]) used.add(nameOf(one.key) ?? '')
    for (const child of childrenOf(node)) visit(child)
  }
  visit(tree)
  return used
}

/** Where a store gets another name: then a verb could be called that nobody finds. `verbs` are those that matter. */
export function storeAliases(
  { tree, text }: { readonly tree: Node; readonly text: string },
  verbs: readonly string[],
) {
  const found: string[] = []
  const words = (node: Node) => text.slice(node.start, node.end).replace(/\s+/g, ' ').slice(0, 80)
  const isOther = (name: unknown) => isNode(name) && name.type === 'Identifier' && name.name !== 'store'
  const visit = (node: Node, holders: readonly Node[]) => {
    if (node.type === 'VariableDeclarator' && isStore(node.init) && isOther(node.id)) found.push(words(node))
    if (node.type === 'AssignmentExpression' && isStore(node.right) && !isStore(node.left))
      found.push(words(node))
    if (node.type === 'SpreadElement' && isStore(node.argument)) found.push(words(node))
    if (node.type === 'Property') {
      const value =
        isNode(node.value) && node.value.type === 'AssignmentPattern' ? node.value.left : node.value
      const inPattern = holders.at(-1)?.type === 'ObjectPattern'
      if (inPattern && nameOf(node.key) === 'store' && isOther(value)) found.push(words(node))
      if (!inPattern && nameOf(node.key) !== 'store' && isStore(value)) found.push(words(node))
    }
    if (node.type === 'TSTypeReference' && nameOf(node.typeName) === 'Store') {
      const typed = holders.findLastIndex(({ type }) => /^TS(TypeAnnotation|TypeAlias|Interface)/.test(type))
      const holder = holders[typed - 1] ?? node
      const asWhole = !/^TS(IndexedAccessType|TypeParameterInstantiation)$/.test(holders.at(-1)?.type ?? '')
      const isNamedStore = nameOf(holder) === 'store' || nameOf(holder.key) === 'store'
      const verb = (one: Node) => typeof one.value === 'string' && verbs.includes(one.value)
      if (typed > 0 && !isNamedStore && (asWhole || some(holders[typed], verb))) found.push(words(holder))
    }
    for (const child of childrenOf(node)) visit(child, [...holders, node])
  }
  visit(tree, [])
  return found
}

/** Each verb of the store that is handed `wanted`, however deep in the types of its parameters. */
export function verbsHanded(wanted: string): readonly string[] {
  const declared = new Map<string, Node>()
  for (const file of filesOf('src/contract').filter((each) => !each.endsWith('.test.ts')))
    walk(source(file).tree, (node) => {
      const name = /^TS(Interface|TypeAlias)Declaration$/.test(node.type) ? nameOf(node.id) : null
      if (name !== null) declared.set(name, node)
    })
  const reaches = (node: unknown, through: ReadonlySet<string>): boolean =>
    some(node, (one) => {
      const name = one.type === 'TSTypeReference' ? nameOf(one.typeName) : null
      if (name === null || through.has(name)) return false
      return name === wanted || reaches(declared.get(name), new Set([...through, name]))
    })
  return membersOf('Store', declared)
    .filter(({ parameters }) => parameters.some((one) => reaches(one, new Set())))
    .map(({ name }) => name)
}

function membersOf(
  name: string,
  declared: ReadonlyMap<string, Node>,
): { name: string; parameters: Node[] }[] {
  const part = declared.get(name)
  if (part?.type !== 'TSInterfaceDeclaration') throw new Error(`${name} is no interface of the contract`)
  const own = ((part.body as Node).body as Node[]).map((member) => {
    const type = isNode(member.typeAnnotation) ? (member.typeAnnotation.typeAnnotation as Node) : null
    const takes = member.type === 'TSMethodSignature' ? member : type
    return { name: nameOf(member.key) ?? '', parameters: (takes?.params as Node[] | undefined) ?? [] }
  })
  const parents = (part.extends as Node[]).map(({ expression }) => nameOf(expression) ?? '')
  return [...own, ...parents.flatMap((parent) => membersOf(parent, declared))]
}
