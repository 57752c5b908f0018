// Bundles the code of dist/: the command, the library's entry points, and shared chunks. Finding, reading and linking a
// file takes longer than running it, so a daemon loads few files before it is ready. See
// docs/decisions/0017-a-bundle.md.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The targets of `bin` and `exports` in package.json, with the same path under dist/ and src/. */
const DOORS = [
  'cli/main',
  'index',
  'adapter',
  'markdown',
  'chorus/index',
  'host/index',
  'testing/index',
  'testing/emulate',
]

/** Files of worker threads, found by their path (src/kit/workers/task-worker.ts). */
const WORKERS = ['platforms/email/mail/mail-worker']

/**
 * Packages that are bundled, because a start would load their files one by one: of every daemon or shim, or of one with
 * that platform or store. Their dependencies are bundled too. All other packages are installed, and load on demand.
 */
const TAKEN_IN = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  'commander',
  'croner',
  'grammy',
  'imapflow',
  'nodemailer',
  'pg',
  'picocolors',
  'ws',
  'yaml',
  'zod',
]

/** Adds the installed dependencies, because bundled code cannot find its own node_modules folders. */
function withDependencies(names, from = root) {
  const require = createRequire(join(from, 'package.json'))
  return names.flatMap((name) => {
    const folder = require.resolve
      .paths(name)
      .map((path) => join(path, name))
      .find(existsSync)
    if (folder === undefined) throw new Error(`${name} is not installed`)
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return [name, ...withDependencies(Object.keys(dependencies), folder)]
  })
}

/**
 * The entries that are loaded together: by every command, by a daemon before it is ready, by the shim of a host, by
 * each library entry point, by a worker thread. `rest` is every other command and part, which loads on demand.
 */
const TOGETHER = {
  command: [
    'cli/run',
    'cli/terminal',
    'cli/reader',
    'cli/commands/reading/status',
    'cli/commands/reading/turns',
    'cli/commands/daemon/stop',
  ],
  daemon: [
    'cli/commands/daemon/up',
    'daemon/daemon',
    'agents/demo/module',
    'agents/demo/index',
    'platforms/web/module',
    'platforms/web/index',
    'platforms/webhook/module',
    'platforms/webhook/index',
  ],
  store: ['store/sqlite/sqlite-store', 'store/sqlite/folder-lock'],
  shim: ['cli/commands/setup/channel', 'daemon/shim/channel-shim', 'agents/channel/channel-server'],
  adapter: ['adapter'],
  markdown: ['markdown'],
  chorus: ['chorus/index'],
  host: ['host/index'],
  testing: ['testing/index'],
  emulate: ['testing/emulate'],
  worker: WORKERS,
}

/**
 * Modules that the same entries load share a chunk, so that little unneeded code is loaded. The imports of a module are
 * loaded by at least the same entries, so no two chunks import each other.
 */
function createPlaces() {
  let places
  return (id, graph) => {
    places ??= placesOf(graph)
    return places.get(id) ?? null
  }
}

function placesOf(graph) {
  const starts = Object.values(TOGETHER).map((names) => names.map(source))
  const isStart = new Set(starts.flat())
  const rest = [...reachedFrom([...isStart], graph, true)].filter(
    (id) => !isStart.has(id) && isLazy(id, graph),
  )
  const marks = new Map()
  for (const [index, name] of [...Object.keys(TOGETHER), 'rest'].entries())
    for (const id of reachedFrom(starts[index] ?? rest, graph))
      marks.set(id, [...(marks.get(id) ?? []), name])
  // Modules that only the rest needs are split by its parts.
  return new Map([...marks].map(([id, names]) => [id, names.join('-')]).filter(([, name]) => name !== 'rest'))
}

function reachedFrom(starts, graph, lazily = false) {
  const reached = new Set(starts)
  for (const id of reached) {
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.getModuleInfo(id) ?? {}
    for (const next of lazily ? [...importedIds, ...dynamicallyImportedIds] : importedIds) reached.add(next)
  }
  return reached
}

function isLazy(id, graph) {
  return (graph.getModuleInfo(id)?.dynamicImporters ?? []).length > 0
}

function source(name) {
  return join(root, `src/${name}.ts`)
}

/** The maps lead from a chunk's line to the file and line of the source, without the source text. */
const leanMaps = {
  name: 'lean-maps',
  generateBundle(_, files) {
    for (const [name, file] of Object.entries(files)) {
      if (file.type !== 'asset' || !name.endsWith('.map')) continue
      const { sourcesContent, ...map } = JSON.parse(file.source)
      file.source = JSON.stringify(map)
    }
  },
}

export async function bundle() {
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [leanMaps],
    ssr: { noExternal: [...new Set(withDependencies(TAKEN_IN))], target: 'node' },
    build: {
      ssr: true,
      outDir: join(root, 'dist'),
      emptyOutDir: false,
      copyPublicDir: false,
      target: 'node20',
      minify: false,
      sourcemap: true,
      license: { fileName: 'THIRD-PARTY.md' },
      rolldownOptions: {
        // A library user loads the daemon with its entry point. The command line loads it on demand.
        checks: { ineffectiveDynamicImport: false },
        input: Object.fromEntries([...DOORS, ...WORKERS].map((door) => [door, source(door)])),
        output: {
          entryFileNames: '[name].js',
          // At the depth of dist/cli/, because the code finds package.json and the built pages relative to itself.
          chunkFileNames: 'chunks/[name]-[hash].js',
          codeSplitting: { groups: [{ name: createPlaces() }], includeDependenciesRecursively: false },
        },
      },
    },
  })
}
