// Assembles the pipeline of a daemon: the gateway, the tools of agents and services, and the hosts that attach. Nothing
// runs yet.

import { join } from 'node:path'
import { childEnvironment } from '../config/instance/child-environment.ts'
import { attachmentsFolder } from '../config/instance/data-folder.ts'
import { createIntegrationCredentials } from '../config/secrets/integration-credentials.ts'
import { type Clock, defined, type Logger, type ProcessPlace, type ToolActions } from '../contract/index.ts'
import { createToolActions } from '../core/tool-actions/create-tool-actions.ts'
import { type Attachments, createAttachments } from '../gateway/access/attached-hosts.ts'
import type { Tokens } from '../gateway/access/tokens.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { openChannelServers } from '../gateway/open-channel-servers.ts'
import { createServiceTools, type GatewayServiceTools } from '../gateway/service-tools.ts'
import type { Watchers } from '../operations/watchers.ts'
import { VERSION } from '../runtime/version.ts'
import type { DaemonAddress } from './daemon-address.ts'
import { attachableFiles } from './instance-files.ts'
import type { Instance } from './open-instance.ts'

export interface AssembledDaemon {
  readonly gateway: Gateway
  readonly toolActions: ToolActions
  readonly serviceTools: GatewayServiceTools
  readonly attachments: Attachments
  readonly processPlaces: ProcessPlaces
}

export function assembleDaemon(
  instance: Instance,
  deps: { readonly tokens: Tokens; readonly address: DaemonAddress; readonly watchers: Watchers },
): AssembledDaemon {
  const { folder, env, adapters, clock, random, log, store, settings, secret, secrets, signer } = instance
  const { tokens, address } = deps
  const { isWatched: watched, approverWatches } = deps.watchers
  const credentials = (integration: string) => createIntegrationCredentials(secrets, integration)
  const attachments = createAttachments({ clock, log, settings, watched })
  const processPlaces = createProcessPlaces(
    { path: folder.path, base: instance.sources.folder, variables: env },
    { clock, log },
  )
  const serviceTools = createServiceTools({ store, clock, log, settings, credentials })
  const gateway = createGateway({
    tools: () => toolActions,
    hosts: attachments.door,
    lent: serviceTools,
    platform: (name) => adapters.platform(name, settings().modules),
    connector: (name) => adapters.connector(name, settings().modules),
    ...{ store, clock, random, log, tokens, settings, secret, credentials, signer, watched: approverWatches },
    filesDir: (integration) => attachmentsFolder(folder, integration),
    attachmentsDir: folder.attachments,
    publicBase: address.base,
    processes: processPlaces.of,
    self: () => ({
      version: VERSION,
      startedAt: instance.startedAt,
      url: address.url(),
      skewMs: clock.skewMs(),
    }),
    servers: () => openChannelServers({ clock, random, log, store, secret, variables: env }),
    ...defined({ crashPoint: instance.crashPoint ?? undefined }),
  })
  const { links, outlet, notifier, dispatcher, roster, askForPerson } = gateway
  const toolActions = createToolActions({
    ...{ store, settings, links, outlet, notifier, dispatcher, roster, askForPerson },
    files: attachableFiles(instance),
    lent: serviceTools,
  })
  return { gateway, toolActions, serviceTools, attachments, processPlaces }
}

// The programs of agents: their environment, the record of running programs, and a folder for each agent. Programs that
// an earlier run left behind are ended before anything starts.

interface ProcessPlaces {
  of(agent: string): ProcessPlace
  /** Ends the recorded programs. The data folder is locked by now, so the record contains only ours. */
  reap(): Promise<void>
}

function createProcessPlaces(
  config: {
    /** The data folder. */
    readonly path: string
    /** The base of relative folders in the configuration. */
    readonly base: string
    readonly variables: Readonly<Record<string, string | undefined>>
  },
  deps: { readonly clock: Clock; readonly log: Logger },
): ProcessPlaces {
  const records = join(config.path, 'processes')
  // Computed once, because there may be thousands of agents.
  let environment: ReturnType<typeof childEnvironment> | null = null
  return {
    of(agent) {
      environment ??= childEnvironment(config.variables)
      const folder = join(config.path, 'agents', encodeURIComponent(agent).replaceAll('.', '%2E'))
      return { environment, records, folder, base: config.base }
    },
    async reap() {
      const { existsSync } = await import('node:fs')
      if (!existsSync(records)) return
      const { reapProcesses } = await import('../kit/processes/index.ts')
      await reapProcesses(records, deps)
    },
  }
}
