// Opens the configuration, the database, and the stores of secrets and integrations of an instance. Each is put on the
// undo stack at once, so that a start that fails half-way holds nothing.
import { createHmac } from 'node:crypto'
import { dirname } from 'node:path'
// The config room is imported file by file, because its index loads schemas that the embedded default does not need.
import { type ConfigSource, openConfigSource } from '../config/config-source.ts'
import { type DataFolder, prepareDatabase } from '../config/instance/data-folder.ts'
import { openKeyRing } from '../config/secrets/key-ring.ts'
import { resolveSecret, resolveStore } from '../config/secrets/secret-reference.ts'
import { openSecretStore, type SecretStore } from '../config/secrets/secret-store.ts'
import {
  type Added,
  openStoredIntegrations,
  type StoredIntegrations,
  withAdded,
} from '../config/stored-integrations.ts'
import { defined, type Logger, type Random, type Settings, type Store } from '../contract/index.ts'
import { ledgerStanding } from '../health/doctor-facts.ts'
import type { Adapters } from '../modules/module-catalog.ts'
import { crashPointFrom } from '../runtime/crash-point.ts'
import type { NodeClock } from '../runtime/real-clock.ts'
import type { UndoStack } from '../runtime/undo-stack.ts'
import { openStore } from '../store/open.ts'
import { nodeName } from './data-folder-lock.ts'
import { holdDatabase } from './database/hold-database.ts'
import { type StoreWatch, watchStore } from './database/store-watch.ts'
import { withStartNotes } from './restart-only-settings.ts'

/** Longer than a lone conversation needs to speak again, and shorter than anybody notices. */
const UNHURRIED_MS = 2

/** The parts of a daemon before it opens anything: its locked data folder, and what every part uses. */
export interface InstanceParts {
  /** Null: the embedded default. */
  readonly configFile: string | null
  readonly folder: DataFolder
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: NodeClock
  readonly random: Random
  readonly log: Logger
  readonly undo: UndoStack
}

export interface Instance extends InstanceParts {
  readonly adapters: Adapters
  readonly config: ConfigSource
  /** The settings in force: the file's, and the integrations that were added by command. */
  readonly settings: () => Settings
  /** Where references of the configuration are resolved. */
  readonly sources: { readonly folder: string; readonly env: InstanceParts['env'] }
  readonly node: string
  readonly crashPoint: ((name: string) => void) | null
  /** The resolved `store` of the configuration. */
  readonly storeAt: string
  readonly startedAt: number
  readonly watch: StoreWatch
  readonly store: Store
  readonly secrets: SecretStore
  readonly storedIntegrations: StoredIntegrations
  /** Resolves a reference. Throws if it has no value. */
  readonly secret: (reference: string) => string
  /** Returns the function by which an integration signs. */
  readonly signer: (integration: string) => (text: string) => string
}

export async function openInstance(ground: InstanceParts, adapters: Adapters): Promise<Instance> {
  const { configFile, folder, env, clock, random, log, undo } = ground
  const config = await openConfigSource(
    { file: configFile, adapters, defaultStore: folder.defaultStore, watch: true },
    { clock, log },
  )
  undo.push(() => config.stop())
  let storedIntegrations: StoredIntegrations | null = null
  const settings = settingsInForce(config.current, () => storedIntegrations)
  const sources = { folder: configFile ? dirname(configFile) : folder.path, env }
  const node = nodeName(folder)
  const crashPoint = crashPointFrom(env.SWITCHBOARD_CRASH_AT)
  const storeAt = resolveStore(settings().store, sources)
  const held = holdDatabase(storeAt, folder, log)
  undo.push(() => held.release())
  // The keys are created late, because the database check looks at which files the folder had before.
  const keys = openKeyRing({ dataDir: folder.path, env })
  prepareDatabase(storeAt)
  const opened = await openStore(storeAt, {
    clock,
    random,
    node,
    ledgerKey: keys.ledgerKey,
    onDatabaseTime: clock.adjust,
    log,
    unhurriedMs: UNHURRIED_MS,
    ...defined({ crashPoint: crashPoint ?? undefined }),
  })
  undo.push(() => opened.close())
  const startedAt = clock.now()
  const watch = watchStore(opened, { clock, log, rescuePlaces: held.rescuePlaces })
  const { store } = watch
  undo.push(() => watch.stop())
  const { foreign_chains, problem } = await ledgerStanding(store)
  if (problem !== null) {
    const hint =
      'put the old ledger.key back into the data folder, or set SWITCHBOARD_LEDGER_KEY, and start again'
    log.error({ foreign_chains, hint }, problem)
  }
  const secrets = await openSecretStore(keys, store)
  storedIntegrations = await openStoredIntegrations(secrets, (entry) =>
    adapters.open({
      ...sources,
      modules: namedModules(config.current()),
      platforms: [entry.name],
      connectors: [],
      entries: [entry],
    }),
  )
  const secret = (reference: string) =>
    resolveSecret(reference, { ...sources, stored: (name) => secrets.read(name) })
  return {
    ...ground,
    adapters,
    config,
    settings,
    sources,
    node,
    crashPoint,
    storeAt,
    startedAt,
    watch,
    store,
    secrets,
    storedIntegrations,
    secret,
    signer: createSigner(keys.ledgerKey),
  }
}

// The configuration in force: the file's, and the integrations that were added by command.

/** Returns the entries of the file. Modules that the caller passed are loaded anyway. */
function namedModules({ modules = [] }: Settings): readonly string[] {
  return modules.filter((one) => !one.from.startsWith('given[')).map((one) => one.from)
}

const NOTHING_ADDED: readonly Added[] = []

/** Computed again only when one of the two changed. `storedIntegrations` is null until the store is open. */
function settingsInForce(
  file: () => Settings,
  storedIntegrations: () => StoredIntegrations | null,
): () => Settings {
  let from: Settings | null = null
  let list = NOTHING_ADDED
  let merged: Settings | null = null
  const started = file()
  return () => {
    const now = file()
    const added = storedIntegrations()?.all() ?? NOTHING_ADDED
    if (merged === null || from !== now || list !== added) {
      from = now
      list = added
      merged = withStartNotes(started, withAdded(now, added))
    }
    return merged
  }
}

// An integration signs what must be recognised when it comes back, such as a Message-ID. The key is derived from the
// ledger's key: it never changes, is in every backup, and is the same on nodes that share SWITCHBOARD_KEY.

function createSigner(ledgerKey: Uint8Array): (integration: string) => (text: string) => string {
  return (integration) => {
    const key = createHmac('sha256', ledgerKey).update(`sign:${integration}`).digest()
    return (text) => createHmac('sha256', key).update(text).digest('hex')
  }
}
