// The river of a daemon: the gateway with what it gets from the instance, the tools that agents call, the tools that services
// lend them, and the hosts that attach. Nothing of it runs yet.
import { attachmentsFolder } from '../config/instance/data-folder.ts'
import { createCredentialShelf } from '../config/secrets/integration-credentials.ts'
import { defined, type ToolDesk } from '../contract/index.ts'
import { createToolDesk } from '../core/tool-desk/create-tool-desk.ts'
import { type Attachments, createAttachments } from '../gateway/access/attached-hosts.ts'
import type { Tokens } from '../gateway/access/tokens.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { openChannelServers } from '../gateway/open-channel-servers.ts'
import { type AppLentTools, createLentTools } from '../gateway/service-tools.ts'
import type { DeskWatchers } from '../operations/watch-hints.ts'
import { VERSION } from '../runtime/version.ts'
import type { DaemonAddress } from './daemon-address.ts'
import { attachableFiles } from './instance-files.ts'
import type { Instance } from './open-instance.ts'
import { createProcessPlaces, type ProcessPlaces } from './process-places.ts'

export interface DaemonRiver {
  readonly gateway: Gateway
  readonly toolDesk: ToolDesk
  readonly lentTools: AppLentTools
  readonly attachments: Attachments
  readonly processPlaces: ProcessPlaces
}

export function createDaemonRiver(
  instance: Instance,
  deps: { readonly tokens: Tokens; readonly address: DaemonAddress; readonly watchers: DeskWatchers },
): DaemonRiver {
  const { folder, env, adapters, clock, random, log, store, settings, secret, secrets, signer } = instance
  const { tokens, address } = deps
  const watched = () => deps.watchers.size > 0
  const approverWatches = () => [...deps.watchers.values()].some(({ decides }) => decides)
  const credentials = (integration: string) => createCredentialShelf(secrets, integration)
  const attachments = createAttachments({ clock, log, settings, watched })
  const processPlaces = createProcessPlaces(
    { path: folder.path, base: instance.sources.folder, variables: env },
    { clock, log },
  )
  const lentTools = createLentTools({ store, clock, log, settings, credentials })
  const gateway = createGateway({
    tools: () => toolDesk,
    hosts: attachments.door,
    lent: lentTools,
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
  const toolDesk = createToolDesk({
    ...{ store, settings, links, outlet, notifier, dispatcher, roster, askForPerson },
    files: attachableFiles(instance),
    lent: lentTools,
  })
  return { gateway, toolDesk, lentTools, attachments, processPlaces }
}
