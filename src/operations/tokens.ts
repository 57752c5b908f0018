// Tokens, and one-time links that sign somebody in.
import { z } from 'zod'
import { defined, SwitchboardError } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { all, before, limit, text } from './inputs.ts'

const TokenQuery = z.strictObject({ all: z.enum(['true', 'false']).optional(), limit, before })
const TokenBody = z.strictObject({
  kind: text,
  scope: z.record(z.string(), z.string()).default({}),
  ttl_ms: z.number().int().positive().nullable().default(null),
})
const ConsoleLinkBody = z.strictObject({
  user: text.optional().describe('A user of the configuration. Default: the first owner.'),
})

export const TOKENS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/tokens',
    summary:
      'Tokens that were minted, with `all` also those of single deliveries; never the tokens themselves.',
    action: 'secrets.read',
    query: TokenQuery as z.ZodType<z.infer<typeof TokenQuery>>,
    run: async ({ desk, query }) => all(await desk.tokens({ all: query.all === 'true' })),
  }),
  operation({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Mints a token; it is shown this once.',
    body: TokenBody as z.ZodType<z.infer<typeof TokenBody>>,
    // Every kind is good for something that an operator may not: to send, to attach, to decide.
    gives: () => true,
    run: ({ desk, body, by }) => desk.mintToken(body, by),
  }),
  operation({
    method: 'DELETE',
    path: '/api/tokens/{id}',
    summary: 'Revokes a token at once.',
    run: async ({ desk, path, by }) => {
      if (!(await desk.revokeToken(path.id ?? '', by)))
        throw new SwitchboardError('not_found', 'there is no such token, or it was revoked before', {
          hint: 'list them with: switchboard token',
        })
      return { revoked: true }
    },
  }),
  operation({
    method: 'POST',
    path: '/api/chat-link',
    summary: 'A fresh one-time link to the chat page.',
    // Whoever opens it may approve.
    gives: () => true,
    run: ({ desk, by }) => desk.chatLink(by),
  }),
  operation({
    method: 'POST',
    path: '/api/console-link',
    summary: 'A fresh one-time link that signs a user in at the console.',
    body: ConsoleLinkBody as z.ZodType<z.infer<typeof ConsoleLinkBody>>,
    // Whoever opens it has all that this user may do.
    gives: () => true,
    run: ({ desk, body, by }) => desk.consoleLink(defined(body), by),
  }),
]
