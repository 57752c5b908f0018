// Assembles the outbound side: messages of agents, people and Switchboard itself, answers in progress, questions to
// people, and takeovers.
import { defined } from '../contract/index.ts'
import { type Approvals, createApprovals } from '../core/approvals/approvals.ts'
import type { Dispatcher } from '../core/dispatch/dispatcher.ts'
import { createNotifier, type Notifier } from '../core/outbound/notify.ts'
import { createNotifyOn, type NotifyOn } from '../core/outbound/notify-on.ts'
import { createOutlet, type Outlet } from '../core/outbound/outlet.ts'
import { createSender, type Sender } from '../core/outbound/sender.ts'
import { createStreams, type Streams } from '../core/outbound/streams.ts'
import { createUndelivered, type Undelivered } from '../core/outbound/undelivered.ts'
import { usersInForce } from '../core/people/users.ts'
import { createAskForPerson, type PersonRequests } from '../core/takeover/ask-for-person.ts'
import { createMayHold } from '../core/takeover/may-hold.ts'
import { createTakeovers, type Takeovers } from '../core/takeover/takeovers.ts'
import { splitText } from '../kit/markdown/index.ts'
import type { GatewayDeps } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'

export interface AssembledOutbound {
  readonly sender: Sender
  readonly undelivered: Undelivered
  readonly outlet: Outlet
  readonly streams: Streams
  readonly notifyOn: NotifyOn
  readonly notifier: Notifier
  readonly approvals: Approvals
  /** Withdraws the questions of these turns, which need no answer any more. */
  withdraw(agent: string, turns: readonly string[]): void
  readonly askForPerson: PersonRequests['askForPerson']
  readonly tellWhoMayHold: PersonRequests['tellWhoMayHold']
  readonly takeovers: Takeovers
}

export function assembleOutbound(
  deps: GatewayDeps,
  ground: GatewayState,
  {
    dispatcher,
    problems,
  }: { readonly dispatcher: Dispatcher; readonly problems: ReadonlyMap<string, string> },
): AssembledOutbound {
  const { store, clock, log, settings } = deps
  const { roster, links, grants, cluster, signal, sharedLimits, admission, pressure, failures } = ground
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
    undelivered() {
      failures.noticed()
      undelivered.noticed()
    },
    ...defined({ crashPoint: deps.crashPoint, outcomeTimes: deps.outcomeTimes }),
  })
  const undelivered = createUndelivered({ store, clock, log })
  const outlet = createOutlet({
    store,
    sharedLimits,
    clock,
    random: deps.random,
    settings,
    links,
    sender,
    settle: dispatcher.settle,
    split: splitText,
    problemOf: (integration) => problems.get(`integration:${integration}`),
  })
  const streams = createStreams({ store, clock, log, settings, links, outlet, signal, admission })
  const notifyOn = createNotifyOn({ store, log, settings, grants, links, outlet })
  const notifier = createNotifier({ store, settings, grants, links, outlet })
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
    say: (sends) => outlet.put(sends),
    watched: () => deps.watched() || cluster.isObservedElsewhere(),
    ...defined({ crashPoint: deps.crashPoint }),
  })
  const withdraw = (agent: string, turns: readonly string[]) =>
    void approvals
      .withdraw(agent, turns)
      .catch((thrown) => log.warn({ error: String(thrown) }, 'approvals stay open'))
  const persons = createAskForPerson({ store, log, settings, grants, links, outlet })
  const takeovers = createTakeovers({
    ...{ store, clock, log, settings, links, outlet },
    mayHold: createMayHold({ store, clock, users: () => usersInForce(settings(), grants) }),
    onTaken(agent, turns) {
      for (const turn of turns) void streams.ended(turn)
      dispatcher.abandon(agent, turns)
      withdraw(agent, turns)
    },
  })

  return {
    sender,
    undelivered,
    outlet,
    streams,
    notifyOn,
    notifier,
    approvals,
    withdraw,
    ...persons,
    takeovers,
  }
}
