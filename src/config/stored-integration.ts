// One integration that was added by command. It has the shape and the schema of an entry under `integrations:`.
import {
  asSwitchboardError,
  CHANNEL_PLATFORM,
  type IntegrationSettings,
  type LoadedAdapters,
  SwitchboardError,
  type WantedOptions,
} from '../contract/index.ts'
import { formatPath } from './problem.ts'
import { configSchema } from './schema/index.ts'
import {
  type IntegrationConfig,
  integrationSchema,
  PLATFORM_KEY,
  sharedSchema,
} from './schema/integrations.ts'
import { type Expected, findingsOf } from './schema/issues.ts'
import { configurationJsonSchema } from './schema/json-schema.ts'
import { itemsOf, propertiesOf } from './schema/schema-walk.ts'
import { integrationOf } from './settings-of.ts'

const STORE_ORIGIN = 'store'

type Definition = Readonly<Record<string, unknown>>

/** The options for its platform's schema, which is tried in a process of its own. */
export function wantedOptions(definition: Definition): WantedOptions {
  const shared = [PLATFORM_KEY, ...Object.keys(sharedSchema.shape)]
  const own = Object.entries(definition).filter(([key]) => !shared.includes(key))
  return { bank: 'platform', name: String(definition[PLATFORM_KEY]), options: Object.fromEntries(own) }
}

/** Throws `input_invalid` naming the field. It quotes no value, because any value could be a secret. */
export function readStoredIntegration(definition: Definition, catalog: LoadedAdapters): IntegrationSettings {
  demandModule(String(definition[PLATFORM_KEY]), catalog)
  const parsed = integrationSchema(catalog).safeParse(definition)
  if (!parsed.success) {
    const [first] = findingsOf(parsed.error.issues, definition, expectedOf(catalog))
    const where = first && first.path.length > 0 ? `${formatPath(first.path)}: ` : ''
    throw new SwitchboardError('input_invalid', `${where}${first?.message ?? 'is not an integration'}`, {
      ...(first?.hint ? { hint: first.hint } : {}),
    })
  }
  if (parsed.data.access?.file !== undefined) {
    throw new SwitchboardError('input_invalid', 'access.file: an added integration writes its policy here')
  }
  return settingsOfStored(parsed.data, catalog)
}

/** Options that no schema has checked are refused. */
function demandModule(platform: string, catalog: LoadedAdapters): void {
  const failed = catalog.modules.filter(({ problem }) => problem !== null)
  if (failed.length === 0 || catalog.platform(platform) !== undefined) return
  const why = failed.map(({ from, problem }) => `module "${from}" ${problem}`).join('; ')
  throw new SwitchboardError('input_invalid', `platform: "${platform}" is not to be had: ${why}`, {
    hint: 'mend the module, or what is written for it',
  })
}

/**
 * Reads one that was accepted before. Its module may be gone, or may want other keys now. Then the integration is down and lets
 * no sender in, and the others run.
 */
export function recallStoredIntegration(
  definition: Definition,
  catalog: LoadedAdapters,
): IntegrationSettings {
  try {
    return readStoredIntegration(definition, catalog)
  } catch (thrown) {
    const problem = asSwitchboardError(thrown).message
    const { id, platform, enabled, ...options } = definition
    return { ...bareIntegration({ id, platform, enabled: enabled !== false }, catalog), options, problem }
  }
}

/** One whose definition no key here opens. Its id is known, because the store names it. */
export function unopenedIntegration(id: string, why: string): IntegrationSettings {
  const problem = `${why}; remove it with: switchboard integrations remove ${id}, then add it again`
  return { ...bareIntegration({ id, platform: 'unknown', enabled: true }, NO_ADAPTERS), problem }
}

function bareIntegration(definition: Definition, catalog: LoadedAdapters): IntegrationSettings {
  const schema = integrationSchema({ ...catalog, platform: () => undefined, modules: GONE })
  return settingsOfStored(schema.parse(definition), catalog)
}

const NO_ADAPTERS: LoadedAdapters = {
  platform: () => undefined,
  connector: () => undefined,
  platformNames: [],
  connectorNames: [],
  modules: [],
}

const GONE: LoadedAdapters['modules'] = [
  { from: '', file: null, version: null, platforms: [], connectors: [], problem: 'gone' },
]

function settingsOfStored(data: IntegrationConfig, catalog: LoadedAdapters): IntegrationSettings {
  const settings = integrationOf(data, 0, configSchema(catalog).parse({}), {
    access: () => ({ problem: 'no file' }),
    messaging: () => [],
    messagingBeside: () => [],
  })
  return { ...settings, origin: STORE_ORIGIN }
}

function expectedOf(catalog: LoadedAdapters): Expected {
  return {
    schema: () => itemsOf(propertiesOf(configurationJsonSchema(catalog))?.integrations ?? {}) ?? {},
    platformNames: catalog.platformNames.filter((name) => name !== CHANNEL_PLATFORM),
    connectorNames: [],
  }
}
