// Finds the names of adapters in a source: in texts, in patterns, as keys, and in the words of identifiers.
import { type Source, source } from './source.ts'
import { bare, type Node, nameOf, walk } from './syntax.ts'

/** Common words. In a text they count only in the place of a name. As keys they count only beside other names. */
export const COMMON: Readonly<Record<string, string>> = {
  web: 'the chat page, as people call it, and the folder web/',
  channel: 'hosted channel servers, the tools channel_*, and where a notification goes',
  http: 'the protocol, and the beginning of a URL',
  mcp: 'the protocol, mcp_servers in the configuration, and the path /mcp',
}

/** Constants of the contract whose value is the name of an adapter. Code that reads one names the adapter. */
export const CONSTANTS: Readonly<Record<string, string>> = { CHANNEL_PLATFORM: 'mcp' }

type Written = Pick<Source, 'strings' | 'patterns' | 'tree'>

export interface NameFinder {
  /** The adapter names that a source contains. */
  in(written: Written): ReadonlySet<string>
}

/** `common` lists the names that count only as COMMON says. */
export function createNameFinder(names: readonly string[], common: readonly string[]): NameFinder {
  const rare = names.filter((name) => !common.includes(name))
  const either = (some: readonly string[]) => `(${some.join('|')})`
  const asWord = new RegExp(`(?<![a-z])${either(rare)}(?![a-z])`, 'gi')
  const asName = new RegExp(
    `(?:(?:type|platform|plugin|instance|connector)s?["']?[:=]?\\s*["']?|["\`'])${either(names)}(?![\\w-]|:/)`,
    'gi',
  )
  const asChoice = new RegExp(`(?<=[(|^])${either(names)}(?=[)|$])`, 'gi')
  const found = (texts: readonly string[], expression: RegExp) =>
    texts.flatMap((text) => [...text.matchAll(expression)].map(([, name = '']) => name.toLowerCase()))

  // A cache, because many files contain the same identifiers.
  const known = new Map<string, readonly string[]>()
  const wordsFound = (identifier: string) => {
    const found = known.get(identifier) ?? rare.filter((name) => hasWord(identifier, name))
    known.set(identifier, found)
    return found
  }

  return {
    in: ({ strings, patterns, tree }) =>
      new Set([
        ...strings.filter((text) => names.includes(text)),
        ...(rare.length > 0 ? found(strings, asWord) : []),
        ...found(strings, asName),
        ...found(patterns, asChoice),
        ...inCode(tree, names, wordsFound),
      ]),
  }
}

function inCode(
  tree: Node,
  names: readonly string[],
  wordsFound: (identifier: string) => readonly string[],
): ReadonlySet<string> {
  const found = new Set<string>()
  walk(tree, (node) => {
    if (node.type === 'Identifier' || node.type === 'JSXIdentifier') {
      const constant = CONSTANTS[String(node.name)]
      if (constant !== undefined && names.includes(constant)) found.add(constant)
      for (const name of wordsFound(String(node.name))) found.add(name)
    }
    const table = node.type === 'ObjectExpression' || node.type === 'ObjectPattern' ? node : null
    const looked = node.type === 'MemberExpression' && node.computed === true ? bare(node.object) : null
    const keys = keysOf(table ?? looked).filter((key) => names.includes(key))
    if (keys.length > 1 || looked !== null) for (const key of keys) found.add(key)
  })
  return found
}

function keysOf(node: Node | null): readonly string[] {
  if (node?.type !== 'ObjectExpression' && node?.type !== 'ObjectPattern') return []
  return (node.properties as Node[]).flatMap((one) => nameOf(one.key) ?? [])
}

/** `viaWhatsApp` has the word whatsapp, and `claudeCodeModule` claude-code. `slackening` has no word slack. */
function hasWord(identifier: string, name: string): boolean {
  const words = wordsOf(identifier)
  const wanted = name.replace('-', '')
  return words.some((_, at) => {
    let run = ''
    for (const word of words.slice(at)) {
      run += word
      if (run.length >= wanted.length) break
    }
    return run === wanted
  })
}

function wordsOf(identifier: string): readonly string[] {
  return identifier
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

/** The exported constants of these files whose value is one of the names. */
export function constantsOf(
  files: readonly string[],
  names: readonly string[],
): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const file of files)
    for (const statement of source(file).tree.body as Node[]) {
      if (statement.type !== 'ExportNamedDeclaration') continue
      for (const one of ((statement.declaration as Node | null)?.declarations ?? []) as Node[]) {
        const value = nameOf(bare(one.init)?.type === 'Literal' ? one.init : null)
        if (value !== null && names.includes(value)) found[nameOf(one.id) ?? ''] = value
      }
    }
  return found
}
