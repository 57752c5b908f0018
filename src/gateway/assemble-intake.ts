// Assembles the intake, with the facts that it needs about each integration's link.
import type { Dispatcher } from '../core/dispatch/dispatcher.ts'
import { createIntake, type Intake } from '../core/inbound/intake.ts'
import { isOneWay, promptLimitOf, tellsLimits } from '../core/links.ts'
import { createFailedLater } from '../core/outbound/failed-later.ts'
import { tellTurnState } from '../core/signals.ts'
import type { AssembledOutbound } from './assemble-outbound.ts'
import type { GatewayDeps } from './gateway.ts'
import type { GatewayState } from './gateway-state.ts'

export function assembleIntake(
  deps: GatewayDeps,
  state: GatewayState,
  { outlet, tellWhoMayHold, withdraw }: AssembledOutbound,
  dispatcher: Dispatcher,
): Intake {
  const { store, clock, log, settings } = deps
  const { roster, links, grants, cluster, signal, sharedLimits, failures } = state
  return createIntake({
    store,
    sharedLimits,
    clock,
    log,
    settings,
    grants,
    random: deps.random,
    tellsLimits: (integration) => tellsLimits(links, integration),
    promptLimit: (integration) => promptLimitOf(links.get(integration)),
    isOneWay: (integration) => isOneWay(links, integration),
    isChannelServer: (integration) => links.get(integration)?.adapter.channel !== undefined,
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
      store,
      log,
      settings,
      grants,
      links,
      outlet,
      noticed: failures.noticed,
    }),
    onAsked: (takeover) => void tellWhoMayHold(takeover),
    onStop(agent, turns) {
      dispatcher.abandon(agent, turns)
      withdraw(agent, turns)
    },
    onWithdrawn(turns) {
      for (const id of turns)
        void store
          .turn(id)
          .then((row) => row && tellTurnState(signal, row, row.state, row.reason ?? undefined))
          .catch((thrown) => log.info({ turn: id, error: String(thrown) }, 'the end of a turn was not shown'))
    },
  })
}
