// Starts and stops a part of the gateway: an adapter with its intake, or a connector with its outlet.
import { type AgentSettings, defined, type IntegrationSettings, nodeOf } from '../contract/index.ts'
import type { Approvals } from '../core/approvals/approvals.ts'
import type { Cluster } from '../core/cluster/cluster.ts'
import { createAgentOutlet } from '../core/dispatch/agent/agent-outlet.ts'
import type { Dispatcher } from '../core/dispatch/dispatcher.ts'
import { watchHistory } from '../core/history/completeness.ts'
import type { Intake } from '../core/inbound/intake.ts'
import type { Links } from '../core/links.ts'
import type { Outlet } from '../core/outbound/outlet.ts'
import type { Streams } from '../core/outbound/streams.ts'
import type { Admission } from '../core/people/admission.ts'
import type { LiveGrantList } from '../core/people/grant-list.ts'
import type { Roster } from '../core/roster.ts'
import type { SignalSink } from '../core/signals.ts'
import { validateConnector, validatePlatform } from '../modules/validate-adapter.ts'
import type { GatewayDeps } from './gateway.ts'
import type { HostedServers } from './hosted-servers.ts'
import { createLinkLease } from './link-lease.ts'
import { platformDeps } from './platform-deps.ts'
import type { Part } from './running.ts'
import type { SignalRelay } from './signal-relay.ts'

/** The parts that run once for the whole gateway. */
export interface Pipeline {
  readonly links: Links
  readonly roster: Roster
  readonly cluster: Cluster
  readonly grants: LiveGrantList
  readonly intake: Intake
  readonly relay: SignalRelay
  readonly signal: SignalSink
  readonly hosted: HostedServers
  readonly outlet: Outlet
  readonly dispatcher: Dispatcher
  readonly approvals: Approvals
  readonly streams: Streams
  readonly admission: Admission
}

/** Returns a starter, or the reason there is nothing to run. */
export async function makeIntegration(
  integration: IntegrationSettings,
  deps: GatewayDeps,
  { links, intake, relay, hosted, grants, cluster }: Pipeline,
): ReturnType<Part['make']> {
  const { store, clock, log } = deps
  if (!integration.enabled) return
  if (integration.problem !== undefined) return integration.problem
  const platform = await deps.platform(integration.platform)
  if (!platform) return `this version has no platform "${integration.platform}"`
  // An embedded database has one daemon, so no lease is needed.
  const lease = store.shared ? createLinkLease(store, integration.id) : null
  const adapter = validatePlatform(
    await platform.create(
      platformDeps(deps, integration, { servers: hosted.pool() ?? null, lease, grants, links, cluster }),
    ),
  )
  return async () => {
    const link = links.add(integration.id, integration.platform, adapter)
    const integrationIntake = intake.of(integration.id, lease?.fence)
    const { crashPoint } = deps
    const watch =
      adapter.history || adapter.link?.probe
        ? watchHistory(link, { store, clock, log, intake, crashPoint })
        : null
    if (watch) link.watch = watch
    await adapter.start(
      {
        async receive(events, options) {
          const receive = () => integrationIntake.receive(events, options)
          const received = await (watch === null ? receive() : watch.inOrder(events, receive))
          link.lastInAt = clock.now()
          for (const { conversation } of events) relay.received(integration.id, conversation)
          return received
        },
        connected: () => watch?.connected(),
      },
      await store.cursor(integration.id),
    )
  }
}

/** Returns a starter, or the reason there is nothing to run. */
export async function makeAgent(
  agent: AgentSettings,
  deps: GatewayDeps,
  { roster, cluster, links, outlet, dispatcher, approvals, signal, streams, admission }: Pipeline,
): ReturnType<Part['make']> {
  const { store, clock, log, settings } = deps
  const module = await deps.connector(agent.connector.type)
  if (!module) return `this version has no connector "${agent.connector.type}"`
  const made = await module.create({
    agent,
    clock,
    random: deps.random,
    log: log.child({ agent: agent.id }),
    secret: deps.secret,
    ...defined({ credentials: deps.credentials }),
    tokens: deps.tokens,
    ...defined({ publicBase: deps.publicBase, tools: deps.tools }),
    journal: {
      steps: (turn) => store.turnSteps(turn),
      add: (step) => store.keepStep(step),
      past: (session, before, limit) => store.pastTurns(session, before, limit),
      spent: (id, day) => store.spentTokens(id, day),
    },
    ...defined({ processes: deps.processes?.(agent.id) }),
    ...defined({ lent: deps.lent, crashPoint: deps.crashPoint, hosts: deps.hosts }),
    isElsewhere: () => cluster.isElsewhere(agent.id),
    ...(store.shared
      ? {
          nodes: {
            self: nodeOf(store.owner),
            isAlive: (node: string) => cluster.nodes().some((one) => one.node === node && one.alive),
          },
        }
      : {}),
  })
  const connector = validateConnector(made)
  return async () => {
    roster.add(agent, connector)
    const outletDeps = {
      store,
      clock,
      log,
      settings,
      roster,
      links,
      outlet,
      dispatcher,
      approvals,
      signal,
      streams,
      admission,
    }
    await connector.start(createAgentOutlet(agent.id, outletDeps))
  }
}

/** `key` as in `desiredParts`. */
export async function endPart(
  key: string,
  { links, roster }: Pick<Pipeline, 'links' | 'roster'>,
): Promise<void> {
  const id = key.slice(key.indexOf(':') + 1)
  if (key.startsWith('agent:')) {
    const post = roster.get(id)
    await post?.connector.stop()
    roster.remove(id)
  } else {
    const link = links.get(id)
    links.remove(id)
    await link?.watch?.stop()
    await link?.adapter.stop()
  }
}
