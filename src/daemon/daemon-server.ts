// The server of a daemon: connects the routes of its listener with their handlers. It does not listen yet.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { UserSettings } from '../contract/index.ts'
import { authorize } from '../core/people/authorize.ts'
import type { ConsoleLogin } from '../gateway/access/console-login.ts'
import { createAuthenticate } from '../gateway/access/principals.ts'
import { createRemoteHosts } from '../gateway/access/remote-hosts.ts'
import { createUrlCredentials } from '../gateway/access/url-credentials.ts'
import { createEndpoints } from '../gateway/endpoints.ts'
import { createToolSurface } from '../gateway/tool-surface.ts'
import { statusReport } from '../health/status.ts'
import { addressList } from '../kit/http/address-list.ts'
import type { OperationContext } from '../operations/context.ts'
import type { Watchers } from '../operations/watchers.ts'
import type { Server } from '../server/create-server.ts'
import { createServer } from '../server/index.ts'
import type { AssembledDaemon } from './assemble-daemon.ts'
import type { DaemonAddress } from './daemon-address.ts'
import type { DaemonCredentials } from './daemon-credentials.ts'
import type { Instance } from './open-instance.ts'
import type { Readiness } from './readiness.ts'

/** Earlier than any day with counted tokens. */
const LONG_AGO = '1970-01-01'

export interface DaemonServerDeps {
  readonly credentials: DaemonCredentials
  readonly address: DaemonAddress
  readonly readiness: Readiness
  readonly pipeline: AssembledDaemon
  readonly context: OperationContext
  readonly watchers: Pick<Watchers, 'watch'>
  readonly console: ConsoleLogin
  readonly users: () => readonly UserSettings[]
}

export function createDaemonServer(instance: Instance, deps: DaemonServerDeps): Server {
  const { folder, clock, log, store, settings } = instance
  const { gateway, toolActions, serviceTools, attachments } = deps.pipeline
  const { admin, tokens } = deps.credentials
  const authenticate = createAuthenticate({ adminToken: () => admin.token, tokens, users: deps.users })
  const trusted = createTrustedProxies()
  return createServer(
    { tcp: deps.address.wanted, socketPath: folder.socket },
    {
      clock,
      log,
      settings: () => ({
        maxBodyBytes: settings().tunables.maxBodyBytes,
        publicUrl: settings().server.publicUrl,
        trustsProxy: trusted(settings().server.trustedProxies),
      }),
      status: () => statusReport({ ...deps.context, gateway }),
      watch: deps.watchers.watch,
      endpoints: createEndpoints({ gateway: () => gateway, settings }),
      ...createUrlCredentials({ tokens, gateway: () => gateway, settings, now: () => clock.now() }),
      ready: deps.readiness.report,
      note: (notes) => store.note(notes),
      ...{ authenticate, authorize, console: deps.console },
      operations: async () => {
        const { OPERATIONS, withContext } = await import('../operations/index.ts')
        return withContext(OPERATIONS, deps.context)
      },
      attach: createRemoteHosts({
        ...{ clock, tokens, authenticate, store, accept: attachments.accept },
        isAgent: (id) => settings().agents.some((agent) => agent.id === id),
      }),
      mcp: createToolSurface({
        actions: toolActions,
        tokens,
        settings,
        log,
        services: serviceTools,
        roster: gateway.roster,
      }),
      probeKey: deps.address.probeKey,
      adminTokenConfigured: () => admin.configured,
      metrics: { counters: () => store.counters(), usage: () => store.usage(LONG_AGO) },
      webRoot: webRoot(),
    },
  )
}

/** Parses the list once per configuration, not per request. */
function createTrustedProxies() {
  let read: { readonly from: readonly string[]; readonly trusts: (address: string) => boolean } | null = null
  return (networks: readonly string[] | undefined) => {
    if (networks === undefined) return undefined
    if (read?.from !== networks) read = { from: networks, trusts: addressList(networks) }
    return read.trusts
  }
}

/** Finds the built pages: beside the compiled code, or in dist/ when it runs from the sources. */
function webRoot(): string | null {
  for (const place of ['../web', '../../dist/web']) {
    const path = fileURLToPath(new URL(place, import.meta.url))
    if (existsSync(`${path}/index.html`)) return path
  }
  return null
}
