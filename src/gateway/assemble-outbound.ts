// Assembles the outbound side: messages of agents, people and Switchboard itself, answers in progress, and questions to
// people. It knows nothing of the dispatcher, which comes after it.
import { defined } from '../contract/index.ts'
import { type Approvals, createApprovals } from '../core/approvals/approvals.ts'
import { createNotifier, type Notifier } from '../core/outbound/notify.ts'
import { createNotifyOn, type NotifyOn } from '../core/outbound/notify-on.ts'
import { createOutlet, type Outlet } from '../core/outbound/outlet.ts'
import { createSendWaiters } from '../core/outbound/send-waiters.ts'
import { createSender, type Sender } from '../core/outbound/sender.ts'
import { createStreams, type Streams } from '../core/outbound/streams.ts'
import { createUndelivered, type Undelivered } from '../core/outbound/undelivered.ts'
import { createAskForPerson, type PersonRequests } from '../core/takeover/ask-for-person.ts'
import { splitText } from '../kit/markdown/index.ts'
import type { GatewayDeps } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'

export interface AssembledOutbound {
  readonly outlet: Outlet
  readonly streams: Streams
  readonly undelivered: Undelivered
  readonly sender: Sender
  readonly notifyOn: NotifyOn
  readonly notifier: Notifier
  readonly approvals: Approvals
  /** Withdraws the questions of these turns, which need no answer any more. */
  withdraw(agent: string, turns: readonly string[]): void
  readonly askForPerson: PersonRequests['askForPerson']
  readonly tellWhoMayHold: PersonRequests['tellWhoMayHold']
}

export function assembleOutbound(deps: GatewayDeps, state: GatewayState): AssembledOutbound {
  const { store, clock, random, log, settings } = deps
  const { roster, links, problems, grants, cluster, signal, sharedLimits, admission, pressure, failures } =
    state
  const waiters = createSendWaiters(store, clock)
  const outlet = createOutlet({
    store,
    sharedLimits,
    clock,
    random,
    settings,
    links,
    waiters,
    split: splitText,
    problemOf: (integration) => problems.get(`integration:${integration}`),
  })
  const streams = createStreams({ store, clock, log, settings, links, outlet, signal, admission })
  const undelivered = createUndelivered({ store, clock, log })
  const sender = createSender({
    store,
    clock,
    log,
    pressure,
    settings,
    links,
    cluster,
    waiters,
    streams,
    jitter: () => (random.bytes(1)[0] ?? 0) / 255,
    refusedNow: admission.ofSend,
    undelivered() {
      failures.noticed()
      undelivered.noticed()
    },
    ...defined({ crashPoint: deps.crashPoint, outcomeTimes: deps.outcomeTimes }),
  })
  const notifyOn = createNotifyOn({ store, log, settings, grants, links, outlet })
  const notifier = createNotifier({ store, settings, grants, links, outlet })
  const approvals = createApprovals({
    store,
    clock,
    random,
    log,
    settings,
    roster,
    cluster,
    links,
    grants,
    say: outlet.put,
    watched: () => deps.watched() || cluster.isObservedElsewhere(),
    ...defined({ crashPoint: deps.crashPoint }),
  })
  const { askForPerson, tellWhoMayHold } = createAskForPerson({ store, log, settings, grants, links, outlet })

  return {
    outlet,
    streams,
    undelivered,
    sender,
    notifyOn,
    notifier,
    approvals,
    withdraw(agent, turns) {
      approvals
        .withdraw(agent, turns)
        .catch((thrown) => log.warn({ error: String(thrown) }, 'approvals stay open'))
    },
    askForPerson,
    tellWhoMayHold,
  }
}
