// The command line's door to the config room: where things are, and whether the file holds.
// Only the light files are loaded at once; the schema comes when a command needs it.
import { dirname } from 'node:path'
import type { LoadDeps, Problem } from '../config/index.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import {
  type Cancel,
  CHANNEL_PLATFORM,
  type ConnectorModule,
  DEFAULT_PORT,
  type IntegrationSettings,
  type KnownAdapter,
  type LoadedAdapters,
  type ModuleSetup,
  type Options,
  type PlatformModule,
  type Settings,
  type StartEmulator,
  SwitchboardError,
  type WantedAdapters,
  type WantedOptions,
} from '../contract/index.ts'
import { counted } from './output/text.ts'
import { flagsOf } from './setup-answers.ts'

export interface Checked {
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
  /** The problems as text, with excerpts. */
  readonly rendered: string
  /** What the file sets up, in a few words. */
  readonly summary: string
}

/** What references are held against: the shell's variables, and the names that are kept (null: not known). */
export interface CheckSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly kept: ReadonlySet<string> | null
}

/** Never throws on what the file holds. */
export async function checkConfiguration(
  file: string,
  folder: DataFolder,
  sources: CheckSources,
): Promise<Checked> {
  const { renderProblems } = await import('../config/index.ts')
  const result = await load(file, folder)
  if (!result.ok) {
    const rendered = renderProblems(file, result.problems)
    return { problems: result.problems, warnings: [], rendered, summary: '' }
  }
  const { integrations, agents } = result.settings
  const summary = `${counted(integrations.length, 'integration')}, ${counted(agents.length, 'agent')}`
  const { unsetReferences } = await import('./unset-references.ts')
  const warnings = [
    ...result.warnings,
    ...(await equalTokens(result.settings, file)),
    ...unsetReferences(result.settings, { ...sources, folder: dirname(file) }),
    ...(await secretsInGit(result.settings, dirname(file), folder)),
  ]
  return { problems: [], warnings, rendered: '', summary }
}

/** By the values behind `env:` and `file:`, as far as they can be read here. */
async function equalTokens({ integrations }: Settings, file: string): Promise<readonly string[]> {
  const { sharedTokens } = await import('../config/secrets/shared-tokens.ts')
  const { resolveSecret } = await import('../config/secrets/secret-reference.ts')
  const { readEnvironment } = await import('../config/instance/environment.ts')
  const book = await openBook(file)
  const sources = { folder: dirname(file), env: readEnvironment().variables, stored: () => null }
  return sharedTokens(
    integrations,
    (platform) => book.platform(platform)?.setup,
    (reference) => {
      try {
        return resolveSecret(reference, sources)
      } catch {
        return null
      }
    },
  )
}

/** The variables that the file refers to, by name. Nothing where it does not hold. */
export async function environmentReferences(file: string, folder: DataFolder): Promise<readonly string[]> {
  const { referencesIn } = await import('./unset-references.ts')
  const result = await load(file, folder)
  const all = result.ok ? referencesIn(result.settings) : []
  return [...new Set(all.flatMap(({ text }) => (text.startsWith('env:') ? [text.slice(4)] : [])))]
}

async function secretsInGit(
  settings: Settings,
  beside: string,
  { keyFile, ledgerKeyFile, adminTokenFile }: DataFolder,
): Promise<readonly string[]> {
  const { secretFiles } = await import('../gateway/files/send-roots.ts')
  const { takenByGit } = await import('./git-keeping.ts')
  const files = [...secretFiles(settings, beside), keyFile, ledgerKeyFile, adminTokenFile]
  return (await takenByGit(files)).map(({ file, tracked }) =>
    tracked
      ? `${file} holds a secret, and git has it: git rm --cached it, make a new secret, and add it to .gitignore`
      : `${file} holds a secret, and git would take it: add it to .gitignore`,
  )
}

/** What is wrong with a text that is to stand in the file; null: nothing. */
export async function checkText(text: string, file: string, folder: DataFolder): Promise<string | null> {
  const { renderProblems } = await import('../config/index.ts')
  const { readFileBounded } = await import('../config/yaml/text-file.ts')
  const readFile = (path: string) => (path === file ? Buffer.from(text) : readFileBounded(path))
  const result = await load(file, folder, { readFile })
  return result.ok ? null : renderProblems(file, result.problems)
}

async function load(file: string, folder: DataFolder, more: Pick<LoadDeps, 'readFile'> = {}) {
  const { loadSettings } = await import('../config/index.ts')
  const { createModuleCatalog } = await import('../modules/module-catalog.ts')
  const adapters = createModuleCatalog()
  return loadSettings(file, {
    adapters,
    failedModules: 'refused',
    defaultStore: folder.defaultStore,
    ...more,
  })
}

/** With everything that is built in, and what the modules of the file bring. */
export async function configurationSchema(file: string | null): Promise<{
  readonly schema: object
  /** Modules that could not be used. */
  readonly problems: readonly string[]
}> {
  const { configurationJsonSchema } = await import('../config/schema/json-schema.ts')
  const book = await openBook(file)
  return { schema: configurationJsonSchema(book), problems: problemsOf(book) }
}

async function openBook(
  file: string | null,
  entries: readonly WantedOptions[] = [],
  wanted: Pick<WantedAdapters, 'platforms' | 'connectors'> = { platforms: 'all', connectors: 'all' },
): Promise<LoadedAdapters> {
  const { createModuleCatalog } = await import('../modules/module-catalog.ts')
  const { namedModules } = await import('../config/index.ts')
  const modules = file === null ? [] : namedModules(file)
  const folder = file === null ? '.' : dirname(file)
  return createModuleCatalog().open({ folder, modules, ...wanted, entries })
}

function problemsOf({ modules }: LoadedAdapters): readonly string[] {
  return modules.flatMap(({ from, problem }) => (problem === null ? [] : [`module "${from}" ${problem}`]))
}

/** What a platform is set up with: its module, and the ways to hold answers to it. */
export interface SetupAccess {
  /** Null: there is none, or it is not built. */
  readonly module: PlatformModule | null
  readonly planned: boolean
  /** Of what can be set up. */
  readonly names: readonly string[]
  /** Modules that could not be used. */
  readonly problems: readonly string[]
  /** Throws `input_invalid` with the nearest key. */
  validate(definition: Readonly<Record<string, unknown>>): Promise<IntegrationSettings>
  /** Throws what the module threw, or `platform_unavailable` when it did not answer in time. */
  tried(setup: ModuleSetup, options: Options, withinMs: number): Promise<{ readonly who: string }>
}

export async function openSetup(file: string | null, platform: string): Promise<SetupAccess> {
  const book = await openBook(file)
  const built = (name: string) => {
    const known = name === CHANNEL_PLATFORM ? undefined : book.platform(name)
    return known?.create === undefined ? null : (known as PlatformModule)
  }
  return {
    module: built(platform),
    planned: book.platform(platform) !== undefined && platform !== CHANNEL_PLATFORM,
    names: book.platformNames.filter((name) => built(name) !== null),
    problems: problemsOf(book),
    async validate(definition) {
      const { readStoredIntegration, wantedOptions } = await import('../config/stored-integration.ts')
      const isForeign = book.modules.some(({ platforms }) => platforms.includes(platform))
      // A schema of others may never come back from these options: it is tried on them first.
      const tried = isForeign ? await openBook(file, [wantedOptions(definition)]) : book
      return readStoredIntegration(definition, tried)
    },
    tried: tryWithin,
  }
}

/** Of the connectors that can be used: built in, or brought by the file's modules. */
export async function connectorNames(file: string | null): Promise<readonly string[]> {
  const book = await openBook(file)
  return book.connectorNames.filter((name) => book.connector(name)?.create !== undefined)
}

export interface SchemeEndpoint {
  readonly platform: string
  readonly questions: ModuleSetup['questions']
  /** The answers in the text behind the scheme, by key. Throws `input_invalid`. */
  readonly read: (rest: string) => Readonly<Record<string, string>>
}

/** By the scheme of the one line that sets a platform up, of those that are built in and of the file's modules. */
export async function openSchemes(file: string | null): Promise<ReadonlyMap<string, SchemeEndpoint>> {
  const book = await openBook(file)
  const found = new Map<string, SchemeEndpoint>()
  for (const platform of book.platformNames) {
    const { schemes = {}, questions = [] } = book.platform(platform)?.setup ?? {}
    for (const [scheme, read] of Object.entries(schemes)) found.set(scheme, { platform, questions, read })
  }
  return found
}

/** What a list offers: the module's name, what a person calls it, and what its schema says of it. */
export interface Offer {
  readonly name: string
  readonly title: string
  readonly hint: string
  readonly first: boolean
  /** Of its questions, without the dashes. */
  readonly flags: readonly string[]
}

/** All that is built, on both banks; channel servers are set up by `mcp_servers`. */
export async function openOffers(
  file: string | null,
): Promise<{ readonly platforms: readonly Offer[]; readonly connectors: readonly Offer[] }> {
  const book = await openBook(file)
  const offer = (module: KnownAdapter | undefined): readonly Offer[] => {
    if (module?.create === undefined || module.name === CHANNEL_PLATFORM) return []
    const { description } = module.options['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
    const hint = typeof description === 'string' ? description : ''
    const { name, title = name, first = false, setup } = module
    return [{ name, title, hint, first, flags: flagsOf(setup?.questions ?? []) }]
  }
  return {
    platforms: book.platformNames.flatMap((name) => offer(book.platform(name))),
    connectors: book.connectorNames.flatMap((name) => offer(book.connector(name))),
  }
}

/** A connector's module, of ours or of the file's; null: there is none, or it is not built. */
export async function openConnector(file: string | null, name: string): Promise<ConnectorModule | null> {
  const book = await openBook(file, [], { platforms: [], connectors: [name] })
  const known = book.connector(name)
  return known?.create === undefined ? null : (known as ConnectorModule)
}

export const tryWithin: SetupAccess['tried'] = async (setup, options, withinMs) => {
  const { createRealClock } = await import('../runtime/real-clock.ts')
  const { childEnvironment } = await import('../config/instance/child-environment.ts')
  const clock = createRealClock()
  const environment = childEnvironment(process.env)
  let settled: Cancel = () => undefined
  const late = new Promise<never>((_resolve, reject) => {
    const why = `no answer within ${withinMs / 1_000} seconds`
    settled = clock.after(withinMs, () => reject(new SwitchboardError('platform_unavailable', why)))
  })
  const answer: unknown = await Promise.race([setup.try?.(options, { clock, environment }), late]).finally(
    settled,
  )
  const { who } = (answer ?? {}) as { readonly who?: unknown }
  if (typeof who === 'string' && who !== '') return { who }
  throw new SwitchboardError('execution_failed', 'its module did not say who it is')
}

/** Of a platform that is not set up yet, as its id. */
export async function pasteOf(
  module: PlatformModule,
  folder: DataFolder,
  file: string | null,
): Promise<readonly string[]> {
  const base = await ownAddress(folder, file)
  return module.setup?.paste?.({ id: module.name, base, options: {} }) ?? []
}

/** Where others reach this gateway, without a slash at its end: as the file says, as it listens, or as it would. */
export async function ownAddress(folder: DataFolder, file: string | null): Promise<string> {
  const { readDaemonNote } = await import('../config/instance/daemon-note.ts')
  const loaded = file === null ? null : await load(file, folder)
  const publicUrl = loaded?.ok ? loaded.settings.server.publicUrl : null
  const url = publicUrl ?? readDaemonNote(folder)?.url ?? `http://127.0.0.1:${DEFAULT_PORT}`
  return url.replace(/\/$/, '')
}

/** By name, on both banks: those that are built in, and those of the modules that the file names. */
export async function openEmulators(file: string | null): Promise<ReadonlyMap<string, StartEmulator>> {
  const book = await openBook(file)
  // Where both banks have the name, it is the place where people talk.
  const all = [
    ...book.platformNames.map((name) => book.platform(name)),
    ...book.connectorNames.map((name) => book.connector(name)),
  ]
  const found = new Map<string, StartEmulator>()
  for (const one of all)
    if (one?.emulator !== undefined && !found.has(one.name)) found.set(one.name, one.emulator)
  return found
}
