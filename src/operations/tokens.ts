// Tokens, and one-time links that sign somebody in.
import { z } from 'zod'
import { defined, isoOrNull, type Settings, SwitchboardError } from '../contract/index.ts'
import { usersInForce } from '../core/people/users.ts'
import { tokenViews } from '../gateway/access/token-views.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { liveParts } from './context.ts'
import { all, before, flag, limit, text } from './inputs.ts'
import { operation } from './operation.ts'

const TokenQuery = z.strictObject({ all: flag, limit, before })
const TokenBody = z.strictObject({
  kind: text,
  scope: z.record(z.string(), z.string()).default({}),
  ttl_ms: z.number().int().positive().nullable().default(null),
})
const ConsoleLinkBody = z.strictObject({
  user: text.optional().describe('A user of the configuration. Default: the first owner.'),
})

/** The kinds that an operator may mint. The others are made by the surfaces that use them. */
const MINTABLE = ['agent', 'notify', 'user', 'admin']

export const TOKENS = [
  operation({
    route: 'GET /api/tokens',
    summary:
      'Tokens that were minted, with `all` also those of single deliveries; never the tokens themselves.',
    action: 'secrets.read',
    query: TokenQuery,
    run: async ({ store, query }) => all(await tokenViews(store, query.all === 'true')),
  }),
  operation({
    route: 'POST /api/tokens',
    summary: 'Mints a token; it is shown this once.',
    body: TokenBody,
    // Every kind is good for something that an operator may not: to send, to attach, to decide.
    gives: () => true,
    run: async (call) => {
      const { gateway, tokens } = liveParts(call)
      const { kind, scope, ttl_ms } = call.body
      demandMintable(kind, scope, call.settings(), gateway)
      const minted = await tokens.mint({ kind, scope: { ...scope, minted_by: call.by }, ttlMs: ttl_ms })
      return { token: minted.token, id: minted.id, expires_at: isoOrNull(minted.expiresAt) }
    },
  }),
  operation({
    route: 'DELETE /api/tokens/{id}',
    summary: 'Revokes a token at once.',
    run: async (call) => {
      liveParts(call)
      if (!(await call.store.revokeToken(call.path.id, call.by)))
        throw new SwitchboardError('not_found', 'there is no such token, or it was revoked before', {
          hint: 'list them with: switchboard token',
        })
      return { revoked: true }
    },
  }),
  operation({
    route: 'POST /api/chat-link',
    summary: 'A fresh one-time link to the chat page.',
    // Whoever opens it may approve.
    gives: () => true,
    run: (call) => liveParts(call).chatLink(),
  }),
  operation({
    route: 'POST /api/console-link',
    summary: 'A fresh one-time link that signs a user in at the console.',
    body: ConsoleLinkBody,
    // Whoever opens it has all that this user may do.
    gives: () => true,
    run: (call) => liveParts(call).consoleLink(defined(call.body)),
  }),
]

function demandMintable(
  kind: string,
  scope: Readonly<Record<string, string>>,
  settings: Settings,
  { grants }: Pick<Gateway, 'grants'>,
): void {
  if (!MINTABLE.includes(kind))
    throw new SwitchboardError('input_invalid', `kind must be one of ${MINTABLE.join(', ')}`)
  if (kind === 'admin' && (scope.agent ?? scope.session ?? scope.user) !== undefined)
    throw new SwitchboardError(
      'input_invalid',
      'a token of kind admin is for everything: nothing narrows it',
      { hint: 'leave agent, session and user out, or mint one of kind agent or user' },
    )
  if (scope.agent !== undefined && !settings.agents.some((one) => one.id === scope.agent))
    throw new SwitchboardError('not_found', `there is no agent "${scope.agent}"`)
  const users = usersInForce(settings, grants).map((one) => one.id)
  if (scope.user !== undefined && !users.includes(scope.user))
    throw new SwitchboardError('not_found', `there is no user "${scope.user}"`, {
      hint: `users: ${users.join(', ')}`,
    })
}
