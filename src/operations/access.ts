// Who may talk and who may approve, and newcomers who ask for it.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { LOCAL_USER } from '../core/people/users.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { all, PageQuery, text } from './inputs.ts'

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
const PairBody = z
  .strictObject({
    approver: z.boolean().optional().describe('They may also approve tool calls.'),
    me: z.boolean().optional().describe('This is me: an identity of the user who approves.'),
    user: text.optional().describe('They are this user of the configuration.'),
  })
  .refine(({ me, user }) => me !== true || user === undefined, { error: 'me and user exclude each other' })

export const ACCESS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/access',
    summary: 'Who may talk and who may approve.',
    query: PageQuery,
    run: async ({ desk }) => all(await desk.access()),
  }),
  operation({
    method: 'POST',
    path: '/api/access/grant',
    summary: 'Grants a right to a sender.',
    body: AccessBody as z.ZodType<z.infer<typeof AccessBody>>,
    gives: ({ right }) => right === 'approve',
    run: ({ desk, body, by }) => desk.grant(body.integration, body.sender, body.right, by),
  }),
  operation({
    method: 'POST',
    path: '/api/access/revoke',
    summary: 'Takes a right back.',
    body: RevokeBody as z.ZodType<z.infer<typeof RevokeBody>>,
    run: async ({ desk, body, by }) => ({
      revoked: await desk.revoke(body.integration, body.sender, body.right, by),
    }),
  }),
  operation({
    method: 'GET',
    path: '/api/pairings',
    summary: 'People who are waiting to be let in.',
    query: PageQuery,
    run: async ({ desk }) => all(await desk.pairings()),
  }),
  operation({
    method: 'POST',
    path: '/api/pairings/{code}/approve',
    summary: 'Lets a stranger in: to talk, and to what the body says beside it.',
    body: PairBody as z.ZodType<z.infer<typeof PairBody>>,
    gives: ({ approver, user }) => approver === true || user !== undefined,
    run: ({ desk, path, body, by, user }) =>
      desk.approvePairing(
        path.code ?? '',
        by,
        defined({ approver: body.approver, user: body.me === true ? (user ?? LOCAL_USER) : body.user }),
      ),
  }),
  operation({
    method: 'POST',
    path: '/api/pairings/{code}/deny',
    summary: 'Forgets a stranger’s code.',
    run: ({ desk, path, by }) => desk.denyPairing(path.code ?? '', by),
  }),
  operation({
    method: 'GET',
    path: '/api/users',
    summary: 'The users in force, with their roles and identities.',
    run: async ({ desk }) => ({ items: await desk.users(), next: null }),
  }),
]
