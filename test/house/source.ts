// Reads the repository's sources for house.test.ts: code without comments and strings, the strings, the imports.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Source {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  readonly text: string
  /** The text with comments and the insides of strings blanked: what runs. */
  readonly code: string
  readonly strings: readonly string[]
  readonly imports: readonly Import[]
}

export interface Import {
  /** As written. */
  readonly from: string
  /** The file it leads to, when it is a relative one. */
  readonly file: string | null
  readonly typeOnly: boolean
}

const NOT_OURS = new Set(['node_modules', 'dist', '.git', 'coverage', 'test-results', '.switchboard'])

/** Every file of a folder (recursively), relative to the root. A folder that does not exist has none. */
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

/** Read once: no test changes the sources. */
export function source(file: string): Source {
  const found = known.get(file) ?? parse(file, read(file))
  known.set(file, found)
  return found
}

export function parse(file: string, text: string): Source {
  const { code, strings, withStrings } = scan(text)
  return { file, text, code, strings, imports: importsOf(file, withStrings) }
}

const STATEMENT =
  /(?:^|[;\n}])\s*(?:import|export)\s+(type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?(['"])([^'"\n]+)\2/g
const DYNAMIC = /\bimport\(\s*(['"])([^'"\n]+)\1/g

function importsOf(file: string, text: string): readonly Import[] {
  const static_ = [...text.matchAll(STATEMENT)].map(([, type, , from = '']) => ({
    from,
    typeOnly: type !== undefined,
  }))
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, , from = '']) => ({ from, typeOnly: false }))
  return [...static_, ...dynamic].map(({ from, typeOnly }) => ({
    from,
    typeOnly,
    file: from.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), from)) : null,
  }))
}

/** Begins and ends nothing. */
const PLAIN = /[^'"`{}/]+/y

// A scanner, not a parser: it knows comments, strings, templates and (by what stands before the slash) regular
// expressions. `code` blanks strings and comments, `withStrings` only comments.
function scan(text: string): { code: string; withStrings: string; strings: readonly string[] } {
  const strings: string[] = []
  const templateDepth: number[] = []
  let code = ''
  let withStrings = ''
  let depth = 0
  let at = 0
  const keep = (piece: string) => {
    code += piece
    withStrings += piece
  }
  const blank = (piece: string) => piece.replace(/[^\n]/g, ' ')
  const string = (piece: string) => {
    strings.push(piece)
    code += blank(piece)
    withStrings += piece
  }
  const template = () => {
    const end = /(?:[^\\`$]|\\[\s\S]|\$(?!\{))*/y
    end.lastIndex = at
    string(end.exec(text)?.[0] ?? '')
    at = end.lastIndex
    if (text.startsWith('${', at)) {
      templateDepth.push(depth)
      depth += 1
      keep('${')
      at += 2
    } else {
      keep('`')
      at += 1
    }
  }
  while (at < text.length) {
    const char = text[at] ?? ''
    const plain = match(PLAIN, text, at)
    const comment = char === '/' ? match(/\/\/[^\n]*|\/\*[\s\S]*?\*\//y, text, at) : null
    if (plain !== null) {
      keep(plain)
      at += plain.length
    } else if (comment !== null) {
      code += blank(comment)
      withStrings += blank(comment)
      at += comment.length
    } else if (char === "'" || char === '"') {
      const literal = match(
        char === "'" ? /'(?:[^'\\\n]|\\[\s\S])*'?/y : /"(?:[^"\\\n]|\\[\s\S])*"?/y,
        text,
        at,
      )
      const whole = literal ?? char
      keep(char)
      string(whole.slice(1, -1))
      keep(whole.slice(-1))
      at += whole.length
    } else if (char === '`') {
      keep(char)
      at += 1
      template()
    } else if (char === '}' && templateDepth.at(-1) === depth - 1) {
      templateDepth.pop()
      depth -= 1
      keep(char)
      at += 1
      template()
    } else {
      const regex =
        char === '/' && /(?:^|[(,=:[!&|?{};+]|\breturn|=>)\s*$/.test(code.slice(-40))
          ? match(/\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y, text, at)
          : null
      if (regex !== null) {
        code += blank(regex)
        withStrings += blank(regex)
        at += regex.length
      } else {
        if (char === '{') depth += 1
        if (char === '}') depth -= 1
        keep(char)
        at += 1
      }
    }
  }
  return { code, withStrings, strings }
}

function match(expression: RegExp, text: string, at: number): string | null {
  expression.lastIndex = at
  return expression.exec(text)?.[0] ?? null
}
