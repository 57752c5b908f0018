// The daemon: owns a data folder, opens the store, starts the gateway, listens, and drains when it is asked to stop.
// The config room is imported file by file, because its index loads schemas that the embedded default does not need.

import { dataFolderAt, prepareDataFolder } from '../config/instance/data-folder.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { realPath } from '../config/instance/instance.ts'
import { recordStart } from '../config/instance/start-record.ts'
import {
  type AdapterExports,
  defined,
  type IntegrationView,
  type Logger,
  WEB_OWNER,
  withoutNulls,
} from '../contract/index.ts'
import { usersInForce } from '../core/people/users.ts'
import { createChatLinks } from '../gateway/access/chat-link.ts'
import { createConsoleLogin } from '../gateway/access/console-login.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { integrationViews } from '../operations/integrations/integration-view.ts'
import { createWatchers } from '../operations/watchers.ts'
import { createLogger } from '../runtime/logger.ts'
import { createNodeClock, createRealRandom } from '../runtime/real-clock.ts'
import { createUndoStack } from '../runtime/undo-stack.ts'
import { VERSION } from '../runtime/version.ts'
import { demandWhole } from './adopt-folder.ts'
import { type AssembledDaemon, assembleDaemon } from './assemble-daemon.ts'
import { type ConfigReload, createConfigReload } from './config-reload.ts'
import { createDaemonAddress, type DaemonAddress } from './daemon-address.ts'
import { createDaemonContext } from './daemon-context.ts'
import { openCredentials } from './daemon-credentials.ts'
import { createDaemonServer } from './daemon-server.ts'
import { writeDaemonStatus } from './daemon-status-file.ts'
import { dataFolderInUse, lockDataFolder } from './data-folder-lock.ts'
import { createDrain } from './drain-daemon.ts'
import { type Instance, type InstanceParts, openInstance } from './open-instance.ts'
import { createReadiness } from './readiness.ts'
import { followSharedChanges } from './shared-changes.ts'
import { createSystemdNotify, type SystemdNotify, unitOf } from './systemd-notify.ts'

export interface DaemonOptions {
  /** Null or absent: the embedded default. */
  readonly configFile?: string | null
  readonly dataDir?: string
  readonly host?: string
  readonly port?: number
  readonly logFormat?: 'json' | 'people'
  readonly logLevel?: string
  /** Platforms and connectors that the caller of the library adds to the file's `modules`. */
  readonly modules?: readonly AdapterExports[]
  /** The daemon ends when no shim is attached and nothing happened for this long. */
  readonly idleExitMs?: number
}

export interface Daemon {
  readonly url: string
  readonly dataDir: string
  /** The usual port, if another process has it and the next free one is used instead; else null. */
  readonly takenPort: number | null
  /** A one-time link to the web chat, or null without a web integration. */
  readonly chatLink: string | null
  /** Every integration with its state and how to reach it. */
  integrations(): Promise<readonly IntegrationView[]>
  /** Drains: stops accepting, finishes running work, and releases the lanes. */
  stop(cause?: 'stopped' | 'idle'): Promise<void>
  /** Resolves with the exit code when the daemon has ended. */
  readonly done: Promise<number>
}

const GRACE_MS = 10_000

export async function runDaemon(options: DaemonOptions): Promise<Daemon> {
  const ground = takeDataFolder(options)
  try {
    demandWhole(ground.folder)
    const adapters = createModuleCatalog(defined({ given: options.modules }))
    return await startDaemon(await openInstance(ground, adapters), options)
  } catch (thrown) {
    await ground.undo.unwind()
    throw thrown
  }
}

/** Creates the folder if it is missing, and locks it. Throws `data_folder_held` if another daemon holds it. */
function takeDataFolder(options: DaemonOptions): InstanceParts {
  const environment = readEnvironment()
  const env = environment.variables
  const clock = createNodeClock()
  const random = createRealRandom()
  const configFile = options.configFile ? realPath(options.configFile) : null
  const folder = dataFolderAt({ data: options.dataDir, config: configFile, env })
  prepareDataFolder(folder)
  const log = createLogger({
    format: options.logFormat ?? 'json',
    level: options.logLevel ?? environment.logLevel ?? 'info',
    file: folder.logFile,
  })
  const lock = lockDataFolder(folder, {
    ...{ pid: process.pid, config: configFile },
    ...(options.idleExitMs === undefined ? {} : { idleExit: true }),
    ...withoutNulls({ service: unitOf(env) }),
  })
  if (!lock) throw dataFolderInUse(folder)

  const undo = createUndoStack(log)
  undo.push(() => lock.release())
  return { configFile, folder, env, clock, random, log, undo }
}

/** Assembles the parts, listens, starts the gateway, and reports that it is ready. */
async function startDaemon(instance: Instance, options: DaemonOptions): Promise<Daemon> {
  const { config, settings, store, folder, env, clock, log, undo } = instance
  recordStart(folder, { config: instance.configFile, at: instance.startedAt })
  const credentials = openCredentials(instance)
  const { tokens } = credentials
  const watchers = createWatchers()
  const readiness = createReadiness(instance.watch)
  const service = createSystemdNotify({ env, clock, log, alive: readiness.isReady })
  const address = createDaemonAddress(options, settings, instance.random)
  const pipeline = assembleDaemon(instance, { tokens, address, watchers })
  const { gateway, attachments } = pipeline
  const chatLink = createChatLinks({ tokens, clock, settings, baseUrl: address.base, owner: WEB_OWNER })
  const users = () => usersInForce(settings(), gateway.grants)
  const consoleLogin = createConsoleLogin({ tokens, clock, users, baseUrl: address.base })
  const reloading = followConfiguration(instance, gateway)
  const parts = { credentials, address, readiness, pipeline }
  const { context, live } = createDaemonContext(instance, {
    ...parts,
    ...{ reloading, chatLink, consoleLink: consoleLogin.link },
  })
  watchers.follow({ store, config })
  const server = createDaemonServer(instance, { ...parts, context, watchers, users, console: consoleLogin })

  const { port } = await server.listen()
  undo.push(() => server.close({ graceMs: GRACE_MS }))
  const takenPort = address.listensOn(port)
  if (takenPort !== null) log.warn({ port }, `port ${takenPort} is taken: another one is used`)
  await startGateway(instance, pipeline)
  const life = writeDaemonStatus(instance, {
    ...{ url: address.url(), host: address.wanted.host, port: port ?? 0 },
    ...{ idleExit: options.idleExitMs !== undefined, unit: service.unit },
  })
  readiness.started()
  logStarted(instance, address)
  const tellReady = () => service.ready(`ready at ${address.url()}`)
  void tellReady()

  const hasChat = gateway.links.all().some((link) => link.platform === 'web')
  undo.push(reloadOnHangup({ ...reloading, service, log, tellReady }))
  const { stop, done } = createDrain({
    ...{ life, readiness, server, service, undo, log },
    finish: pipeline.gateway.finish,
  })
  const daemon: Daemon = {
    url: address.url(),
    dataDir: folder.path,
    takenPort,
    chatLink: hasChat ? (await chatLink()).url : null,
    done,
    integrations: async () => integrationViews(settings(), live),
    stop,
  }
  if (options.idleExitMs !== undefined)
    undo.push(attachments.exitWhenIdle(options.idleExitMs, store, () => void daemon.stop('idle')))
  return daemon
}

/** Ends programs of an earlier run first. Hosts may attach once the gateway runs. */
async function startGateway(instance: Instance, pipeline: AssembledDaemon): Promise<void> {
  const { node, store, settings, folder, undo } = instance
  const { gateway, attachments, processPlaces } = pipeline
  await processPlaces.reap()
  await gateway.start()
  undo.push(() => gateway.stop())
  await attachments.listen(folder.attachSocket)
  undo.push(() => attachments.close())
  await store.note([{ kind: 'boot', ref: node, detail: { version: VERSION, config: settings().digest } }])
}

function logStarted({ settings, folder, node, log }: Instance, address: DaemonAddress): void {
  for (const warning of settings().warnings) log.warn({}, warning)
  log.info({ url: address.url(), data: folder.path, node }, 'switchboard is ready')
}

// Keeps a running daemon at its configuration: it follows changes of the file and of operators at other nodes.

/** Starts following. Unwinding the instance's undo stack stops it. */
function followConfiguration(instance: Instance, gateway: Pick<Gateway, 'apply' | 'grants'>): ConfigReload {
  const { config, settings, store, clock, log, secrets, storedIntegrations, undo } = instance
  const reloading = createConfigReload({ config, settings, store, log, apply: gateway.apply })
  undo.push(
    followSharedChanges({
      store,
      clock,
      log,
      refreshAccess: gateway.grants.load,
      refreshConfig: async () => {
        await secrets.refresh()
        await storedIntegrations.refresh()
        await gateway.apply()
      },
    }),
  )
  return reloading
}

// SIGHUP reloads the configuration. The service manager is notified when the reload is done.

interface HangupDeps extends ConfigReload {
  readonly service: Pick<SystemdNotify, 'reloading'>
  readonly log: Logger
  tellReady(): Promise<void>
}

/** Returns a function that stops the handling. */
function reloadOnHangup(deps: HangupDeps): () => void {
  const onHangup = () => {
    deps.service
      .reloading()
      .then(() => deps.reload('SIGHUP'))
      .then(deps.settled)
      .catch((thrown) => deps.log.error({ error: String(thrown) }, 'could not be reloaded'))
      .finally(deps.tellReady)
  }
  process.on('SIGHUP', onHangup)
  return () => void process.off('SIGHUP', onHangup)
}
