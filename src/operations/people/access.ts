// The rights to talk and to approve, newcomers who ask for them, and users.
import { z } from 'zod'
import { iso, type Right, type Settings, SwitchboardError, type UserView } from '../../contract/index.ts'
import { listedRights } from '../../core/people/approvers.ts'
import { usersInForce } from '../../core/people/users.ts'
import { liveParts } from '../context.ts'
import { all, PageQuery, text } from '../inputs.ts'
import { operation } from '../operation.ts'
import { demandIntegration } from '../refusals.ts'
import { PAIRINGS } from './pairings.ts'

const AccessBody = z.strictObject({
  integration: text,
  sender: text,
  right: z.enum(['talk', 'approve']).default('talk'),
})
const RevokeBody = AccessBody.extend({
  right: z
    .templateLiteral(['user:', z.string().min(1).max(100)])
    .or(z.enum(['talk', 'approve']))
    .default('talk'),
})

export interface AccessView {
  readonly integration: string
  readonly sender: string
  readonly right: Right
  /** The key of the configuration, or who granted it. */
  readonly origin: string
  /** Null: the configuration gives it. */
  readonly at: string | null
}

export const ACCESS = [
  operation({
    route: 'GET /api/access',
    summary: 'Who may talk and who may approve.',
    query: PageQuery,
    run: async ({ store, settings }) => {
      const granted: readonly AccessView[] = (await store.grants()).map((grant) => ({
        integration: grant.integration,
        sender: grant.sender,
        right: grant.right,
        origin: `granted by ${grant.by}`,
        at: iso(grant.at),
      }))
      return all([...configured(settings()), ...granted])
    },
  }),
  operation({
    route: 'POST /api/access/grant',
    summary: 'Grants a right to a sender.',
    body: AccessBody,
    gives: ({ right }) => right === 'approve',
    run: async (call) => {
      const { gateway } = liveParts(call)
      const { integration, sender, right } = call.body
      demandIntegration(call.settings(), integration)
      // The gate asks for the sender's own id: this would let in nobody, and read as if it let in everybody.
      if (sender === '*')
        throw new SwitchboardError('input_invalid', '"*" is not the id of a sender', {
          hint: 'anybody may talk with allow_from: ["*"] in the access of the integration, in the configuration',
        })
      await call.store.grant({ integration, sender, right, by: call.by })
      await gateway.grants.load()
    },
  }),
  operation({
    route: 'POST /api/access/revoke',
    summary: 'Takes a right back.',
    body: RevokeBody,
    run: async (call) => {
      const { gateway } = liveParts(call)
      const { integration, sender, right } = call.body
      const revoked = await call.store.revoke(integration, sender, right, call.by)
      await gateway.grants.load()
      // Only now: a right on an integration that is gone can still be taken back.
      if (!revoked) demandIntegration(call.settings(), integration)
      return { revoked }
    },
  }),
  ...PAIRINGS,
  operation({
    route: 'GET /api/users',
    summary: 'The users in force, with their roles and identities.',
    run: async (call) => {
      const users = usersInForce(call.settings(), liveParts(call).gateway.grants)
      return all(
        users.map(
          ({ id, roles, identities, notifyTo }): UserView => ({ id, roles, identities, notify_to: notifyTo }),
        ),
      )
    },
  }),
]

/** The rights that the configuration gives. With those granted, they are all that the gates let pass. */
function configured(settings: Settings): readonly AccessView[] {
  return settings.integrations.flatMap((integration) =>
    listedRights(settings, integration).map(({ sender, right, key }) => ({
      integration: integration.id,
      sender,
      right,
      origin: key,
      at: null,
    })),
  )
}
