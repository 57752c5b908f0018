// What can be set up: every platform and connector that is built in or brought by the modules of a file.
import { dirname } from 'node:path'
import { namedModules } from '../config/index.ts'
import { nearest } from '../config/schema/nearest.ts'
import { readStoredIntegration, wantedOptions } from '../config/stored-integration.ts'
import {
  CHANNEL_PLATFORM,
  type ConnectorModule,
  type IntegrationSettings,
  type LoadedAdapters,
  type PlatformModule,
  type WantedOptions,
} from '../contract/index.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { oneLine } from '../runtime/safe-text.ts'
import { jsonSchemaOf } from './definition.ts'
import { usage } from './usage.ts'

export interface Catalog {
  /** Without channel servers: `mcp_servers` sets them up. */
  readonly platforms: ReadonlyMap<string, PlatformModule>
  readonly connectors: ReadonlyMap<string, ConnectorModule>
  readonly loaded: LoadedAdapters
  /** Modules that cannot be used, and why. */
  readonly problems: readonly string[]
  /** Throws `input_invalid` with the nearest key. */
  validate(definition: Readonly<Record<string, unknown>>): Promise<IntegrationSettings>
}

/** Null: there is no file, so only what is built in. */
export async function openCatalog(file: string | null): Promise<Catalog> {
  const loaded = await load(file)
  return {
    platforms: built(loaded.platformNames, (name) =>
      name === CHANNEL_PLATFORM ? undefined : loaded.platform(name),
    ),
    connectors: built(loaded.connectorNames, (name) => loaded.connector(name)),
    loaded,
    problems: loaded.modules.flatMap(({ from, problem }) =>
      problem === null ? [] : [`module "${from}" ${problem}`],
    ),
    async validate(definition) {
      const isForeign = loaded.modules.some(({ platforms }) =>
        platforms.includes(String(definition.platform)),
      )
      // The schema of a third party may never return for these options, so it is tried in a process of its own.
      return readStoredIntegration(
        definition,
        isForeign ? await load(file, [wantedOptions(definition)]) : loaded,
      )
    },
  }
}

function load(file: string | null, entries: readonly WantedOptions[] = []): Promise<LoadedAdapters> {
  return createModuleCatalog().open({
    folder: file === null ? '.' : dirname(file),
    modules: file === null ? [] : namedModules(file),
    platforms: 'all',
    connectors: 'all',
    entries,
  })
}

/** A name that is no connector is the id of a demo agent, unless it is a slip or comes with a connector's flags. */
export function refuseSlip(
  name: string,
  connectors: Catalog['connectors'],
  flags: ReadonlyMap<string, string>,
): void {
  const others = [...connectors.values()].flatMap((module) => (module.first ? [] : [module.name]))
  const meant = nearest(name, others)
  const [flag] = flags.keys()
  if (meant === null && flag === undefined) return
  const hint = meant === null ? `what there is: ${others.join(', ')}` : `did you mean "${meant}"?`
  throw usage(
    `--agent: there is no connector "${oneLine(name)}"${flag === undefined ? '' : `, and a demo agent does not take --${oneLine(flag)}`}`,
    hint,
  )
}

/** Adapters that are planned only have no `create`. */
function built<Module extends PlatformModule | ConnectorModule>(
  names: readonly string[],
  moduleOf: (name: string) => { readonly create?: unknown } | undefined,
): ReadonlyMap<string, Module> {
  const modules = new Map<string, Module>()
  for (const name of names) {
    const module = moduleOf(name)
    if (module?.create !== undefined) modules.set(name, module as Module)
  }
  return modules
}

/** What a schema says about itself. */
export function describedAs(options: PlatformModule['options']): string {
  const { description } = jsonSchemaOf(options)
  return typeof description === 'string' ? description : ''
}

/** Every flag that answers a question of the module. A secret has a second one, for the file that holds it. */
export function flagsOf(module: Pick<PlatformModule, 'setup'> | undefined): readonly string[] {
  const questions = module?.setup?.questions ?? []
  return questions.flatMap(({ flag, secret }) => (secret === true ? [flag, `${flag}-file`] : [flag]))
}
