// Integrations, their hooks and their Chorus connections.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { PageQuery, text } from './inputs.ts'
import { withoutPaste } from './masking.ts'

const scope = z.union([z.literal('all'), z.strictObject({ agents: z.array(text) })])
const IntegrationBody = z.strictObject({
  definition: z.record(z.string(), z.unknown()).describe('One entry as under integrations: in the file.'),
  agent: text.optional().describe('The agent that takes its messages.'),
})
const IntegrationGrantBody = z.strictObject({ scope })
const HookTestBody = z.strictObject({
  recipe: text.optional().describe('Of which sender. Default: the recipe of the hook, else generic.'),
  event: text.optional().describe('Which of its events. Default: the first that makes a message.'),
})

const turned = (verb: 'enable' | 'disable', summary: string) =>
  operation({
    method: 'POST',
    path: `/api/integrations/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.changeIntegration(path.id ?? '', { enabled: verb === 'enable' }, by),
  })

export const INTEGRATIONS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/integrations',
    summary: 'The integrations in force, from the file and from the store.',
    query: PageQuery,
    run: async ({ desk, may }) => {
      const all = await desk.integrations()
      return { items: may('secrets.read') ? all : all.map(withoutPaste), next: null }
    },
  }),
  operation({
    method: 'POST',
    path: '/api/integrations',
    summary: 'Keeps an integration, encrypted, and starts it.',
    body: IntegrationBody as z.ZodType<z.infer<typeof IntegrationBody>>,
    // It names its own approvers.
    gives: () => true,
    run: ({ desk, body: { definition, agent }, by }) =>
      desk.addIntegration(definition, defined({ agent }), by),
  }),
  operation({
    method: 'POST',
    path: '/api/integrations/{id}/grant',
    summary: 'Says which agents may send through it.',
    body: IntegrationGrantBody as z.ZodType<z.infer<typeof IntegrationGrantBody>>,
    gives: () => true,
    run: ({ desk, path, body, by }) => desk.changeIntegration(path.id ?? '', { scope: body.scope }, by),
  }),
  turned('enable', 'Turns an added integration on.'),
  turned('disable', 'Turns an added integration off; it is kept.'),
  operation({
    method: 'DELETE',
    path: '/api/integrations/{id}',
    summary: 'Forgets an added integration, and the secrets that were kept for it alone.',
    run: async ({ desk, path, by }) => {
      const secrets = await desk.removeIntegration(path.id ?? '', by)
      return { removed: true, secrets_removed: secrets.removed, secrets_unused: secrets.unused }
    },
  }),
  operation({
    method: 'POST',
    path: '/api/hooks/{id}/test',
    summary: 'Sends a request as a sender would through the real door, and tells each step.',
    body: HookTestBody as z.ZodType<z.infer<typeof HookTestBody>>,
    run: ({ desk, path, body, by }) => desk.testHook(path.id ?? '', defined(body), by),
  }),
  operation({
    method: 'POST',
    path: '/api/chorus/{id}/connect',
    summary: 'Mints a connection string of a chorus integration; it is shown this once.',
    // It speaks as whom it likes, approvers included.
    gives: () => true,
    run: ({ desk, path, by }) => desk.connectChorus(path.id ?? '', { rotate: false }, by),
  }),
  operation({
    method: 'POST',
    path: '/api/chorus/{id}/rotate',
    summary: 'Mints a connection string and kills the older ones of the integration.',
    gives: () => true,
    run: ({ desk, path, by }) => desk.connectChorus(path.id ?? '', { rotate: true }, by),
  }),
]
