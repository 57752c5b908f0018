// Reads the repository's sources for the house tests: code without comments and texts, the texts, and the imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { isNode, type Node, walk } from './syntax.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Source {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  readonly text: string
  /** The text with comments, patterns and the insides of strings blanked, so only the code is left. */
  readonly code: string
  /** Literals, parts of templates, texts of JSX and the sources of patterns, but no import specifiers. */
  readonly strings: readonly string[]
  /** The sources of regular expressions alone. */
  readonly patterns: readonly string[]
  readonly imports: readonly Import[]
  readonly tree: Node
}

export interface Import {
  /** The specifier as written. */
  readonly from: string
  /** The imported file, for a relative specifier. */
  readonly file: string | null
  readonly typeOnly: boolean
}

const NOT_OURS = new Set(['node_modules', 'dist', '.git', 'coverage', 'test-results', '.switchboard'])

/** Every file of a folder (recursively), relative to the root. A missing folder has none. */
export function filesOf(folder: string): readonly string[] {
  const start = join(ROOT, folder)
  if (!existsSync(start)) return []
  return readdirSync(start, { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name))
    .flatMap((entry) => {
      const path = relative(ROOT, join(start, entry.name)).split(sep).join('/')
      if (entry.isDirectory()) return filesOf(path)
      return entry.isFile() ? [path] : []
    })
    .sort()
}

export function foldersOf(folder: string): readonly string[] {
  const start = join(ROOT, folder)
  if (!existsSync(start)) return []
  return readdirSync(start, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

export function exists(path: string): boolean {
  return existsSync(join(ROOT, path))
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

const known = new Map<string, Source>()

/** Reads a file once, because no test changes the sources. */
export function source(file: string): Source {
  const found = known.get(file) ?? parse(file, read(file))
  known.set(file, found)
  return found
}

export function parse(file: string, text: string): Source {
  const { program, comments, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const tree = program as unknown as Node
  const strings: string[] = []
  const patterns: string[] = []
  const imports: Import[] = []
  const blanks: (readonly [from: number, to: number])[] = comments.map(({ start, end }) => [start, end])
  const from = new Set<Node>()
  walk(tree, (node) => {
    const imported = importIn(node)
    if (imported) {
      from.add(imported.source)
      imports.push(importOf(file, imported))
    }
    const written = textIn(node, text)
    if (written === null) return
    blanks.push([written.at, written.at + written.text.length])
    if (written.isPattern) patterns.push(written.text)
    if (!from.has(node)) strings.push(written.text)
  })
  return { file, text, tree, strings, patterns, imports, code: blanked(text, blanks) }
}

interface Written {
  /** The text as written in the file. */
  readonly text: string
  readonly at: number
  readonly isPattern: boolean
}

function textIn(node: Node, text: string): Written | null {
  if (node.type === 'TemplateElement') {
    const { raw } = node.value as { readonly raw: string }
    // The file's language decides whether the text includes its delimiters.
    return { text: raw, at: text.indexOf(raw, node.start), isPattern: false }
  }
  if (node.type === 'JSXText')
    return { text: text.slice(node.start, node.end), at: node.start, isPattern: false }
  const isPattern = node.regex !== undefined
  if (node.type !== 'Literal' || !(isPattern || typeof node.value === 'string')) return null
  return { text: text.slice(node.start + 1, node.end - 1), at: node.start + 1, isPattern }
}

/** Finds import statements, `import()` and types of the form `import('x').Y`. */
function importIn(node: Node): { readonly source: Node; readonly typeOnly: boolean } | null {
  const { source } = node
  if (!/^(Import|Export|TSImport)/.test(node.type) || !isNode(source) || source.type !== 'Literal')
    return null
  const kind = node.importKind ?? node.exportKind
  return { source, typeOnly: kind === 'type' || node.type === 'TSImportType' }
}

function importOf(
  file: string,
  { source, typeOnly }: { readonly source: Node; readonly typeOnly: boolean },
): Import {
  const from = String(source.value)
  return {
    from,
    typeOnly,
    file: from.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), from)) : null,
  }
}

function blanked(text: string, ranges: readonly (readonly [from: number, to: number])[]): string {
  let code = ''
  let at = 0
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    code += text.slice(at, from) + text.slice(from, to).replace(/[^\n]/g, ' ')
    at = to
  }
  return code + text.slice(at)
}
