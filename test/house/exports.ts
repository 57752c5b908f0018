// Reads from the statements of every file which names it exports and imports, for unused-exports.test.ts.
import { posix } from 'node:path'
import { exists, filesOf, read } from './source.ts'

export interface Exported {
  readonly file: string
  readonly name: string
}

interface Module {
  readonly text: string
  readonly exported: readonly string[]
  /** Types that their own file uses. Callers of its functions may need their names. */
  readonly ownTypes: ReadonlySet<string>
  /** The files of `export * from`. */
  readonly passedOn: readonly string[]
  readonly imported: readonly Exported[]
  /** Files that are imported as a whole: by `import()`, or as a namespace. */
  readonly wholes: readonly string[]
}

// The formatter ensures that statements begin at the start of a line.
const LISTED = /^(import|export)\s+(?:type\s+)?(?:\w+,\s*)?\{([^}]*)\}(?:\s*from\s+'([^']+)')?/gm
const STARRED = /^(import|export)\s+(?:type\s+)?\*(?:\s+as\s+\w+)?\s+from\s+'([^']+)'/gm
const ON_DEMAND = /\bimport\(\s*'([^']+)'/g
const VALUE = /^export\s+(?:async\s+)?(?:function\*?|const|let|class|enum)\s+(\w+)/gm
const TYPE = /^export\s+(?:interface|type)\s+(\w+)/gm

/**
 * Finds every export that only its own file uses. Exports of the package are for other projects, so they do not count.
 */
export function unusedExports(files: readonly string[], doors: readonly string[]): readonly Exported[] {
  const modules = new Map(files.map((file) => [file, moduleOf(file, read(file))]))
  const used = new Set<string>()
  const use = (file: string, name: string) => {
    if (used.has(`${file} ${name}`)) return
    used.add(`${file} ${name}`)
    for (const behind of modules.get(file)?.passedOn ?? []) use(behind, name)
  }
  const useAll = (file: string, isNamed: (name: string) => boolean) => {
    const module = modules.get(file)
    for (const name of module?.exported ?? []) if (isNamed(name)) use(file, name)
    for (const behind of module?.passedOn ?? []) useAll(behind, isNamed)
  }
  for (const door of doors) useAll(door, () => true)
  for (const { text, imported, wholes } of modules.values()) {
    for (const { file, name } of imported) use(file, name)
    if (wholes.length === 0) continue
    const words = new Set(text.match(/\w+/g))
    for (const file of wholes) useAll(file, (name) => words.has(name))
  }
  return [...modules].flatMap(([file, { exported, ownTypes }]) =>
    file.endsWith('.mjs') || file.endsWith('.test.ts')
      ? []
      : exported
          .filter((name) => !used.has(`${file} ${name}`) && !ownTypes.has(name))
          .map((name) => ({ file, name })),
  )
}

function moduleOf(file: string, text: string): Module {
  const to = (from: string) => posix.normalize(posix.join(posix.dirname(file), from))
  const lists = [...text.matchAll(LISTED)].map(([, keyword, list = '', from]) => ({
    exporting: keyword === 'export',
    from,
    names: namesIn(list),
  }))
  const stars = [...text.matchAll(STARRED)].map(([, keyword, from = '']) => ({ keyword, file: to(from) }))
  const types = [...text.matchAll(TYPE)].map(([, name = '']) => name)
  return {
    text,
    exported: [
      ...[...text.matchAll(VALUE)].map(([, name = '']) => name),
      ...types,
      ...lists.flatMap(({ exporting, names }) => (exporting ? names.map(({ outside }) => outside) : [])),
    ],
    ownTypes: new Set(types.filter((name) => text.split(new RegExp(`\\b${name}\\b`)).length > 2)),
    passedOn: stars.filter(({ keyword }) => keyword === 'export').map((each) => each.file),
    imported: lists.flatMap(({ from, names }) =>
      from === undefined ? [] : names.map(({ inside }) => ({ file: to(from), name: inside })),
    ),
    wholes: [
      ...stars.filter(({ keyword }) => keyword === 'import').map((each) => each.file),
      ...[...text.matchAll(ON_DEMAND)].map(([, from = '']) => to(from)),
    ],
  }
}

/** Parses `a, type b, c as d` into the name inside the named file and the name outside it. */
function namesIn(list: string): readonly { inside: string; outside: string }[] {
  return list
    .replace(/\/\/.*$/gm, '')
    .split(',')
    .map((each) => each.trim().replace(/^type\s+/, ''))
    .filter((each) => each !== '')
    .map((each) => {
      const [inside = '', outside = inside] = each.split(/\s+as\s+/)
      return { inside, outside }
    })
}

/** Every file of ours with imports. Plain JavaScript scripts import too, but their exports do not count. */
export function ourModules(): readonly string[] {
  return ['src', 'web', 'test', 'bench', 'scripts', 'examples']
    .flatMap(filesOf)
    .filter((file) => /\.tsx?$|\.mjs$/.test(file))
}

/** The sources behind `exports` in package.json. */
export function packageDoors(): readonly string[] {
  const { exports }: { exports: Readonly<Record<string, string | { readonly default: string }>> } =
    JSON.parse(read('package.json'))
  return Object.values(exports)
    .map((each) => (typeof each === 'string' ? each : each.default))
    .map((path) => path.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts'))
    .filter((file) => file.startsWith('src/') && exists(file))
}
