// An operator of a river. It calls the API in this process, with short arguments for scenarios. Answers are JSON, and
// refusals are thrown.
import { createApi as createClient } from '../../src/cli/api.ts'
import {
  type Address,
  formatAddress,
  type Right,
  type SendFilter,
  SwitchboardError,
  type TurnFilter,
} from '../../src/contract/index.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { OPERATIONS, withContext } from '../../src/operations/index.ts'
import type { BodyOf } from '../../src/operations/routes.ts'
import { createApi } from '../../src/server/api/api.ts'

export type Operator = ReturnType<typeof createOperator>

export function createOperator(context: OperationContext) {
  const { clock, store } = context
  const api = createApi({ clock, authorize: () => ({ allowed: true }) }, withContext(OPERATIONS, context))

  /** The client of this person. It returns a refusal that carries data, as the console does. */
  const as = (by: string, via: 'api' | 'cli' | 'console' = 'api') =>
    createClient(
      {
        async call(method, path, { query = {}, body }) {
          const written = new URLSearchParams()
          for (const [name, value] of Object.entries(query))
            if (value !== undefined) written.set(name, String(value))
          const reply = await api({
            request: { method, headers: { 'content-type': 'application/json' } },
            segments: path.slice(1).split('/').map(decodeURIComponent),
            query: written,
            body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
            principal: { kind: 'operator', id: by },
            via,
          })
          if (reply.status === 404) throw new SwitchboardError('not_found', String(reply.body))
          return JSON.parse(String(reply.body))
        },
        stream: async () => {
          throw new SwitchboardError('not_built', 'scenarios read no exports')
        },
      },
      true,
    )
  const reader = as('operator')
  const address = (at: Address) => ({ address: formatAddress(at) })

  return {
    status: () => reader.ask('GET /api/status'),
    doctor: () => reader.ask('GET /api/doctor'),
    turn: (id: string) => reader.find('GET /api/turns/{id}', { path: { id } }),
    turns: async ({ states, source, limit }: Pick<TurnFilter, 'states' | 'source' | 'limit'>) =>
      (await reader.ask('GET /api/turns', { query: { state: states?.join(','), source, limit } })).items,
    operateTurn: (id: string, verb: 'retry' | 'cancel', by: string) =>
      as(by).ask(`POST /api/turns/{id}/${verb}`, { path: { id } }),
    sends: async ({ states, integration, limit }: Pick<SendFilter, 'states' | 'integration' | 'limit'>) =>
      (await reader.ask('GET /api/outbox', { query: { state: states?.join(','), integration, limit } }))
        .items,
    send: (id: string) => reader.find('GET /api/outbox/{id}', { path: { id } }),
    operateSend: (id: string, verb: 'retry' | 'bury', by: string) =>
      as(by).ask(`POST /api/outbox/{id}/${verb}`, { path: { id } }),
    approvals: async (
      states: readonly string[] | null,
      limit: number,
      which: { readonly id?: string } = {},
    ) =>
      (await reader.ask('GET /api/approvals', { query: { ...which, state: states?.join(','), limit } }))
        .items,
    decide: (id: string, behavior: 'allow' | 'deny', by: string, via: string) =>
      as(by, via as 'cli').ask('POST /api/approvals/{id}/decide', { path: { id }, body: { behavior } }),
    pairings: async () => (await reader.ask('GET /api/pairings')).items,
    approvePairing: (
      code: string,
      by: string,
      body: { readonly approver?: boolean; readonly user?: string } = {},
    ) => as(by).ask('POST /api/pairings/{code}/approve', { path: { code }, body }),
    denyPairing: (code: string, by: string) =>
      as(by).ask('POST /api/pairings/{code}/deny', { path: { code } }),
    access: async () => (await reader.ask('GET /api/access')).items,
    users: async () => (await reader.ask('GET /api/users')).items,
    grant: (integration: string, sender: string, right: 'talk' | 'approve', by: string) =>
      as(by).ask('POST /api/access/grant', { body: { integration, sender, right } }),
    revoke: async (integration: string, sender: string, right: Right, by: string) =>
      (await as(by).ask('POST /api/access/revoke', { body: { integration, sender, right } })).revoked,
    order: (body: BodyOf<'POST /api/send'>, by: string) => as(by).ask('POST /api/send', { body }),
    notify: (body: BodyOf<'POST /api/notify'>, by: string) => as(by).ask('POST /api/notify', { body }),
    notifications: async (limit: number) =>
      (await reader.ask('GET /api/notifications', { query: { limit } })).items,
    integrations: async () => (await reader.ask('GET /api/integrations')).items,
    runSchedule: (agent: string, id: string, by: string) =>
      as(by).ask('POST /api/schedules/{agent}/{id}/run', { path: { agent, id } }),
    erasePerson: (who: string, { revoke }: { readonly revoke: boolean }, by: string) =>
      as(by).ask('POST /api/people/erase', { body: { who, revoke } }),
    mintToken: (body: BodyOf<'POST /api/tokens'>, by: string) => as(by).ask('POST /api/tokens', { body }),
    revokeToken: (id: string, by: string) => as(by).ask('DELETE /api/tokens/{id}', { path: { id } }),
    takeConversation: (at: Address, { force }: { readonly force: boolean }, by: string) =>
      as(by).ask('POST /api/conversations/{address}/take', { path: address(at), body: { force } }),
    sayHeld: (at: Address, body: BodyOf<'POST /api/conversations/{address}/say'>, by: string) =>
      as(by).ask('POST /api/conversations/{address}/say', { path: address(at), body }),
    giveConversation: (at: Address, { force }: { readonly force: boolean }, by: string) =>
      as(by).ask('POST /api/conversations/{address}/give', { path: address(at), body: { force } }),
    takeovers: async (state: 'asked' | 'held', by: string) =>
      (await as(by).ask('GET /api/takeovers', { query: { state } })).items,
    conversation: (at: Address, by: string) =>
      as(by).find('GET /api/conversations/{address}', { path: address(at) }),
    thread: (at: Address, query: { readonly limit: number; readonly before?: string }, by: string) =>
      as(by).ask('GET /api/conversations/{address}/thread', { path: address(at), query }),
    verifyAudit: () => reader.ask('GET /api/audit/verify'),
    /** Reads more than one page of the API. */
    ledger: (afterSeq: number, limit: number) => store.ledger({ afterSeq, limit }),
  }
}
