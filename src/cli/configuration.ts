// The command line's door to the config room: where things are, and whether the file holds.
// Only the light files are loaded at once; the schema comes when a command needs it.
import { dirname } from 'node:path'
import type { DataFolder } from '../config/data-folder.ts'
import type { LoadDeps, Problem } from '../config/index.ts'
import type { AdapterBook, PlatformModule, StartEmulator } from '../contract/index.ts'
import { counted } from './output/text.ts'

export interface Checked {
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
  /** The problems as text, with excerpts. */
  readonly rendered: string
  /** What the file sets up, in a few words. */
  readonly summary: string
}

/** Never throws on what the file holds. */
export async function checkConfiguration(file: string, folder: DataFolder): Promise<Checked> {
  const { renderProblems } = await import('../config/index.ts')
  const result = await load(file, folder)
  if (!result.ok) {
    const rendered = renderProblems(file, result.problems)
    return { problems: result.problems, warnings: [], rendered, summary: '' }
  }
  const { integrations, agents } = result.settings
  const summary = `${counted(integrations.length, 'integration')}, ${counted(agents.length, 'agent')}`
  return { problems: [], warnings: result.warnings, rendered: '', summary }
}

/** What is wrong with a text that is to stand in the file; null: nothing. */
export async function checkText(text: string, file: string, folder: DataFolder): Promise<string | null> {
  const { renderProblems } = await import('../config/index.ts')
  const { readFileBounded } = await import('../config/text-file.ts')
  const readFile = (path: string) => (path === file ? Buffer.from(text) : readFileBounded(path))
  const result = await load(file, folder, { readFile })
  return result.ok ? null : renderProblems(file, result.problems)
}

async function load(file: string, folder: DataFolder, more: Pick<LoadDeps, 'readFile'> = {}) {
  const { loadSettings } = await import('../config/index.ts')
  const { createAdapters } = await import('../app/adapter-shelf.ts')
  const adapters = createAdapters()
  return loadSettings(file, {
    adapters,
    failedModules: 'refused',
    defaultStore: folder.defaultStore,
    ...more,
  })
}

/** With everything that is built in. */
export async function configurationSchema(): Promise<object> {
  const { configurationJsonSchema } = await import('../config/json-schema.ts')
  return configurationJsonSchema(await openBook([], '.'))
}

async function openBook(modules: readonly string[], folder: string): Promise<AdapterBook> {
  const { createAdapters } = await import('../app/adapter-shelf.ts')
  return createAdapters().open({ folder, modules, platforms: 'all', connectors: 'all' })
}

/** By platform: those that are built in, and those of the modules that the file names. */
export async function openEmulators(file: string | null): Promise<ReadonlyMap<string, StartEmulator>> {
  const { namedModules } = await import('../config/index.ts')
  const book = await openBook(file === null ? [] : namedModules(file), file === null ? '.' : dirname(file))
  const found = new Map<string, StartEmulator>()
  for (const name of book.platformNames) {
    const { emulator } = (book.platform(name) ?? {}) as Partial<PlatformModule>
    if (emulator !== undefined) found.set(name, emulator)
  }
  return found
}
