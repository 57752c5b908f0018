// Assembles the dispatcher, which brings turns to agents. Its messages go through the outlet.
import { defined, integrationById } from '../contract/index.ts'
import { createDispatcher, type Dispatcher } from '../core/dispatch/dispatcher.ts'
import { giveBackClaim } from '../core/outbound/give-back.ts'
import { ackReaction, canSpeak, isOneWay } from '../core/outbound/links.ts'
import type { AssembledOutbound } from './assemble-outbound.ts'
import type { GatewayDeps } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'

/** The parts of the outbound side that the dispatcher uses. They are created after it. */
type Later = Pick<AssembledOutbound, 'outlet' | 'notifyOn' | 'streams' | 'withdraw'>

export function assembleDispatcher(deps: GatewayDeps, ground: GatewayState, later: () => Later): Dispatcher {
  const { store, clock, log, settings } = deps
  const { roster, links, cluster, signal, admission, pressure, failures } = ground
  return createDispatcher({
    store,
    clock,
    log,
    pressure,
    settings,
    ...{ roster, cluster, signal },
    say: (sends) => later().outlet.put(sends),
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
    ended: (row, end) => later().notifyOn(row, end),
    failures,
    admission,
    prepareToken: deps.tokens.prepare,
    onInterrupted: (row) => void later().streams.interrupted(row),
    onTakenOver: (turn) => void later().streams.ended(turn),
    onRevoked: (row) => later().withdraw(row.agent ?? '', [row.id]),
    // A host with a dialog of its own keeps waiting.
    onAskerOver: ({ agent, id }) => {
      if (agent !== null && roster.get(agent)?.connector.holdsDecisions) later().withdraw(agent, [id])
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
