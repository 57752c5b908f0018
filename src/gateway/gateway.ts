// The pipeline, assembled: platforms on one bank, agents on the other, intake and outlet between them. A new
// configuration is applied here: what changed is stopped and started, what did not is left alone.

import {
  type Cancel,
  type ChannelServers,
  type Clock,
  type ConnectorModule,
  createSerial,
  type HostEndpoint,
  type IntegrationCredentials,
  type LentToolSource,
  type Logger,
  type NodeReport,
  type PlatformModule,
  type ProcessPlace,
  type Random,
  type Settings,
  type Store,
  type ToolDesk,
} from '../contract/index.ts'
import type { Approvals } from '../core/approvals/approvals.ts'
import { keepSettlingClock } from '../core/clock-set-back.ts'
import type { Cluster } from '../core/cluster/cluster.ts'
import { keepEndingRemoved } from '../core/dispatch/agent/removed-agents.ts'
import type { Roster } from '../core/dispatch/agent/roster.ts'
import type { Dispatcher } from '../core/dispatch/dispatcher.ts'
import type { Intake } from '../core/inbound/intake.ts'
import { keepDoing } from '../core/keep-doing.ts'
import type { Links } from '../core/outbound/links.ts'
import type { Notifier } from '../core/outbound/notify.ts'
import type { OutcomeTimes } from '../core/outbound/open-outcomes.ts'
import type { Outlet } from '../core/outbound/outlet.ts'
import type { Sender } from '../core/outbound/sender.ts'
import type { LiveGrantList } from '../core/people/grant-list.ts'
import { createScheduler } from '../core/schedules/scheduler.ts'
import type { AskForPerson } from '../core/takeover/ask-for-person.ts'
import type { Takeovers } from '../core/takeover/takeovers.ts'
import type { Tokens } from './access/tokens.ts'
import { assembleDispatcher } from './assemble-dispatcher.ts'
import { assembleIntake } from './assemble-intake.ts'
import { assembleOutbound } from './assemble-outbound.ts'
import { desiredParts } from './desired.ts'
import { keepForgettingFiles } from './files/file-orders.ts'
import { createGatewayState } from './gateway-state.ts'
import { createHostedServers } from './hosted-servers.ts'
import { nextRun } from './next-run.ts'
import { keepPruning } from './retention.ts'
import { createParts } from './running.ts'
import { endPart } from './start-integrations.ts'

export interface GatewayDeps {
  /** What makes adapters of that name; null: it is not built. Throws when the module that would bring it failed. */
  readonly platform: (name: string) => Promise<Pick<PlatformModule, 'create'> | null>
  readonly connector: (name: string) => Promise<Pick<ConnectorModule, 'create'> | null>
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly tokens: Tokens
  readonly settings: () => Settings
  readonly secret: (reference: string) => string
  readonly filesDir: (integration: string) => string
  /** The folder above those: what is old in it goes. Absent: nothing is removed from the disk. */
  readonly attachmentsDir?: string
  /** Where others keep what they gave an integration; absent: nowhere. */
  readonly credentials?: (integration: string) => IntegrationCredentials
  /** Signs what an integration must know for its own when it comes back; absent: an integration has no such key. */
  readonly signer?: (integration: string) => (text: string) => string
  /** Where agents reach this server; absent: nowhere. */
  readonly publicBase?: () => string
  /** Where an agent's programs may be started; absent: nowhere. */
  readonly processes?: (agent: string) => ProcessPlace
  /** Whether an approver looks at the console or an event stream. */
  readonly watched: () => boolean
  /** What connectors whose agents call tools or attach need; absent: they are told so. */
  readonly tools?: () => ToolDesk
  readonly hosts?: HostEndpoint
  readonly lent?: LentToolSource
  /** Connections to channel servers; asked for when the first one is configured. */
  readonly servers?: () => Promise<ChannelServers>
  readonly crashPoint?: (name: string) => void
  /** Other times than the usual ones for sends whose outcome is open: tests in real time cut them. */
  readonly outcomeTimes?: Partial<OutcomeTimes>
  /** What this node tells the others of itself; absent: its name. */
  readonly self?: () => Pick<NodeReport, 'version' | 'startedAt' | 'url' | 'skewMs'>
}

export interface Gateway {
  readonly links: Links
  readonly roster: Roster
  readonly cluster: Cluster
  readonly sender: Sender
  readonly approvals: Approvals
  readonly dispatcher: Dispatcher
  readonly grants: LiveGrantList
  readonly outlet: Outlet
  readonly notifier: Notifier
  readonly takeovers: Takeovers
  readonly askForPerson: AskForPerson
  /** Starts a schedule now; null: there is none. */
  runSchedule(agent: string, schedule: string): Promise<string | null>
  readonly intake: Intake
  /** The channel servers that are hosted here. */
  servers(): ChannelServers | undefined
  /** Why an integration or agent could not be started, by `integration:ID` or `agent:ID`. */
  problems(): ReadonlyMap<string, string>
  start(): Promise<void>
  /** Makes the running parts match the present configuration. */
  apply(): Promise<void>
  /** Before a stop: waits for answers that are being said, while everything else goes on. */
  finish(): Promise<void>
  stop(): Promise<void>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { store, clock, log, settings } = deps
  const parts = createParts({ clock, log, end: (key) => endPart(key, ground) })
  const { problems } = parts
  const hosted = createHostedServers(deps.servers)
  const ground = createGatewayState(deps, problems)
  const { links, roster, grants, cluster, statusLines } = ground
  const dispatcher = assembleDispatcher(deps, ground, () => wayOut)
  const wayOut = assembleOutbound(deps, ground, { dispatcher, problems })
  const { sender, undelivered, approvals, outlet, notifier, takeovers, askForPerson } = wayOut
  const intake = assembleIntake(deps, ground, { dispatcher, ...wayOut })
  const scheduler = createScheduler({ store, clock, log, settings, nextRun })
  const pipeline = { ...ground, ...wayOut, dispatcher, intake, hosted }
  const inOrder = createSerial()
  const upkeep: Cancel[] = []
  let started = false
  let stopped = false

  /** An agent that changed reads what it is being told to its end, and is started anew then. */
  const isAtWork = (key: string, waiting: Set<string>): boolean => {
    if (!key.startsWith('agent:')) return false
    const agent = key.slice('agent:'.length)
    const finished = dispatcher.finishAgent(agent)
    if (finished === null) return false
    waiting.add(agent)
    const again = () => (stopped ? undefined : inOrder(applyNow))
    void finished
      .then(again)
      .catch((thrown) =>
        log.error({ agent, error: String(thrown) }, 'the agent keeps its former configuration'),
      )
    return true
  }

  const applyNow = async () => {
    const release = await hosted.apply(settings()).catch((thrown) => {
      log.error({ error: String(thrown) }, 'channel servers could not be started')
      return () => undefined
    })
    try {
      const waiting = new Set<string>()
      await parts.match(await desiredParts(deps, pipeline), (key) => isAtWork(key, waiting))
      dispatcher.reopen(waiting)
      for (const link of links.all()) link.adapter.configChanged?.()
    } finally {
      release()
    }
    await sender.review()
    if (started) scheduler.refresh()
    // Whoever lost the right to hold a conversation by it holds none from now on.
    if (started)
      await takeovers
        .sweep()
        .catch((thrown) => log.warn({ error: String(thrown) }, 'takeovers are looked at again later'))
  }

  return {
    links,
    roster,
    cluster,
    sender,
    approvals,
    dispatcher,
    grants,
    outlet,
    notifier,
    takeovers,
    askForPerson,
    runSchedule: scheduler.runNow,
    intake,
    servers: () => hosted.pool(),
    problems: () => problems,
    apply: () => inOrder(applyNow),
    async start() {
      await grants.load()
      await inOrder(applyNow)
      await cluster.start()
      upkeep.push(await keepSettlingClock({ store, clock, log }))
      dispatcher.start()
      sender.start()
      undelivered.start()
      approvals.start()
      statusLines.start()
      upkeep.push(takeovers.start(), refreshConversationList({ store, clock, log }))
      started = true
      scheduler.start()
      const { attachmentsDir: attachments } = deps
      upkeep.push(
        keepEndingRemoved({
          ...{ store, clock, log, settings, cluster, approvals },
          giveUp: dispatcher.giveUpRemoved,
        }),
        keepForgettingFiles({ store, clock, log, links }),
        keepPruning({ store, clock, log, attachments, tunables: () => settings().tunables }),
      )
    },
    finish: () => dispatcher.finish(),
    async stop() {
      stopped = true
      for (const stop of upkeep.splice(0)) stop()
      scheduler.stop()
      approvals.stop()
      await dispatcher.stop()
      undelivered.stop()
      await sender.stop()
      await statusLines.stop()
      // First the servers, then who listens to them: what they say while they end is stored.
      await hosted.stop()
      await parts.endAll()
      // Last: by then lanes, leases and hosts are given back, and the others may have them at once.
      await cluster.stop()
    },
  }
}

// The list of conversations is told of new rows in the background, so that whoever looks finds little left to tell.

const EVERY_MS = 60_000

function refreshConversationList(deps: {
  readonly store: Pick<Store, 'gatherConversations'>
  readonly clock: Clock
  readonly log: Logger
}): Cancel {
  return keepDoing(
    deps.clock,
    EVERY_MS,
    async (stopped) => {
      while (!stopped() && (await deps.store.gatherConversations()));
    },
    (thrown) => deps.log.warn({ error: String(thrown) }, 'conversations could not be listed'),
  )
}
