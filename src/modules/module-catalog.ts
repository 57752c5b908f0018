// All platforms and connectors: built in, planned, and of third parties. The configuration reads their options, the
// gateway makes adapters, and `doctor` reports the state of each module.
import {
  type AdapterExports,
  type AdapterSource,
  type ConnectorModule,
  defined,
  type KnownAdapter,
  type LoadedAdapters,
  type ModuleStanding,
  type PlannedModule,
  type PlatformModule,
  SwitchboardError,
  type WantedAdapters,
} from '../contract/index.ts'
import { EMULATORS } from './emulators.ts'
import type { ExternalModule, ExternalModules } from './external-modules.ts'
import { CONNECTORS, PLANNED_CONNECTORS, PLANNED_PLATFORMS, PLATFORMS } from './registry.ts'

/** `modules`: those of the present configuration. */
export interface Adapters extends AdapterSource {
  /** Null: it is planned. Throws `config_invalid` with the state of the modules if none provides it. */
  platform(name: string, modules?: readonly ModuleStanding[]): Promise<PlatformModule | null>
  connector(name: string, modules?: readonly ModuleStanding[]): Promise<ConnectorModule | null>
  /** The same if it is loaded. What runs is loaded. */
  loadedPlatform(name: string, modules?: readonly ModuleStanding[]): PlatformModule | undefined
  loadedConnector(name: string, modules?: readonly ModuleStanding[]): ConnectorModule | undefined
  /** Returns the entries whose file changed since it was loaded. They need a restart. */
  changed(modules: readonly ModuleStanding[]): ReadonlySet<string>
}

export interface AdaptersOptions {
  /** Modules that a program passes in. They come before those of the file. */
  readonly given?: readonly AdapterExports[]
  readonly loadTimeoutMs?: number
  /** For commands that only read: no third-party code runs, and adapters are known by name only. */
  readonly leaveModulesAlone?: boolean
}

export function createModuleCatalog(options: AdaptersOptions = {}): Adapters {
  const { given = [] } = options
  const platforms = bankOf<PlatformModule>(PLATFORMS, PLANNED_PLATFORMS)
  const connectors = bankOf<ConnectorModule>(CONNECTORS, PLANNED_CONNECTORS)
  let foreign: ExternalModules | null = null
  const broughtTo = new WeakMap<LoadedAdapters, readonly ExternalModule[]>()

  const others = async ({
    folder,
    modules,
    entries = [],
  }: WantedAdapters): Promise<readonly ExternalModule[]> => {
    if (given.length === 0 && modules.length === 0) return []
    if (options.leaveModulesAlone) return modules.map(leftAlone)
    if (foreign === null) {
      // Loaded when needed, because most configurations have no modules.
      const { createExternalModules } = await import('./external-modules.ts')
      foreign ??= createExternalModules({
        platforms: platforms.names,
        connectors: connectors.names,
        ...defined({ loadTimeoutMs: options.loadTimeoutMs }),
      })
    }
    return foreign.load({ folder, modules, given, entries })
  }

  const bringing = (modules: readonly ModuleStanding[] = []): readonly ExternalModule[] =>
    modules.flatMap((one) => {
      const module = one.problem === null ? foreign?.get(one) : undefined
      return module ? [module] : []
    })
  const platformOf = (name: string, modules?: readonly ModuleStanding[]) =>
    bringing(modules)
      .find((one) => one.platforms.has(name))
      ?.platforms.get(name)
  const connectorOf = (name: string, modules?: readonly ModuleStanding[]) =>
    bringing(modules)
      .find((one) => one.connectors.has(name))
      ?.connectors.get(name)

  return {
    async open(wanted, before) {
      const known = before && broughtTo.get(before)
      const [found] = await Promise.all([
        known ?? others(wanted),
        platforms.load(wanted.platforms),
        connectors.load(wanted.connectors),
      ])
      const foreignPlatforms = new Map(found.flatMap((one) => [...one.platforms]))
      const foreignConnectors = new Map(found.flatMap((one) => [...one.connectors]))
      const catalog: LoadedAdapters = {
        platform: (name) => platforms.known(name) ?? foreignPlatforms.get(name),
        connector: (name) => connectors.known(name) ?? foreignConnectors.get(name),
        platformNames: [...platforms.names, ...foreignPlatforms.keys()],
        connectorNames: [...connectors.names, ...foreignConnectors.keys()],
        modules: found.map((one) => one.standing),
      }
      broughtTo.set(catalog, found)
      return catalog
    },
    platform: async (name, modules) =>
      platforms.has(name)
        ? platforms.load([name]).then(() => platforms.built(name) ?? null)
        : (platformOf(name, modules) ?? nobodyBrings('platform', name, modules)),
    connector: async (name, modules) =>
      connectors.has(name)
        ? connectors.load([name]).then(() => connectors.built(name) ?? null)
        : (connectorOf(name, modules) ?? nobodyBrings('connector', name, modules)),
    loadedPlatform: (name, modules) => platforms.built(name) ?? platformOf(name, modules),
    loadedConnector: (name, modules) => connectors.built(name) ?? connectorOf(name, modules),
    changed: (modules) => foreign?.changed(modules) ?? new Set(),
  }
}

function leftAlone(from: string): ExternalModule {
  const problem = 'is loaded by the daemon alone'
  return {
    standing: { from, file: null, version: null, platforms: [], connectors: [], problem },
    platforms: new Map(),
    connectors: new Map(),
  }
}

type Rows<Module> = Readonly<Record<string, () => Promise<Module>>>

/** Built-in and planned adapters of one kind, loaded when they are named. */
function bankOf<Module extends PlatformModule | ConnectorModule>(
  rows: Rows<Module>,
  planned: Rows<PlannedModule>,
) {
  const modules = new Map<string, Module>()
  const plans = new Map<string, PlannedModule>()
  const names = [...Object.keys(rows), ...Object.keys(planned)]
  const has = (name: string) => Object.hasOwn(rows, name) || Object.hasOwn(planned, name)

  const load = async (name: string): Promise<void> => {
    if (modules.has(name) || plans.has(name) || !has(name)) return
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined
    if (row) modules.set(name, withEmulator(await row()))
    const plan = Object.hasOwn(planned, name) ? planned[name] : undefined
    if (plan) plans.set(name, await plan())
  }
  const withEmulator = (module: Module): Module => {
    const emulator = EMULATORS.get(module.name)
    return emulator ? { ...module, emulator } : module
  }
  return {
    names,
    has,
    load: (wanted: readonly string[] | 'all') =>
      Promise.all((wanted === 'all' ? names : wanted).map(load)).then(() => undefined),
    built: (name: string) => modules.get(name),
    known: (name: string): KnownAdapter<Module> | undefined =>
      (modules.get(name) ?? plans.get(name)) as KnownAdapter<Module> | undefined,
  }
}

function nobodyBrings(what: string, name: string, modules: readonly ModuleStanding[] = []): never {
  const why = modules
    .filter((one) => one.problem !== null)
    .map(({ from, problem }) => `module "${from}" ${problem}`)
    .join('; ')
  throw new SwitchboardError(
    'config_invalid',
    `nobody brings ${what} "${name}"${why === '' ? '' : `: ${why}`}`,
    { hint: 'name the module that does under modules:, and mend it if it failed' },
  )
}
