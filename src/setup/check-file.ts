// Whether a configuration file is valid, and what a valid one should be warned about.
import { dirname } from 'node:path'
import { type LoadDeps, loadSettings, type Problem, renderProblems } from '../config/index.ts'
import { readDaemonNote } from '../config/instance/daemon-note.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { resolveSecret } from '../config/secrets/secret-reference.ts'
import { sharedTokens } from '../config/secrets/shared-tokens.ts'
import { readFileBounded } from '../config/yaml/text-file.ts'
import { DEFAULT_PORT, type Settings } from '../contract/index.ts'
import { secretFiles } from '../gateway/files/send-roots.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { wordsIn } from '../words/index.ts'
import { openCatalog } from './catalog.ts'
import { takenByGit } from './git-ignore.ts'
import { referencesIn, unsetReferences } from './unset-references.ts'

export interface CheckedFile {
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
  /** The problems as text, with excerpts of the file. */
  readonly rendered: string
  /** Null: the file is not valid. */
  readonly settings: Settings | null
}

/** What references are compared with: the shell's variables, and the names of kept secrets (null: not known). */
export interface CheckSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly kept: ReadonlySet<string> | null
}

/** Never throws because of what the file holds. */
export async function checkFile(
  file: string,
  folder: DataFolder,
  sources: CheckSources,
): Promise<CheckedFile> {
  const result = await load(file, folder)
  if (!result.ok) {
    const rendered = renderProblems(file, result.problems)
    return { problems: result.problems, warnings: [], rendered, settings: null }
  }
  const { settings } = result
  const warnings = [
    ...result.warnings,
    ...(await equalTokens(settings, file)),
    ...unsetReferences(settings, { ...sources, folder: dirname(file) }),
    ...(await secretsInGit(settings, dirname(file), folder)),
  ]
  return { problems: [], warnings, rendered: '', settings }
}

/** Compares the values behind `env:` and `file:`, as far as they can be read here. */
async function equalTokens({ integrations }: Settings, file: string): Promise<readonly string[]> {
  const { loaded } = await openCatalog(file)
  const sources = { folder: dirname(file), env: readEnvironment().variables, stored: () => null }
  return sharedTokens(
    integrations,
    (platform) => loaded.platform(platform)?.setup,
    (reference) => {
      try {
        return resolveSecret(reference, sources)
      } catch {
        return null
      }
    },
  )
}

async function secretsInGit(
  settings: Settings,
  beside: string,
  { keyFile, ledgerKeyFile, adminTokenFile }: DataFolder,
): Promise<readonly string[]> {
  const files = [...secretFiles(settings, beside), keyFile, ledgerKeyFile, adminTokenFile]
  const { inGit, nearGit } = wordsIn().setup.secrets
  return (await takenByGit(files)).map(({ file, tracked }) => (tracked ? inGit : nearGit)({ file }))
}

/** The names of the variables that the file refers to. None when it is not valid. */
export async function environmentReferences(file: string, folder: DataFolder): Promise<readonly string[]> {
  const result = await load(file, folder)
  const all = result.ok ? referencesIn(result.settings) : []
  return [...new Set(all.flatMap(({ text }) => (text.startsWith('env:') ? [text.slice(4)] : [])))]
}

/** What would be wrong with the file if it held the text. Null: nothing. */
export async function checkText(text: string, file: string, folder: DataFolder): Promise<string | null> {
  const readFile = (path: string) => (path === file ? Buffer.from(text) : readFileBounded(path))
  const result = await load(file, folder, { readFile })
  return result.ok ? null : renderProblems(file, result.problems)
}

/** The public URL of the file, the address of its daemon, or the default one. It does not end with a slash. */
export async function ownAddress(folder: DataFolder, file: string | null): Promise<string> {
  const loaded = file === null ? null : await load(file, folder)
  const publicUrl = loaded?.ok ? loaded.settings.server.publicUrl : null
  const url = publicUrl ?? readDaemonNote(folder)?.url ?? `http://127.0.0.1:${DEFAULT_PORT}`
  return url.replace(/\/$/, '')
}

function load(file: string, folder: DataFolder, more: Pick<LoadDeps, 'readFile'> = {}) {
  return loadSettings(file, {
    adapters: createModuleCatalog(),
    failedModules: 'refused',
    defaultStore: folder.defaultStore,
    ...more,
  })
}
