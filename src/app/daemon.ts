// The daemon: owns a data folder, opens the store, lets the river flow, listens, and drains when told to stop.
import { homedir } from 'node:os'
// By their own files: the whole room would bring its schemas along, which the embedded default does not need.
import { readDaemonNote, removeDaemonNote, writeDaemonNote } from '../config/daemon-note.ts'
import { adminToken, attachmentsFolder, dataFolderAt, prepareDataFolder } from '../config/data-folder.ts'
import { readEnvironment } from '../config/environment.ts'
import { instanceName, realPath } from '../config/instance.ts'
import { writeLastLife } from '../config/last-life.ts'
import {
  type AdapterExports,
  defined,
  type IntegrationView,
  WEB_OWNER,
  withoutNulls,
} from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import { usersInForce } from '../core/people/users.ts'
import { createToolDesk } from '../core/tool-desk/create-tool-desk.ts'
import { createServer } from '../server/index.ts'
import { createAdapters } from './adapter-shelf.ts'
import { demandWhole } from './adopt-folder.ts'
import { createAttachments } from './attachments.ts'
import { createChatLinks } from './chat-link.ts'
import { createChorusConnections } from './chorus-connections.ts'
import { createConfigReload } from './config-reload.ts'
import { createConfigView } from './config-view.ts'
import { createConsoleDoor } from './console-door.ts'
import { createCredentialShelf } from './credential-shelf.ts'
import { createDesk } from './desk.ts'
import { createEndpoints } from './endpoints.ts'
import { folderHeld, holdFolder } from './folder-held.ts'
import { createGateway } from './gateway.ts'
import { createLentTools } from './lent-tools.ts'
import { createLogger } from './logger.ts'
import { openChannelServers } from './open-channel-servers.ts'
import { openInstance } from './open-instance.ts'
import { createAuthenticate } from './principals.ts'
import { createProcessPlaces } from './process-places.ts'
import { createNodeClock, createRealRandom } from './real-clock.ts'
import { reloadOnHangup } from './reload-on-hangup.ts'
import { createRemoteHosts } from './remote-hosts.ts'
import { createSecretDoors } from './secret-doors.ts'
import { secretFiles, sendRoots } from './send-roots.ts'
import { createSendableFiles, databaseFile, statePlaces } from './sendable-files.ts'
import { followSharedChanges } from './shared-changes.ts'
import { createSupervisorNotices } from './supervisor-notices.ts'
import { createTokenUse } from './token-use.ts'
import { createTokens } from './tokens.ts'
import { createToolSurface } from './tool-surface.ts'
import { createUndoStack } from './undo-stack.ts'
import { VERSION } from './version.ts'
import { type DeskWatchers, watchHints, watchReloads } from './watch-hints.ts'
import { webRoot } from './web-root.ts'

export interface DaemonOptions {
  /** Null or absent: the embedded default. */
  readonly configFile?: string | null
  readonly dataDir?: string
  readonly host?: string
  readonly port?: number
  readonly logFormat?: 'json' | 'people'
  readonly logLevel?: string
  /** Platforms and connectors of the library's user, beside those that the file names under `modules`. */
  readonly modules?: readonly AdapterExports[]
  /** Ends by itself when no shim was attached and nothing happened for this long. */
  readonly idleExitMs?: number
}

export interface Daemon {
  readonly url: string
  readonly dataDir: string
  /** The usual port, where another process has it and the next free one was used; null: none was in the way. */
  readonly takenPort: number | null
  /** A one-time link to the web chat; null when no web integration is configured. */
  readonly chatLink: string | null
  /** Every integration with its state and how to reach it. */
  integrations(): Promise<readonly IntegrationView[]>
  /** Drains: stops accepting, finishes what is under way, gives the lanes back. */
  stop(cause?: 'stopped' | 'idle'): Promise<void>
  /** The exit code, once it has ended. */
  readonly done: Promise<number>
}

const GRACE_MS = 10_000

/** Before every day that tokens were counted on. */
const LONG_AGO = '1970-01-01'

export async function runDaemon(options: DaemonOptions): Promise<Daemon> {
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
  const lock = holdFolder(folder, { pid: process.pid, config: configFile })
  if (!lock) throw folderHeld(folder, readDaemonNote(folder))

  const undo = createUndoStack(log)
  undo.push(() => lock.release())
  try {
    demandWhole(folder)
    const adapters = createAdapters(defined({ given: options.modules }))
    const instance = await openInstance({ configFile, folder, env, adapters }, { clock, random, log, undo })
    const { config, settings, sources, node, crashPoint, storeAt } = instance
    const { startedAt, watch, store, secrets, shelf, secret } = instance
    const { adminToken: reference } = settings().server
    const admin = adminToken(folder, env, reference === undefined ? null : secret(reference))
    const tokenUse = createTokenUse({ store, clock, log })
    undo.push(() => tokenUse.stop())
    const tokens = createTokens(store, clock, random, tokenUse.used)
    const watchers: DeskWatchers = new Set()
    let ready = false
    let draining = false
    const isReady = () => ready && !draining && watch.problem() === null
    const service = createSupervisorNotices({ env, clock, log, alive: isReady })
    const attachments = createAttachments({ clock, log, settings, watched: () => watchers.size > 0 })
    const places = createProcessPlaces(
      { path: folder.path, base: sources.folder, variables: env },
      { clock, log },
    )
    const gateway = createGateway({
      tools: () => toolDesk,
      hosts: attachments.door,
      lent: {
        list: (session) => services.list(session),
        call: (session, name, input) => services.call(session, name, input),
      },
      platform: (name) => adapters.platform(name, settings().modules),
      connector: (name) => adapters.connector(name, settings().modules),
      store,
      clock,
      random,
      log,
      tokens,
      settings,
      secret,
      filesDir: (integration) => attachmentsFolder(folder, integration),
      attachmentsDir: folder.attachments,
      credentials: (integration) => createCredentialShelf(secrets, integration),
      publicBase: () => baseUrl(),
      processes: places.of,
      watched: () => watchers.size > 0,
      self: () => ({ version: VERSION, startedAt, url: address.url, skewMs: clock.skewMs() }),
      servers: () => openChannelServers({ clock, random, log, store, secret, variables: env }),
      ...defined({ crashPoint: crashPoint ?? undefined }),
    })
    const baseUrl = () => settings().server.publicUrl?.replace(/\/$/, '') ?? address.url
    const address = { url: '' }
    const chatLink = createChatLinks({ tokens, clock, settings, baseUrl, owner: WEB_OWNER })
    const users = () => usersInForce(settings(), gateway.grants)
    const consoleDoor = createConsoleDoor({ tokens, clock, users, baseUrl })

    const { reload, settled } = createConfigReload({ config, settings, store, log, apply: gateway.apply })
    undo.push(
      followSharedChanges({
        store,
        clock,
        log,
        refreshAccess: gateway.grants.load,
        refreshConfig: async () => {
          await secrets.refresh()
          await shelf.refresh()
          await gateway.apply()
        },
      }),
    )

    const services = createLentTools({
      ...{ store, clock, log, settings },
      credentials: (integration) => createCredentialShelf(secrets, integration),
    })
    const host = options.host ?? settings().server.host
    const guarded = () => ({
      config: config.files(),
      secrets: secretFiles(settings(), sources.folder),
      database: databaseFile(storeAt),
    })
    const desk = createDesk({
      store,
      gateway,
      clock,
      tokens,
      secrets,
      settings,
      standing: () => ({
        ready: isReady(),
        node,
        version: VERSION,
        startedAt,
        configFile,
        instance: instanceName(folder.path, env),
        dataDir: folder.path,
        configProblem: config.problem(),
        storeProblem: watch.problem(),
      }),
      exposure: () => ({ host, adminTokenChosen: admin.configured, files: guarded() }),
      reload: async (by) => {
        const result = await reload(by)
        await settled()
        return result
      },
      chatLink,
      consoleLink: consoleDoor.link,
      random,
      configView: createConfigView({
        ...{ config, settings, folder: folder.path, defaultStore: folder.defaultStore },
      }),
      chorus: createChorusConnections({ store, tokens, settings, baseUrl }),
      watchers,
      ...{ shelf, turnedAway: attachments.turnedAway, leftOut: services.problems, adapters },
      applied: gateway.apply,
      base: baseUrl,
      listensAt: () => address.url,
    })
    const toolDesk = createToolDesk({
      store,
      settings,
      links: gateway.links,
      outlet: gateway.outlet,
      notifier: gateway.notifier,
      dispatcher: gateway.dispatcher,
      roster: gateway.roster,
      askForPerson: gateway.askForPerson,
      files: createSendableFiles({
        never: () => [...statePlaces(folder.path, storeAt), ...guarded().config, ...guarded().secrets],
        attachments: folder.attachments,
        roots: (hostFolder) => sendRoots(settings(), { configFile, hostFolder }),
        home: homedir(),
      }),
    })
    watchHints(store, watchers)
    watchReloads(config, watchers)

    const wanted = options.port ?? settings().server.port
    const chosen = options.port !== undefined || settings().server.portChosen === true
    const tcp = { host, port: wanted, orNext: !chosen }
    const authenticate = createAuthenticate({
      adminToken: () => admin.token,
      tokens,
      users,
    })
    const server = createServer(
      { tcp, socketPath: folder.socket },
      {
        clock,
        log,
        settings: () => ({
          maxBodyBytes: settings().tunables.maxBodyBytes,
          publicUrl: settings().server.publicUrl,
        }),
        desk,
        endpoints: createEndpoints({ gateway: () => gateway, settings }),
        ...createSecretDoors({ tokens, gateway: () => gateway, settings, now: () => clock.now() }),
        ready: () => ({
          ready: isReady(),
          detail: draining ? 'draining' : ready ? (watch.problem() ?? 'ready') : 'starting',
        }),
        note: (notes) => store.note(notes),
        ...{ authenticate, authorize, console: consoleDoor },
        attach: createRemoteHosts({
          ...{ clock, tokens, authenticate, store, accept: attachments.accept },
          isAgent: (id) => settings().agents.some((agent) => agent.id === id),
        }),
        mcp: createToolSurface({ desk: toolDesk, tokens, settings, log, services }),
        adminTokenConfigured: () => admin.configured,
        metrics: { counters: () => store.counters(), usage: () => store.usage(LONG_AGO) },
        webRoot: webRoot(),
      },
    )
    const listening = await server.listen()
    undo.push(() => server.close({ graceMs: GRACE_MS }))
    const taken = listening.port === wanted || wanted === 0 ? null : wanted
    if (taken !== null) log.warn({ port: listening.port }, `port ${taken} is taken: another one is used`)
    address.url = `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`
    await places.reap()
    await gateway.start()
    undo.push(() => gateway.stop())
    await attachments.listen(folder.attachSocket)
    undo.push(() => attachments.close())
    await store.note([{ kind: 'boot', ref: node, detail: { version: VERSION, config: settings().digest } }])
    writeDaemonNote(folder, {
      ...{ pid: process.pid, url: address.url, startedAt, version: VERSION },
      config: configFile,
      ...(options.idleExitMs === undefined ? {} : { idleExit: true }),
      ...withoutNulls({ service: service.unit }),
    })
    undo.push(() => removeDaemonNote(folder))
    const place = {
      ...{ host, port: listening.port ?? 0 },
      ...(store.file ? { database: { file: realPath(store.file.path), tag: store.tag } } : {}),
    }
    writeLastLife(folder, { ...place, end: 'running' })
    ready = true
    for (const warning of settings().warnings) log.warn({}, warning)
    log.info({ url: address.url, data: folder.path, node }, 'switchboard is ready')
    const tellReady = () => service.ready(`ready at ${address.url}`)
    void tellReady()

    const hasChat = gateway.links.all().some((link) => link.platform === 'web')
    undo.push(reloadOnHangup({ service, reload, settled, log, tellReady }))
    let stopping: Promise<void> | null = null
    let finish: (code: number) => void = () => undefined
    const done = new Promise<number>((resolve) => {
      finish = resolve
    })
    const daemon: Daemon = {
      url: address.url,
      dataDir: folder.path,
      takenPort: taken,
      chatLink: hasChat ? (await chatLink()).url : null,
      done,
      integrations: async () => desk.integrations(),
      stop(cause = 'stopped') {
        // First of all, and once: a shim must not revive what is being stopped, however that ends.
        if (!draining) writeLastLife(folder, { ...place, end: cause })
        draining = true
        server.drain()
        stopping ??= (async () => {
          log.info({}, 'draining')
          const heard = service.stopping()
          await undo.unwind()
          await heard
          log.info({}, 'stopped')
          finish(0)
        })()
        return stopping
      },
    }
    if (options.idleExitMs !== undefined)
      undo.push(attachments.exitWhenIdle(options.idleExitMs, store, () => void daemon.stop('idle')))
    return daemon
  } catch (thrown) {
    await undo.unwind()
    throw thrown
  }
}
