// Gathers the facts for `doctor --security`: from the running daemon, or from the configuration if none runs.
import { dirname } from 'node:path'
import { openConfigSource } from '../config/config-source.ts'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { resolveStore } from '../config/secrets/secret-reference.ts'
import {
  defined,
  type GuardedFiles,
  type SecurityReport,
  type ServerReach,
  type Settings,
} from '../contract/index.ts'
import type { Links } from '../core/links.ts'
import { tokenViews } from '../gateway/access/token-views.ts'
import { secretFiles } from '../gateway/files/send-roots.ts'
import { databaseFile } from '../gateway/files/sendable-files.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { createLogger } from '../runtime/logger.ts'
import { createRealClock } from '../runtime/real-clock.ts'
import { isLoopbackListener } from '../server/host-guard.ts'
import { isPublic } from '../server/near.ts'
import { wordsIn } from '../words/index.ts'
import type { DoctorDeps } from './doctor.ts'
import { createModuleGates } from './module-gates.ts'
import { serverViews } from './overview.ts'
import { risksOf } from './risks.ts'

/** Facts that only the daemon knows. */
export interface Exposure {
  readonly host: string
  readonly adminTokenChosen: boolean
  readonly files: GuardedFiles
  /** Finds proxies that make every visitor look local. Absent: not tested. */
  readonly unmarkedProxies?: () => Promise<readonly string[]>
}

type RunningDeps = Pick<DoctorDeps, 'store' | 'gateway' | 'settings' | 'clock' | 'adapters'>

export async function judgeRunning(
  { store, gateway, settings, clock, adapters }: RunningDeps,
  { host, adminTokenChosen, files, unmarkedProxies }: Exposure,
  sendTest = false,
): Promise<SecurityReport> {
  const trials = sendTest ? await tryIntegrations(settings(), gateway.links) : undefined
  const judged = risksOf({
    settings: settings(),
    host,
    daemon: {
      adminTokenChosen,
      tokens: await tokenViews(store),
      servers: serverViews(gateway.servers()).servers ?? [],
      unmarkedProxies: (await unmarkedProxies?.()) ?? [],
      trials: trials?.found ?? [],
    },
    modules: createModuleGates(adapters, settings).risks(reachOf(host, settings())),
    now: clock.now(),
  })
  return { ...judged, ...defined({ tried: trials?.told }), files }
}

/** Runs the integrations' trials on the real service, in parallel. */
async function tryIntegrations(settings: Settings, links: Pick<Links, 'get'>) {
  const trials = await Promise.all(
    settings.integrations.map(async ({ id, origin }) => {
      const { found = [], told = [] } = (await links.get(id)?.adapter.checks?.trial?.()) ?? {}
      return {
        found: found.map(({ severity, what, key }) => ({
          subject: `integration ${id}`,
          severity,
          text: `${id}: ${what}`,
          remedy: `${origin}.${key}`,
        })),
        told: told.map((one) => `${id}: ${one}`),
      }
    }),
  )
  const found = trials.flatMap((trial) => trial.found)
  const told = trials.flatMap((trial) => trial.told)
  const nothing = [wordsIn().security.tried.nothing]
  return { found, told: told.length + found.length > 0 ? told : nothing }
}

/**
 * Judges a configuration without a daemon. Throws `config_invalid` when the file is invalid. Runs no code that it
 * names.
 */
export async function judgeConfiguration(file: string | null, folder: DataFolder): Promise<SecurityReport> {
  const clock = createRealClock()
  const log = createLogger({ format: 'people', level: 'error' })
  const adapters = createModuleCatalog({ leaveModulesAlone: true })
  const config = await openConfigSource({ file, adapters, defaultStore: folder.defaultStore }, { clock, log })
  const settings = config.current()
  // The embedded default is made without its modules.
  await adapters.open({
    ...{ folder: folder.path, modules: [] },
    platforms: settings.integrations.map(({ platform }) => platform),
    connectors: settings.agents.map(({ connector }) => connector.type),
  })
  const sources = {
    folder: file === null ? folder.path : dirname(file),
    env: readEnvironment().variables,
  }
  const judged = risksOf({
    settings,
    host: settings.server.host,
    daemon: null,
    modules: createModuleGates(adapters, () => settings).risks(reachOf(settings.server.host, settings)),
    now: clock.now(),
  })
  const files = { config: config.files(), secrets: secretFiles(settings, sources.folder) }
  try {
    return { ...judged, files: { ...files, database: databaseFile(resolveStore(settings.store, sources)) } }
  } catch (thrown) {
    const why = wordsIn().security.unjudged.database({
      why: thrown instanceof Error ? thrown.message : String(thrown),
    })
    return { ...judged, unjudged: [...judged.unjudged, why], files: { ...files, database: null } }
  }
}

function reachOf(host: string, { server }: Pick<Settings, 'server'>): ServerReach {
  return { host, near: isLoopbackListener(host), public: isPublic(server.publicUrl) }
}
