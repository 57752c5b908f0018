// The river, assembled: platforms on one bank, agents on the other, intake and outlet between them. A new
// configuration is applied here: what changed is stopped and started, what did not is left alone.
import {
  type Cancel,
  type ChannelServers,
  type Clock,
  type ConnectorModule,
  type CredentialShelf,
  type HostDoor,
  integrationById,
  type LentToolDoor,
  type Logger,
  type NewSend,
  type NodeReport,
  nodeOf,
  type PlatformModule,
  type ProcessPlace,
  type Random,
  type Settings,
  type Store,
  type ToolDesk,
} from '../contract/index.ts'
import { type Approvals, createApprovals } from '../core/approvals/approvals.ts'
import { keepSettlingClock } from '../core/clock-set-back.ts'
import { type Cluster, createCluster } from '../core/cluster/cluster.ts'
import { createDispatcher, type Dispatcher } from '../core/dispatch/dispatcher.ts'
import { createFailureNotes } from '../core/dispatch/failure-notes.ts'
import { createPressure } from '../core/dispatch/pressure.ts'
import { keepEndingRemoved } from '../core/dispatch/removed-agents.ts'
import { createRoster, type Roster } from '../core/dispatch/roster.ts'
import { createIntake, type Intake } from '../core/inbound/intake.ts'
import { createFailedLater } from '../core/outbound/failed-later.ts'
import { giveBackClaim } from '../core/outbound/give-back.ts'
import {
  ackReaction,
  canSpeak,
  createLinks,
  isOneWay,
  type Links,
  promptLimitOf,
  tellsLimits,
} from '../core/outbound/links.ts'
import { createNotifier, type Notifier } from '../core/outbound/notify.ts'
import { createNotifyOn } from '../core/outbound/notify-on.ts'
import { createOutlet, type Outlet } from '../core/outbound/outlet.ts'
import { createSender, type Sender } from '../core/outbound/sender.ts'
import { createStatusLines } from '../core/outbound/status-lines.ts'
import { createStreams } from '../core/outbound/streams.ts'
import { createAdmission } from '../core/people/admission.ts'
import { createGrantBook, type LiveGrantBook } from '../core/people/grant-book.ts'
import { usersInForce } from '../core/people/users.ts'
import { createScheduler } from '../core/schedules/scheduler.ts'
import { createSharedLimits } from '../core/shared-limits.ts'
import { type SignalSink, tellTurnState } from '../core/signals.ts'
import { type AskForPerson, createAskForPerson } from '../core/takeover/ask-for-person.ts'
import { createMayHold } from '../core/takeover/may-hold.ts'
import { createTakeovers, type Takeovers } from '../core/takeover/takeovers.ts'
import { createSerial } from '../kit/index.ts'
import { splitMarkdown } from '../kit/markdown/index.ts'
import { keepForgettingFiles } from './file-orders.ts'
import { keepGathering } from './gathering.ts'
import { createHostedServers } from './hosted-servers.ts'
import { linkReports } from './link-reports.ts'
import { nextRun } from './next-run.ts'
import { createParts } from './parts.ts'
import { keepPruning } from './retention.ts'
import { createSignalRelay } from './signal-relay.ts'
import { endPart } from './start-parts.ts'
import type { Tokens } from './tokens.ts'
import { createUtilization } from './utilization.ts'
import { wantedParts } from './wanted-parts.ts'

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
  readonly credentials?: (integration: string) => CredentialShelf
  /** Where agents reach this server; absent: nowhere. */
  readonly publicBase?: () => string
  /** Where an agent's programs may be started; absent: nowhere. */
  readonly processes?: (agent: string) => ProcessPlace
  readonly watched: () => boolean
  /** What connectors whose agents call tools or attach need; absent: they are told so. */
  readonly tools?: () => ToolDesk
  readonly hosts?: HostDoor
  readonly lent?: LentToolDoor
  /** Connections to channel servers; asked for when the first one is configured. */
  readonly servers?: () => Promise<ChannelServers>
  readonly crashPoint?: (name: string) => void
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
  readonly grants: LiveGrantBook
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
  stop(): Promise<void>
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { store, clock, log, settings } = deps
  const roster = createRoster(clock)
  const links = createLinks()
  const grants = createGrantBook(store, log)
  const parts = createParts({ clock, log, end: (key) => endPart(key, { links, roster }) })
  const { problems } = parts
  const hosted = createHostedServers(deps.servers)
  const inOrder = createSerial()
  let started = false
  let stopPruning: Cancel = () => undefined
  let stopForgetting: Cancel = () => undefined
  let stopClockWatch: Cancel = () => undefined
  let stopEnding: Cancel = () => undefined
  let stopWatch: Cancel = () => undefined
  let stopGathering: Cancel = () => undefined
  const crashPoint = deps.crashPoint ? { crashPoint: deps.crashPoint } : {}

  const relay = createSignalRelay({ store, clock, log, links, cluster: () => cluster })
  const signal: SignalSink = (to, told) => {
    relay.signal(to, told)
    statusLines.heard(to, told)
  }
  const sharedLimits = createSharedLimits({ store, log })
  const bornAt = clock.now()
  const cluster = createCluster({
    store,
    clock,
    log,
    roster,
    report: () => ({
      ...{ version: '', startedAt: bornAt, url: '', skewMs: 0 },
      ...deps.self?.(),
      node: nodeOf(store.owner),
      digest: settings().digest,
      watched: deps.watched(),
      ...linkReports(links, settings(), problems),
    }),
  })
  const say = (sends: readonly NewSend[]) => outlet.put(sends)
  const admission = createAdmission({
    ...{ store, clock, settings, grants, cluster },
    admitsNow: (integration) => links.get(integration)?.adapter.admitsNow?.() ?? true,
    sendersAreNoChats: (integration) => links.get(integration)?.adapter.abilities.sendersAreNoChats === true,
  })
  const statusLines = createStatusLines({
    ...{ store, clock, log, links, cluster },
    mayShow: async (row) => (await admission.ofTurn(row)) === 'admitted',
  })
  const pressure = createPressure({ store, clock, utilization: createUtilization() })
  const failures = createFailureNotes({ store, clock, log })
  const dispatcher = createDispatcher({
    store,
    clock,
    log,
    pressure,
    settings,
    ...{ roster, cluster, signal, say },
    canSpeak: (integration) => canSpeak(links, integration),
    ackReaction: (row) => {
      const emoji =
        integrationById(settings(), row.integration)?.ackReaction ?? settings().tunables.ackReaction
      return ackReaction(row, emoji, links.get(row.integration))
    },
    ended: (row, end) => notifyOn(row, end),
    failures,
    admission,
    prepareToken: deps.tokens.prepare,
    onTakenOver: (turn) => void streams.ended(turn),
    onRevoked: (row) => withdraw(row.agent ?? '', [row.id]),
    // A host with a dialog of its own waits on.
    onAskerOver: ({ agent, id }) => {
      if (agent !== null && roster.get(agent)?.connector.holdsDecisions) withdraw(agent, [id])
    },
    onRejected: (row) => {
      if (row.session === null) return
      giveBackClaim(store, row).catch((thrown) =>
        log.warn({ turn: row.id, error: String(thrown) }, 'a claim was not given back'),
      )
    },
    ...crashPoint,
  })
  const jitter = () => (deps.random.bytes(1)[0] ?? 0) / 255
  const sender = createSender({
    store,
    clock,
    log,
    pressure,
    settings,
    links,
    cluster,
    jitter,
    refusedNow: admission.ofSend,
    streams: {
      shown: (row, ids) => streams.shown(row, ids),
      written: (turn) => streams.written(turn),
      ended: (turn) => streams.ended(turn),
    },
    ...crashPoint,
  })
  const outlet = createOutlet({
    store,
    sharedLimits,
    clock,
    random: deps.random,
    settings,
    links,
    sender,
    settle: dispatcher.settle,
    split: splitMarkdown,
    problemOf: (integration) => problems.get(`integration:${integration}`),
  })
  const streams = createStreams({ store, clock, log, links, outlet, signal, admission })
  const notifyOn = createNotifyOn({ store, log, settings, grants, links, outlet })
  const notifier = createNotifier({ store, settings, grants, links, outlet })
  const scheduler = createScheduler({ store, clock, log, settings, nextRun })
  const approvals = createApprovals({
    store,
    clock,
    random: deps.random,
    log,
    settings,
    roster,
    cluster,
    links,
    grants,
    say,
    watched: () => deps.watched() || cluster.isObservedElsewhere(),
  })
  const withdraw = (agent: string, turns: readonly string[]) =>
    void approvals
      .withdraw(agent, turns)
      .catch((thrown) => log.warn({ error: String(thrown) }, 'approvals stay open'))
  const askForPerson = createAskForPerson({ store, log, settings, grants, links, outlet })
  const takeovers = createTakeovers({
    ...{ store, clock, log, settings, links, outlet },
    mayHold: createMayHold({ store, clock, users: () => usersInForce(settings(), grants) }),
    onTaken(agent, turns) {
      for (const turn of turns) void streams.ended(turn)
      dispatcher.abandon(agent, turns)
      withdraw(agent, turns)
    },
  })
  const intake: Intake = createIntake({
    ...{ store, sharedLimits, clock, log, settings, grants },
    random: deps.random,
    tellsLimits: (integration) => tellsLimits(links, integration),
    textLimit: (integration) => promptLimitOf(links.get(integration)),
    isOneWay: (integration) => isOneWay(links, integration),
    keepsHistory: (integration) => links.get(integration)?.adapter.history !== undefined,
    tellsDeletions: (integration) => links.get(integration)?.adapter.abilities.deletes === true,
    canEdit: (integration) => links.get(integration)?.adapter.abilities.edits ?? false,
    textAsFile: (integration) => links.get(integration)?.adapter.abilities.textAsFile ?? false,
    reach() {
      const ids = settings().agents.map(({ id }) => id)
      return {
        attached: ids.filter((id) => cluster.reaches(id)),
        stoppable: ids.filter((id) => roster.get(id)?.connector.cancel !== undefined),
      }
    },
    failedLater: createFailedLater({
      ...{ store, log, settings, grants, links, outlet },
      noticed: failures.noticed,
    }),
    onAsked: (takeover) => void askForPerson.told(takeover),
    onStop(agent, turns) {
      dispatcher.abandon(agent, turns)
      withdraw(agent, turns)
    },
    onWithdrawn(turns) {
      for (const id of turns)
        void store
          .turn(id)
          .then((row) => row && tellTurnState(signal, row, row.state, row.reason ?? undefined))
          .catch((thrown) => log.info({ turn: id, error: String(thrown) }, 'nobody is told that it ended'))
    },
  })

  const river = {
    links,
    roster,
    cluster,
    grants,
    intake,
    relay,
    signal,
    hosted,
    outlet,
    dispatcher,
    approvals,
    streams,
    admission,
  }
  const applyNow = async () => {
    const release = await hosted.apply(settings()).catch((thrown) => {
      log.error({ error: String(thrown) }, 'channel servers could not be started')
      return () => undefined
    })
    try {
      await parts.match(await wantedParts(deps, river))
      for (const link of links.all()) link.adapter.reconsider?.()
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
      stopClockWatch = await keepSettlingClock({ store, clock, log })
      dispatcher.start()
      sender.start()
      approvals.start()
      statusLines.start()
      stopWatch = takeovers.start()
      stopGathering = keepGathering({ store, clock, log })
      started = true
      scheduler.start()
      stopEnding = keepEndingRemoved({
        ...{ store, clock, log, settings, cluster, approvals },
        giveUp: dispatcher.giveUpRemoved,
      })
      stopForgetting = keepForgettingFiles({ store, clock, log, links })
      const { attachmentsDir: attachments } = deps
      stopPruning = keepPruning({ store, clock, log, attachments, tunables: () => settings().tunables })
    },
    async stop() {
      stopPruning()
      stopForgetting()
      stopClockWatch()
      stopEnding()
      stopWatch()
      stopGathering()
      scheduler.stop()
      approvals.stop()
      await dispatcher.stop()
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
