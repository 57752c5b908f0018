// Where an entry of `modules:` leads: a file relative to the configuration, or an installed package. URLs, unmarked
// paths, and files outside of the named package are refused.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface ModulePlace {
  /** The real file after links, so that the shown file is the one that runs. */
  readonly file: string
  /** The package's version; null: it is a file. */
  readonly version: string | null
}

const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const EXPECTED = 'expected a file that starts with ./, ../ or /, or the name of an installed package'

/** Throws an error that says what is wrong with the entry. */
export function findModule(entry: string, folder: string): ModulePlace {
  if (/^\.{1,2}\//.test(entry) || isAbsolute(entry))
    return { file: readable(resolve(folder, entry)), version: null }
  if (entry.includes('\0') || entry.length > 214 || !PACKAGE.test(entry))
    throw new Error(`is no module: ${EXPECTED}`)
  if (isBuiltin(entry)) throw new Error('is a part of Node.js, not a package')
  const home = packageFolder(entry, folder) ?? packageFolder(entry, dirname(fileURLToPath(import.meta.url)))
  // A forgotten ./ must not lead to a stranger's package of that name.
  if (home === null && (/\.[cm]?[jt]s$/.test(entry) || existsSync(join(folder, entry))))
    throw new Error(`is no installed package; if it is a file, write ./${entry}`)
  if (home === null) throw new Error(`is not installed: npm install ${entry}, beside the configuration`)
  const manifest = readManifest(home)
  const main = entryOf(manifest)
  const file = resolve(home, main)
  if (!file.startsWith(home + sep)) throw new Error('names a file outside of its own package')
  return { file: readable(file, ['.cjs']), version: textOf(manifest.version) }
}

/** Node finds packages in the folder itself and in every folder above it. */
function packageFolder(name: string, from: string): string | null {
  for (let here = resolve(from); ; here = dirname(here)) {
    const found = join(here, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return realpathSync(found)
    if (dirname(here) === here) return null
  }
}

type Manifest = Readonly<Record<string, unknown>>

function readManifest(home: string): Manifest {
  try {
    return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as Manifest
  } catch {
    throw new Error('has a package.json that cannot be read')
  }
}

const CONDITIONS = ['node', 'import', 'module-sync', 'default']

function entryOf({ exports, main }: Manifest): string {
  if (exports === undefined) return textOf(main) ?? 'index.js'
  const root = isMap(exports) && '.' in exports ? exports['.'] : exports
  const found = chosen(root)
  if (found === null) throw new Error('exports nothing that can be imported')
  return found
}

/** The first condition that holds, as in Node. */
function chosen(target: unknown): string | null {
  if (typeof target === 'string') return target.startsWith('./') ? target : null
  if (Array.isArray(target)) return target.map(chosen).find((one) => one !== null) ?? null
  if (!isMap(target)) return null
  for (const [condition, inner] of Object.entries(target)) {
    const found = CONDITIONS.includes(condition) ? chosen(inner) : null
    if (found !== null) return found
  }
  return null
}

function readable(path: string, more: readonly string[] = []): string {
  const ending = extname(path)
  if (ending === '.ts' && !stripsTypes())
    throw new Error(`is TypeScript, which Node.js ${process.versions.node} does not run: 22.18 or newer does`)
  if (!['.js', '.mjs', '.ts', ...more].includes(ending))
    throw new Error('is no module: expected .js, .mjs or .ts')
  let file: string
  try {
    file = realpathSync(path)
  } catch {
    throw new Error(`is not there: ${path}`)
  }
  if (!statSync(file).isFile()) throw new Error(`is no file: ${path}`)
  return file
}

/** True without a flag from 22.18 on. */
export function stripsTypes(
  features = process.features as { readonly typescript?: unknown } & NodeJS.ProcessFeatures,
): boolean {
  return features.typescript === 'strip' || features.typescript === 'transform'
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
