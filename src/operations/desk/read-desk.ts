// A desk without a daemon: commands that only read open the store themselves, read-only.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  dataFolderAt,
  instanceName,
  openConfigSource,
  readEnvironment,
  readLedgerKey,
  resolveStore,
} from '../../config/index.ts'
import { type ReadDesk, SwitchboardError } from '../../contract/index.ts'
import { completenessView } from '../../gateway/completeness-view.ts'
import { latestBoots, nodeViews } from '../../health/cluster-view.ts'
import { scheduleViews } from '../../health/schedule-views.ts'
import { queuedByAgent } from '../../health/status.ts'
import { totals } from '../../health/totals.ts'
import { createModuleCatalog } from '../../modules/module-catalog.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { VERSION } from '../../runtime/version.ts'
import { openStore } from '../../store/open.ts'
import { createStoreDesk } from './store-desk.ts'

export interface ReadDeskOptions {
  readonly dataDir?: string
  readonly configFile?: string | null
}

export async function openReadDesk(
  options: ReadDeskOptions,
): Promise<{ desk: ReadDesk; close(): Promise<void> }> {
  const env = readEnvironment().variables
  const clock = createNodeClock()
  const log = createLogger({ format: 'people', level: 'error' })
  const folder = dataFolderAt({ data: options.dataDir, config: options.configFile ?? null, env })
  const config = await openConfigSource(
    {
      file: options.configFile ?? null,
      adapters: createModuleCatalog({ leaveModulesAlone: true }),
      defaultStore: folder.defaultStore,
    },
    { clock, log },
  )
  const settings = config.current()
  if (settings.store === folder.defaultStore && !existsSync(folder.database)) {
    throw new SwitchboardError('not_found', `there is no database in ${folder.path} yet`, {
      hint: `start a daemon first: switchboard up --data ${folder.path}`,
    })
  }
  const sources = { folder: options.configFile ? dirname(options.configFile) : folder.path, env }
  const store = await openStore(resolveStore(settings.store, sources), {
    clock,
    random: createRealRandom(),
    node: 'reader',
    ledgerKey: readLedgerKey({ dataDir: folder.path, env }),
    log,
    readOnly: true,
    // Nodes are heard of by the database's time: whether one is gone must not hang on the clock of who asks.
    onDatabaseTime: clock.adjust,
  })
  const desk: ReadDesk = {
    ...createStoreDesk(store, () => settings),
    async status() {
      const [counters, open, pending, durability, restored, rows, taken] = await Promise.all([
        store.counters(),
        store.queuedTurns(),
        store.pendingApprovals(),
        store.durability(),
        store.restored(),
        store.historyLinks(),
        store.takeovers(),
      ])
      const history = { rows, restored, now: clock.now() }
      const queuedOf = queuedByAgent(open)
      // One look cannot tell a boot that was killed just now from a second daemon of that name.
      const nodes = nodeViews(latestBoots(await store.nodes()), clock.now())
      return {
        ready: false,
        node: 'none',
        version: VERSION,
        uptime_ms: 0,
        instance: {
          name: instanceName(folder.path, env),
          config: options.configFile ?? null,
          data: folder.path,
        },
        integrations: settings.integrations.map((one) => ({
          id: one.id,
          platform: one.platform,
          link: 'down',
          detail: 'no daemon is running',
          last_in_at: null,
          last_out_at: null,
          complete: completenessView(one.id, false, history),
        })),
        agents: settings.agents.map((one) => ({
          id: one.id,
          connector: one.connector.type,
          attached: false,
          state: 'absent',
          queued: queuedOf.get(one.id) ?? 0,
        })),
        ...(await scheduleViews(settings, store, clock.now())),
        ...totals(counters),
        approvals: { pending: pending.reduce((total, { count }) => total + count, 0) },
        held: taken.filter(({ state }) => state === 'held').length,
        asked: taken.filter(({ state }) => state === 'asked').length,
        config: {
          digest: settings.digest,
          file: options.configFile ?? null,
          problem: null,
          warnings: settings.warnings,
        },
        ...(nodes.length > 1 ? { nodes } : {}),
        store: { kind: durability.kind, durability: durability.detail },
      }
    },
  }
  return { desk, close: () => store.close() }
}
