// Assembles the dispatcher, which brings turns to agents, and the takeovers, which take turns from them.
import { defined, integrationById } from '../contract/index.ts'
import { createDispatcher, type Dispatcher } from '../core/dispatch/dispatcher.ts'
import { ackReaction, canSpeak, isOneWay } from '../core/links.ts'
import { giveBackClaim } from '../core/outbound/give-back.ts'
import { usersInForce } from '../core/people/users.ts'
import { createMayHold } from '../core/takeover/may-hold.ts'
import { createTakeovers, type Takeovers } from '../core/takeover/takeovers.ts'
import type { AssembledOutbound } from './assemble-outbound.ts'
import type { GatewayDeps } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'

export function assembleDispatcher(
  deps: GatewayDeps,
  state: GatewayState,
  outbound: AssembledOutbound,
): Dispatcher {
  const { store, clock, log, settings } = deps
  const { roster, links, cluster, signal, admission, pressure, failures } = state
  const { outlet, notifyOn, streams, withdraw } = outbound
  return createDispatcher({
    store,
    clock,
    log,
    pressure,
    settings,
    roster,
    cluster,
    signal,
    say: outlet.put,
    canSpeak: (integration) => canSpeak(links, integration),
    isOneWay: (integration) => isOneWay(links, integration),
    instructionsOf(integration) {
      const channel = links.get(integration)?.adapter.channel
      const text = channel?.instructions() ?? null
      return channel && text !== null ? { server: channel.server, text } : undefined
    },
    ackReaction: (row) => {
      const emoji =
        integrationById(settings(), row.integration)?.ackReaction ?? settings().tunables.ackReaction
      return ackReaction(row, emoji, links.get(row.integration))
    },
    ended: notifyOn,
    failures,
    admission,
    prepareToken: deps.tokens.prepare,
    onInterrupted: (row) => void streams.interrupted(row),
    onTakenOver: (turn) => void streams.ended(turn),
    onRevoked: (row) => withdraw(row.agent ?? '', [row.id]),
    // A host with a dialog of its own keeps waiting.
    onAskerOver: ({ agent, id }) => {
      if (agent !== null && roster.get(agent)?.connector.holdsDecisions) withdraw(agent, [id])
    },
    onRejected: (row) => {
      if (row.session === null) return
      giveBackClaim(store, row).catch((thrown) =>
        log.warn({ turn: row.id, error: String(thrown) }, 'a claim was not given back'),
      )
    },
    ...defined({ crashPoint: deps.crashPoint }),
  })
}

export function assembleTakeovers(
  deps: GatewayDeps,
  { grants, links }: GatewayState,
  { outlet, streams, withdraw }: AssembledOutbound,
  dispatcher: Dispatcher,
): Takeovers {
  const { store, clock, log, settings } = deps
  return createTakeovers({
    store,
    clock,
    log,
    settings,
    links,
    outlet,
    mayHold: createMayHold({ store, clock, users: () => usersInForce(settings(), grants) }),
    onTaken(agent, turns) {
      for (const turn of turns) void streams.ended(turn)
      dispatcher.abandon(agent, turns)
      withdraw(agent, turns)
    },
  })
}
