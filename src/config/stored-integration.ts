// One integration that was added by command: the shape of an entry under `integrations:`, held to the same schema.
import {
  type AdapterBook,
  CHANNEL_PLATFORM,
  type IntegrationSettings,
  SwitchboardError,
} from '../contract/index.ts'
import { type Expected, findingsOf } from './issues.ts'
import { configurationJsonSchema } from './json-schema.ts'
import { formatPath } from './problem.ts'
import { configSchema } from './schema/index.ts'
import { type IntegrationConfig, integrationSchema } from './schema/integrations.ts'
import { itemsOf, propertiesOf } from './schema-walk.ts'
import { integrationOf } from './settings-of.ts'

const STORE_ORIGIN = 'store'

type Definition = Readonly<Record<string, unknown>>

/** Throws `input_invalid` naming the field. Values are never quoted: any of them could be a secret. */
export function readStoredIntegration(definition: Definition, book: AdapterBook): IntegrationSettings {
  const parsed = integrationSchema(book).safeParse(definition)
  if (!parsed.success) {
    const [first] = findingsOf(parsed.error.issues, definition, expectedOf(book))
    const where = first && first.path.length > 0 ? `${formatPath(first.path)}: ` : ''
    throw new SwitchboardError('input_invalid', `${where}${first?.message ?? 'is not an integration'}`, {
      ...(first?.hint ? { hint: first.hint } : {}),
    })
  }
  if (parsed.data.access?.file !== undefined) {
    throw new SwitchboardError('input_invalid', 'access.file: an added integration writes its policy here')
  }
  return settingsOfStored(parsed.data, book)
}

/**
 * One that was taken before, whatever became of its adapter since: a module that is gone, or wants other keys now. It
 * is down then, with nobody let in, and stops nobody else.
 */
export function recallStoredIntegration(definition: Definition, book: AdapterBook): IntegrationSettings {
  try {
    return readStoredIntegration(definition, book)
  } catch {
    const { id, platform, enabled, ...options } = definition
    const bare = integrationSchema({ ...book, platform: () => undefined, modules: GONE }).parse({
      ...{ id, platform, enabled: enabled !== false },
    })
    return { ...settingsOfStored(bare, book), options }
  }
}

const GONE: AdapterBook['modules'] = [
  { from: '', file: null, version: null, platforms: [], connectors: [], problem: 'gone' },
]

function settingsOfStored(data: IntegrationConfig, book: AdapterBook): IntegrationSettings {
  const settings = integrationOf(data, 0, configSchema(book).parse({}), {
    access: () => ({ problem: 'no file' }),
    messaging: () => [],
    messagingBeside: () => [],
  })
  return { ...settings, origin: STORE_ORIGIN }
}

function expectedOf(book: AdapterBook): Expected {
  return {
    schema: () => itemsOf(propertiesOf(configurationJsonSchema(book))?.integrations ?? {}) ?? {},
    platformNames: book.platformNames.filter((name) => name !== CHANNEL_PLATFORM),
    connectorNames: [],
  }
}
