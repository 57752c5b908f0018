// The command line's door to the config room: where things are, and whether the file holds.
// Only the light files are loaded at once; the schema comes when a command needs it.
import type { DataFolder } from '../config/data-folder.ts'
import type { Problem } from '../config/index.ts'
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
  const { loadSettings, renderProblems } = await import('../config/index.ts')
  const { BUILT } = await import('../app/registry.ts')
  const result = loadSettings(file, { built: BUILT, defaultStore: folder.defaultStore })
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
  const { loadSettings, renderProblems } = await import('../config/index.ts')
  const { readFileBounded } = await import('../config/text-file.ts')
  const { BUILT } = await import('../app/registry.ts')
  const readFile = (path: string) => (path === file ? Buffer.from(text) : readFileBounded(path))
  const result = loadSettings(file, { built: BUILT, defaultStore: folder.defaultStore, readFile })
  return result.ok ? null : renderProblems(file, result.problems)
}

export async function configurationSchema(): Promise<object> {
  const { configurationJsonSchema } = await import('../config/json-schema.ts')
  return configurationJsonSchema()
}
