// The shared state of the gateway: running parts, attached agents, links, grants, nodes, and the target of signals.
import { performance } from 'node:perf_hooks'
import { nodeOf } from '../contract/index.ts'
import { type Cluster, createCluster } from '../core/cluster/cluster.ts'
import { createFailureNotes, type FailureNotes } from '../core/dispatch/failure-notes.ts'
import { createPressure, type Pressure } from '../core/lanes/pressure.ts'
import { createLinks, type Links } from '../core/links.ts'
import { isRecipient } from '../core/outbound/recipients.ts'
import { createStatusLines, type StatusLines } from '../core/outbound/status-lines.ts'
import { type Admission, createAdmission } from '../core/people/admission.ts'
import { createGrantList, type LiveGrantList } from '../core/people/grant-list.ts'
import { createRoster, type Roster } from '../core/roster.ts'
import { createSharedLimits, type SharedLimits } from '../core/shared-limits.ts'
import type { SignalSink } from '../core/signals.ts'
import type { GatewayDeps } from './gateway.ts'
import { linkReports } from './link-reports.ts'
import { createParts, type Parts } from './running.ts'
import { createSignalRelay, type SignalRelay } from './signal-relay.ts'
import { endPart } from './start-integrations.ts'

export interface GatewayState {
  readonly roster: Roster
  readonly links: Links
  readonly parts: Parts
  /** Why an integration or agent does not run, by `integration:ID` or `agent:ID`. */
  readonly problems: ReadonlyMap<string, string>
  readonly grants: LiveGrantList
  readonly relay: SignalRelay
  readonly signal: SignalSink
  readonly statusLines: StatusLines
  readonly sharedLimits: SharedLimits | null
  readonly cluster: Cluster
  readonly admission: Admission
  readonly pressure: Pressure
  readonly failures: FailureNotes
}

export function createGatewayState(deps: GatewayDeps): GatewayState {
  const { store, clock, log, settings } = deps
  const roster = createRoster(clock)
  const links = createLinks()
  const parts = createParts({ clock, log, end: (key) => endPart(key, { links, roster }) })
  const { problems } = parts
  const grants = createGrantList(store, log)
  const sharedLimits = createSharedLimits({ store, log })
  const bornAt = clock.now()
  const cluster = createCluster({
    store,
    clock,
    log,
    roster,
    report: () => ({
      version: '',
      startedAt: bornAt,
      url: '',
      skewMs: 0,
      ...deps.self?.(),
      node: nodeOf(store.owner),
      digest: settings().digest,
      watched: deps.watched(),
      ...linkReports(links, settings(), problems),
    }),
  })
  const relay = createSignalRelay({ store, clock, log, links, cluster })
  const admission = createAdmission({
    store,
    clock,
    settings,
    grants,
    cluster,
    admitsNow: (integration) => links.get(integration)?.adapter.channel?.admitsNow() ?? true,
    isRecipient: (row) => isRecipient({ settings, grants, links }, row),
    senderIdIsNotAChat: (integration) =>
      links.get(integration)?.adapter.abilities.senderIdIsNotAChat === true,
  })
  const statusLines = createStatusLines({
    store,
    clock,
    log,
    links,
    cluster,
    mayShow: async (row) => (await admission.ofTurn(row)) === 'admitted',
  })
  const signal: SignalSink = (to, about) => {
    relay.signal(to, about)
    statusLines.heard(to, about)
  }
  const pressure = createPressure({ store, clock, utilization: createUtilization() })
  const failures = createFailureNotes({ store, clock, log })

  return {
    roster,
    links,
    parts,
    problems,
    grants,
    relay,
    signal,
    statusLines,
    sharedLimits,
    cluster,
    admission,
    pressure,
    failures,
  }
}

// How busy the event loop was since the last call: the share of time in which it did not idle.

function createUtilization(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
