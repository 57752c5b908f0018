// The context of the operations in a daemon: the instance, the pipeline, and facts about the process.
import { instanceName } from '../config/instance/instance.ts'
import { createDoctor } from '../health/doctor.ts'
import type { Standing } from '../health/overview.ts'
import { createConfigViews } from '../operations/config-view.ts'
import type { LiveParts, OperationContext } from '../operations/context.ts'
import { VERSION } from '../runtime/version.ts'
import { probeProxies } from '../server/index.ts'
import type { AssembledDaemon } from './assemble-daemon.ts'
import type { ConfigReload } from './config-reload.ts'
import type { DaemonAddress } from './daemon-address.ts'
import type { DaemonCredentials } from './daemon-credentials.ts'
import { guardedFiles } from './instance-files.ts'
import type { Instance } from './open-instance.ts'
import type { Readiness } from './readiness.ts'

export interface DaemonContextDeps extends Pick<LiveParts, 'chatLink' | 'consoleLink'> {
  readonly credentials: DaemonCredentials
  readonly address: DaemonAddress
  readonly readiness: Readiness
  readonly pipeline: AssembledDaemon
  readonly reloading: ConfigReload
}

export function createDaemonContext(
  instance: Instance,
  deps: DaemonContextDeps,
): { readonly context: OperationContext; readonly live: LiveParts } {
  const { store, clock, random, secrets, settings, adapters, config, folder } = instance
  const { address, reloading, chatLink, consoleLink } = deps
  const { gateway, attachments, serviceTools } = deps.pipeline
  const { admin, tokens } = deps.credentials
  const source = { store, settings, clock, standing: () => standingOf(instance, deps.readiness) }
  const live: LiveParts = {
    ...{ gateway, random, tokens, secrets, adapters, chatLink, consoleLink },
    added: instance.storedIntegrations,
    doctor: createDoctor({
      ...source,
      ...{ gateway, adapters },
      exposure: () => ({
        host: address.wanted.host,
        adminTokenChosen: admin.configured,
        files: guardedFiles(instance),
        unmarkedProxies: () => probeProxies({ key: address.probeKey, clock, ownPort: address.port() }),
      }),
      turnedAway: attachments.turnedAway,
      leftOut: serviceTools.problems,
    }),
    reload: async (by) => {
      const result = await reloading.reload(by)
      await reloading.settled()
      return result
    },
    configViews: createConfigViews({
      config,
      settings,
      folder: folder.path,
      defaultStore: folder.defaultStore,
    }),
    baseUrl: address.base,
    listensAt: address.url,
  }
  return { context: { ...source, live }, live }
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
