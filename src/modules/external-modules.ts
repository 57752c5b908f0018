// Modules of third parties: found, tried, imported once, and validated before use. A failing module is reported with
// its reason and affects no other.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type {
  AdapterExports,
  ConnectorModule,
  ModuleStanding,
  PlatformModule,
  WantedOptions,
} from '../contract/index.ts'
import { findModule } from './find-module.ts'
import { tryModule } from './try-module.ts'
import { type TakenNames, validateModule } from './validate-module.ts'

export interface ExternalModule {
  readonly standing: ModuleStanding
  readonly platforms: ReadonlyMap<string, PlatformModule>
  readonly connectors: ReadonlyMap<string, ConnectorModule>
}

export interface ExternalModules {
  /** Loads in the order of the entries. If two take the same name, the first has it. Never rejects. */
  load(wanted: {
    /** The base of relative entries. */
    readonly folder: string
    readonly modules: readonly string[]
    /** Modules that a program passes in. */
    readonly given: readonly AdapterExports[]
    /** The configured options of each adapter. */
    readonly entries: readonly WantedOptions[]
  }): Promise<readonly ExternalModule[]>
  get(standing: ModuleStanding): ExternalModule | undefined
  /** Returns the entries whose file changed since it was loaded. */
  changed(modules: readonly ModuleStanding[]): ReadonlySet<string>
}

const LOAD_TIMEOUT_MS = 10_000

interface Imported {
  readonly exports: AdapterExports
  readonly file: string | null
  readonly version: string | null
}

/** Names of built-in and planned adapters are reserved. */
export function createExternalModules(deps: {
  readonly platforms: readonly string[]
  readonly connectors: readonly string[]
  readonly loadTimeoutMs?: number
}): ExternalModules {
  const { loadTimeoutMs = LOAD_TIMEOUT_MS } = deps
  // By file. The process keeps what it imported, even if the file changes.
  const imported = new Map<string, { readonly exports: AdapterExports; readonly digest: string }>()
  // By file: the options on which its schemas returned.
  const answered = new Map<string, string>()
  const admitted = new Map<string, ExternalModule>()
  const keyOf = ({ file, from }: Pick<ModuleStanding, 'file' | 'from'>) => file ?? from

  const importOnce = async (
    entry: string,
    folder: string,
    entries: readonly WantedOptions[],
  ): Promise<Imported> => {
    const { file, version } = findModule(entry, folder)
    const url = pathToFileURL(file).href
    let known = imported.get(file)
    const own = known === undefined ? entries : entries.filter((one) => brings(known?.exports, one))
    const asked = JSON.stringify(own)
    // A module that fails its trial was not imported, so it can be mended and is tried again at the next reload. An
    // imported one is tried again on the new options.
    const fresh = known === undefined ? digestOf(file) : null
    const isNews = own.length > 0 && asked !== answered.get(file)
    if (fresh !== null || isNews) await tryModule(url, loadTimeoutMs, own)
    if (fresh !== null) {
      known = { exports: await importWithin(url, loadTimeoutMs), digest: fresh }
      imported.set(file, known)
    }
    if (known === undefined) throw new Error('was not loaded')
    if (fresh !== null || isNews)
      answered.set(file, JSON.stringify(entries.filter((one) => brings(known?.exports, one))))
    const { exports, digest } = known
    return { exports, file, version: version ?? versionOf(exports) ?? `sha256:${digest.slice(0, 12)}` }
  }

  const admit = async (
    from: string,
    importing: Promise<Imported>,
    taken: TakenNames,
    entries: readonly WantedOptions[],
  ) => {
    let place: Pick<Imported, 'file' | 'version'> = { file: null, version: null }
    try {
      const { exports, file, version } = await importing
      place = { file, version }
      const { platforms, connectors } = validateModule(exports, taken)
      askSchemas('platform', platforms, entries)
      askSchemas('connector', connectors, entries)
      for (const { name } of platforms) taken.platforms.add(name)
      for (const { name } of connectors) taken.connectors.add(name)
      return moduleOf(from, place, { platforms, connectors, problem: null })
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown.message : String(thrown)
      return moduleOf(from, place, { platforms: [], connectors: [], problem })
    }
  }

  return {
    async load({ folder, modules, given, entries: said }) {
      const taken = { platforms: new Set(deps.platforms), connectors: new Set(deps.connectors) }
      // Tried in parallel, validated in order.
      const entries = [
        ...given.map((exports, index) => ({
          from: `given[${index}]`,
          importing: Promise.resolve({ exports, file: null, version: versionOf(exports) }),
        })),
        ...[...new Set(modules)].map((from) => ({ from, importing: importOnce(from, folder, said) })),
      ]
      for (const { importing } of entries) importing.catch(() => undefined)
      const all: ExternalModule[] = []
      for (const { from, importing } of entries) all.push(await admit(from, importing, taken, said))
      for (const one of all) if (one.standing.problem === null) admitted.set(keyOf(one.standing), one)
      return all
    },
    get: (standing) => admitted.get(keyOf(standing)),
    changed: (modules) => {
      const stale = modules.filter(({ file }) => {
        const known = file === null ? undefined : imported.get(file)
        return file !== null && known !== undefined && digestOrNull(file) !== known.digest
      })
      return new Set(stale.map(({ from }) => from))
    },
  }
}

/** Throws when a schema does not return. Refusing the options is an answer. */
function askSchemas(
  bank: WantedOptions['bank'],
  modules: readonly (PlatformModule | ConnectorModule)[],
  entries: readonly WantedOptions[],
): void {
  for (const { name, options } of entries.filter((one) => one.bank === bank)) {
    const schema = modules.find((one) => one.name === name)?.options['~standard']
    if (schema === undefined) continue
    const of = `the options of ${bank} "${name}"`
    let answer: unknown
    try {
      answer = schema.validate(structuredClone(options))
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      throw new Error(`threw on ${of}: ${why.slice(0, 300)}`)
    }
    if (answer instanceof Promise) {
      answer.catch(() => undefined)
      throw new Error(`answered with a promise on ${of}: it must answer at once`)
    }
    if (typeof answer !== 'object' || answer === null) throw new Error(`answered nothing on ${of}`)
  }
}

function brings(exports: AdapterExports | undefined, { bank, name }: WantedOptions): boolean {
  const inner = (exports as { readonly default?: AdapterExports } | undefined)?.default
  const key = bank === 'platform' ? 'platforms' : 'connectors'
  const list: unknown = exports?.[key] ?? inner?.[key]
  return Array.isArray(list) && list.some((one: { name?: unknown } | null) => one?.name === name)
}

function moduleOf(
  from: string,
  { file, version }: Pick<Imported, 'file' | 'version'>,
  found: {
    readonly platforms: readonly PlatformModule[]
    readonly connectors: readonly ConnectorModule[]
    readonly problem: string | null
  },
): ExternalModule {
  return {
    standing: {
      from,
      file,
      version,
      platforms: found.platforms.map(({ name }) => name),
      connectors: found.connectors.map(({ name }) => name),
      problem: found.problem,
    },
    platforms: new Map(found.platforms.map((one) => [one.name, one])),
    connectors: new Map(found.connectors.map((one) => [one.name, one])),
  }
}

async function importWithin(url: string, ms: number): Promise<AdapterExports> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`was not loaded within ${ms / 1000} s`)), ms)
  })
  try {
    return (await Promise.race([import(/* @vite-ignore */ url), late])) as AdapterExports
  } catch (thrown) {
    throw new Error(`threw while it was loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  } finally {
    clearTimeout(timer)
  }
}

function versionOf(exports: AdapterExports): string | null {
  try {
    const { version } = exports
    return typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version) ? version : null
  } catch {
    return null
  }
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function digestOrNull(file: string): string | null {
  try {
    return digestOf(file)
  } catch {
    return null
  }
}
