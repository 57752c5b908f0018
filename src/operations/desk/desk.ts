// The operator's desk at a running daemon: what /api serves and the command line asks.

import type { SecretStore } from '../../config/index.ts'
import {
  type Clock,
  type Desk,
  isoOrNull,
  type Random,
  type Settings,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { usersInForce } from '../../core/people/users.ts'
import type { Tokens } from '../../gateway/access/tokens.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { agentStanding } from '../../health/cluster-view.ts'
import { createDoctor, type DoctorDeps } from '../../health/doctor.ts'
import type { Standing } from '../../health/overview.ts'
import { statusReport } from '../../health/status.ts'
import type { ChorusConnections } from './chorus-connections.ts'
import { createDeskConsole } from './desk-console.ts'
import { createDeskTakeovers } from './desk-conversations.ts'
import { createDeskHooks, type DeskHooksDeps } from './desk-hooks.ts'
import { createDeskPairing } from './desk-pairing.ts'
import { createDeskSending, type DeskSendingDeps } from './desk-sending.ts'
import { createEraser } from './people-data.ts'
import { fileBytes } from './person-files.ts'
import { createStoreDesk } from './store-desk.ts'
import { approvalView, sendView, turnView } from './views.ts'
import type { DeskWatchers } from './watch-hints.ts'

export interface DeskDeps {
  readonly store: Store
  readonly gateway: Gateway
  readonly clock: Clock
  readonly tokens: Tokens
  readonly secrets: SecretStore
  readonly settings: () => Settings
  readonly standing: () => Standing
  readonly reload: (by: string) => ReturnType<Desk['reload']>
  readonly chatLink: Desk['chatLink']
  readonly consoleLink: Desk['consoleLink']
  readonly configView: Pick<Desk, 'config' | 'checkConfig'>
  readonly random: Random
  /** Absent: connection strings cannot be minted here. */
  readonly chorus?: ChorusConnections
  readonly shelf: DeskSendingDeps['shelf']
  readonly turnedAway?: DoctorDeps['turnedAway'] | undefined
  readonly leftOut?: DoctorDeps['leftOut'] | undefined
  readonly adapters?: DoctorDeps['adapters'] | undefined
  readonly exposure?: DoctorDeps['exposure']
  readonly applied: DeskSendingDeps['applied']
  readonly base?: DeskSendingDeps['base']
  readonly listensAt?: DeskHooksDeps['listensAt']
  readonly watchers: DeskWatchers
}

/** What an operator may mint; the other kinds are made by the surfaces that use them. */
const MINTABLE = ['agent', 'notify', 'user', 'admin']

export function createDesk(deps: DeskDeps): Desk {
  const { store, gateway, settings } = deps

  const operateTurn: Desk['operateTurn'] = async (id, verb, by) => {
    const row = await store.operateTurn(id, verb, by)
    if (!row) throw await cannot(verb, id, (await store.turn(id))?.state)
    if (verb === 'cancel' && row.agent) {
      gateway.dispatcher.abandon(row.agent, [row.id])
      await gateway.approvals.withdraw(row.agent, [row.id])
    }
    return turnView(row)
  }

  const doctor = createDoctor(deps)
  const desk: Omit<Desk, 'operateSends' | 'users' | 'tryAgent'> = {
    ...createStoreDesk(
      store,
      settings,
      fileBytes(gateway.links),
      (agent) => agentStanding(agent, gateway, []).state === 'unreachable',
    ),
    async status({ problems = true } = {}) {
      const report = await statusReport(deps)
      return problems ? { ...report, problems: (await doctor()).problems } : report
    },
    doctor,
    ...createDeskSending(deps),
    ...createDeskHooks(deps),
    ...createDeskTakeovers(deps),
    ...createDeskPairing(deps),
    operateTurn,
    erasePerson: createEraser({
      store,
      settings,
      cancel: (turn, by) => operateTurn(turn, 'cancel', by),
      async forgetFiles({ integration, sender }, attachments) {
        const link = gateway.links.get(integration)
        return link ? ((await link.adapter.files?.forget?.({ sender, attachments })) ?? 0) : null
      },
      grantsChanged: gateway.grants.load,
    }),
    async operateSend(id, verb, by) {
      const row = await store.operateSend(id, verb, by)
      if (!row) throw await cannot(verb, id, (await store.send(id))?.state)
      return sendView(row)
    },
    async decide(id, behavior, by, via) {
      const { won, approval } = await store.decide({ id, behavior, cause: 'person', by, via })
      if (!approval)
        throw new SwitchboardError('not_found', `there is no approval "${id}"`, {
          hint: 'list them with: switchboard approvals',
        })
      // "Allowed" is said only when the agent has it: wait for the relay, it is a matter of milliseconds.
      if (won) await gateway.approvals.settle(id)
      return { won, approval: approvalView((await store.approval(id)) ?? approval) }
    },
    async grant(integration, sender, right, by) {
      known(integration)
      // The gate asks for the sender's own id: this would let in nobody, and read as if it let in everybody.
      if (sender === '*')
        throw new SwitchboardError('input_invalid', '"*" is not the id of a sender', {
          hint: 'anybody may talk with allow_from: ["*"] in the access of the integration, in the configuration',
        })
      await store.grant({ integration, sender, right, by })
      await gateway.grants.load()
    },
    async revoke(integration, sender, right, by) {
      const revoked = await store.revoke(integration, sender, right, by)
      await gateway.grants.load()
      // Only then: what was granted where an integration was taken out since can still be taken back.
      if (!revoked) known(integration)
      return revoked
    },
    async mintToken({ kind, scope, ttl_ms }, by) {
      if (!MINTABLE.includes(kind)) {
        throw new SwitchboardError('input_invalid', `kind must be one of ${MINTABLE.join(', ')}`)
      }
      if (kind === 'admin' && (scope.agent ?? scope.session ?? scope.user) !== undefined) {
        throw new SwitchboardError(
          'input_invalid',
          'a token of kind admin is for everything: nothing narrows it',
          {
            hint: 'leave agent, session and user out, or mint one of kind agent or user',
          },
        )
      }
      if (scope.agent !== undefined && !settings().agents.some((one) => one.id === scope.agent)) {
        throw new SwitchboardError('not_found', `there is no agent "${scope.agent}"`)
      }
      const users = usersInForce(settings(), gateway.grants).map((one) => one.id)
      if (scope.user !== undefined && !users.includes(scope.user)) {
        throw new SwitchboardError('not_found', `there is no user "${scope.user}"`, {
          hint: `users: ${users.join(', ')}`,
        })
      }
      const minted = await deps.tokens.mint({ kind, scope: { ...scope, minted_by: by }, ttlMs: ttl_ms })
      return { token: minted.token, id: minted.id, expires_at: isoOrNull(minted.expiresAt) }
    },
    revokeToken: (id, by) => store.revokeToken(id, by),
    connectChorus(integration, options, by) {
      if (deps.chorus) return deps.chorus.connect(integration, options, by)
      throw new SwitchboardError('not_built', 'no connection strings are minted here')
    },
    // Those that use the secret are started anew with it; one that waited for it starts now.
    async setSecret(name, value, by) {
      await deps.secrets.set(name, value, by)
      await gateway.apply()
    },
    async removeSecret(name, by) {
      const removed = await deps.secrets.remove(name, by)
      if (removed) await gateway.apply()
      return removed
    },
    async runSchedule(agent, schedule, by) {
      const turn = await gateway.runSchedule(agent, schedule)
      if (turn === null)
        throw new SwitchboardError('not_found', `there is no schedule "${schedule}" of "${agent}"`, {
          hint: 'list them with: switchboard schedules',
        })
      await store.note([{ kind: 'audit', ref: turn, detail: { what: 'schedule', schedule, by } }])
      return { turn }
    },
    rotateSecrets: async (by) => ({ rotated: await deps.secrets.rotate(by) }),
    reload: deps.reload,
    chatLink: deps.chatLink,
    consoleLink: deps.consoleLink,
    watch(listen, { decides }) {
      deps.watchers.set(listen, { decides })
      return () => deps.watchers.delete(listen)
    },
    ...deps.configView,
  }
  const users = () => usersInForce(settings(), gateway.grants)
  return { ...desk, ...createDeskConsole({ gateway, clock: deps.clock, random: deps.random, users, desk }) }

  function known(integration: string): void {
    if (settings().integrations.some((one) => one.id === integration)) return
    throw new SwitchboardError('not_found', `there is no integration "${integration}"`, {
      hint: `integrations: ${settings()
        .integrations.map((one) => one.id)
        .join(', ')}`,
    })
  }

  async function cannot(verb: string, id: string, state: string | undefined): Promise<SwitchboardError> {
    return state === undefined
      ? new SwitchboardError('not_found', `there is no "${id}"`, {
          hint: 'list them with: switchboard turns, or switchboard outbox',
        })
      : new SwitchboardError(
          'conflict',
          `${id} is ${state}: it cannot be ${verb === 'bury' ? 'buried' : `${verb.replace(/y$/, 'i')}ed`}`,
        )
  }
}
