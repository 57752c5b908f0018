// The operator's desk of a daemon: what it serves and tells is taken from the instance, the pipeline and the daemon's own standing.
import { instanceName } from '../config/instance/instance.ts'
import type { Desk } from '../contract/index.ts'
import type { Standing } from '../health/overview.ts'
import { createChorusConnections } from '../operations/desk/chorus-connections.ts'
import { createConfigView } from '../operations/desk/config-view.ts'
import { createDesk, type DeskDeps } from '../operations/desk/desk.ts'
import { VERSION } from '../runtime/version.ts'
import { probeProxies } from '../server/index.ts'
import type { AssembledDaemon } from './assemble-daemon.ts'
import type { ConfigReload } from './config-reload.ts'
import type { DaemonAddress } from './daemon-address.ts'
import type { DaemonCredentials } from './daemon-credentials.ts'
import { guardedFiles } from './instance-files.ts'
import type { Instance } from './open-instance.ts'
import type { Readiness } from './readiness.ts'

export interface DaemonDeskDeps extends Pick<DeskDeps, 'chatLink' | 'consoleLink' | 'watchers'> {
  readonly credentials: DaemonCredentials
  readonly address: DaemonAddress
  readonly readiness: Readiness
  readonly pipeline: AssembledDaemon
  readonly reloading: ConfigReload
}

export function createDaemonDesk(instance: Instance, deps: DaemonDeskDeps): Desk {
  const { store, clock, random, secrets, shelf, settings, adapters, config, folder } = instance
  const { address, reloading, chatLink, consoleLink, watchers } = deps
  const { gateway, attachments, lentTools } = deps.pipeline
  const { admin, tokens } = deps.credentials
  return createDesk({
    ...{ store, gateway, clock, random, tokens, secrets, shelf, settings, adapters },
    ...{ chatLink, consoleLink, watchers },
    standing: () => standingOf(instance, deps.readiness),
    exposure: () => ({
      host: address.wanted.host,
      adminTokenChosen: admin.configured,
      files: guardedFiles(instance),
      unmarkedProxies: () => probeProxies({ key: address.probeKey, clock, ownPort: address.port() }),
    }),
    reload: async (by) => {
      const result = await reloading.reload(by)
      await reloading.settled()
      return result
    },
    configView: createConfigView({
      ...{ config, settings, folder: folder.path, defaultStore: folder.defaultStore },
    }),
    chorus: createChorusConnections({ store, tokens, settings, baseUrl: address.base }),
    turnedAway: attachments.turnedAway,
    leftOut: lentTools.problems,
    applied: gateway.apply,
    base: address.base,
    listensAt: address.url,
  })
}

function standingOf(instance: Instance, readiness: Readiness): Standing {
  const { node, startedAt, configFile, folder, env, config, watch } = instance
  return {
    ready: readiness.isReady(),
    node,
    version: VERSION,
    startedAt,
    configFile,
    instance: instanceName(folder.path, env),
    dataDir: folder.path,
    configProblem: config.problem(),
    storeProblem: watch.problem(),
  }
}
