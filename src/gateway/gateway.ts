// Assembles the gateway: platforms, agents, and intake, dispatcher and outlet between them. It applies a new
// configuration: changed parts are restarted, unchanged ones are left alone.

import {
  type Cancel,
  type ChannelServers,
  type Clock,
  type ConnectorModule,
  createSerial,
  type HostEndpoint,
  type IntegrationCredentials,
  type Logger,
  type NodeReport,
  type PlatformModule,
  type ProcessPlace,
  type Random,
  type ServiceToolSource,
  type Settings,
  type Store,
  type ToolActions,
} from '../contract/index.ts'
import type { Approvals } from '../core/approvals/approvals.ts'
import { keepSettlingClock } from '../core/clock-set-back.ts'
import type { Cluster } from '../core/cluster/cluster.ts'
import { keepEndingRemoved } from '../core/dispatch/agent/removed-agents.ts'
import type { Dispatcher } from '../core/dispatch/dispatcher.ts'
import type { Intake } from '../core/inbound/intake.ts'
import { keepDoing } from '../core/keep-doing.ts'
import type { Links } from '../core/links.ts'
import type { Notifier } from '../core/outbound/notify.ts'
import type { OutcomeTimes } from '../core/outbound/open-outcomes.ts'
import type { Outlet } from '../core/outbound/outlet.ts'
import type { Sender } from '../core/outbound/sender.ts'
import type { LiveGrantList } from '../core/people/grant-list.ts'
import type { Roster } from '../core/roster.ts'
import { createScheduler } from '../core/schedules/scheduler.ts'
import type { AskForPerson } from '../core/takeover/ask-for-person.ts'
import type { Takeovers } from '../core/takeover/takeovers.ts'
import type { Tokens } from './access/tokens.ts'
import { assembleDispatcher, assembleTakeovers } from './assemble-dispatcher.ts'
import { assembleIntake } from './assemble-intake.ts'
import { assembleOutbound } from './assemble-outbound.ts'
import { desiredParts } from './desired.ts'
import { keepForgettingFiles } from './files/file-orders.ts'
import { createGatewayState } from './gateway-state.ts'
import { createHostedServers } from './hosted-servers.ts'
import { nextRun } from './next-run.ts'
import { keepPruning } from './retention.ts'

export interface GatewayDeps {
  /** Returns what makes adapters of that name; null: not built. Throws when the module that provides it failed. */
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
  /** The parent folder, whose old files are deleted. Absent: nothing is removed from the disk. */
  readonly attachmentsDir?: string
  /** Stores what others gave an integration; absent: nowhere. */
  readonly credentials?: (integration: string) => IntegrationCredentials
  /** Signs data that an integration must recognise later; absent: no such key. */
  readonly signer?: (integration: string) => (text: string) => string
  /** Where agents reach this server; absent: nowhere. */
  readonly publicBase?: () => string
  /** Where an agent's programs may be started; absent: nowhere. */
  readonly processes?: (agent: string) => ProcessPlace
  /** Whether an approver watches the console or an event stream. */
  readonly watched: () => boolean
  /** For connectors whose agents call tools or attach. Absent: they report that. */
  readonly tools?: () => ToolActions
  readonly hosts?: HostEndpoint
  readonly lent?: ServiceToolSource
  /** Connections to channel servers, loaded when the first one is configured. */
  readonly servers?: () => Promise<ChannelServers>
  readonly crashPoint?: (name: string) => void
  /** Replaces the default times for open outcomes, for tests in real time. */
  readonly outcomeTimes?: Partial<OutcomeTimes>
  /** This node's report to the others; absent: its name. */
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
  /** The channel servers hosted here. */
  servers(): ChannelServers | undefined
  /** Why an integration or agent could not be started, by `integration:ID` or `agent:ID`. */
  problems(): ReadonlyMap<string, string>
  start(): Promise<void>
  /** Makes the running parts match the present configuration. */
  apply(): Promise<void>
  /** Before a stop: waits for answers in progress, while everything else continues. */
  finish(): Promise<void>
  stop(): Promise<void>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { store, clock, log, settings } = deps
  const hosted = createHostedServers(deps.servers)
  const state = createGatewayState(deps)
  const outbound = assembleOutbound(deps, state)
  const dispatcher = assembleDispatcher(deps, state, outbound)
  const takeovers = assembleTakeovers(deps, state, outbound, dispatcher)
  const intake = assembleIntake(deps, state, outbound, dispatcher)
  const scheduler = createScheduler({ store, clock, log, settings, nextRun })
  const pipeline = { ...state, ...outbound, dispatcher, intake, hosted }
  const { links, roster, parts, problems, grants, cluster, statusLines } = state
  const { sender, undelivered, approvals, outlet, notifier, askForPerson } = outbound
  const inOrder = createSerial()
  const upkeep: Cancel[] = []
  let started = false
  let stopped = false

  /** A changed agent finishes its hand-overs first, and is then restarted. */
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
    // A person who lost the right by the change loses present holds at once.
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
          store,
          clock,
          log,
          settings,
          cluster,
          approvals,
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
      // The servers stop before their listeners, so that their last messages are stored.
      await hosted.stop()
      await parts.endAll()
      // Last: lanes, leases and hosts are released by then, and other nodes may take them.
      await cluster.stop()
    },
  }
}

// Updates the list of conversations in the background, so that readers find little left to add.

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
