// Integrations, their hooks and their Chorus connections.
import { z } from 'zod'
import { liveParts } from '../context.ts'
import { all, PageQuery, text } from '../inputs.ts'
import { withoutPaste } from '../masking.ts'
import { operation } from '../operation.ts'
import { connectChorus } from './chorus-connections.ts'
import { TEST_HOOK } from './hooks.ts'
import { addIntegration, changeIntegration, removeIntegration } from './integration-changes.ts'
import { integrationViews } from './integration-view.ts'

const scope = z.union([z.literal('all'), z.strictObject({ agents: z.array(text) })])
const IntegrationBody = z.strictObject({
  definition: z.record(z.string(), z.unknown()).describe('One entry as under integrations: in the file.'),
  agent: text.optional().describe('The agent that takes its messages.'),
})
const IntegrationGrantBody = z.strictObject({ scope })

const turned = <Verb extends 'enable' | 'disable'>(verb: Verb, summary: string) =>
  operation({
    route: `POST /api/integrations/{id}/${verb}`,
    summary,
    run: (call) => changeIntegration(call, call.path.id, { enabled: verb === 'enable' }, call.by),
  })

export const INTEGRATIONS = [
  operation({
    route: 'GET /api/integrations',
    summary: 'The integrations in force, from the file and from the store.',
    query: PageQuery,
    run: async (call) => {
      const views = integrationViews(call.settings(), liveParts(call))
      return all(call.may('secrets.read') ? views : views.map(withoutPaste))
    },
  }),
  operation({
    route: 'POST /api/integrations',
    summary: 'Keeps an integration, encrypted, and starts it.',
    body: IntegrationBody,
    // It names its own approvers.
    gives: () => true,
    run: (call) => addIntegration(call, call.body, call.by),
  }),
  operation({
    route: 'POST /api/integrations/{id}/grant',
    summary: 'Says which agents may send through it.',
    body: IntegrationGrantBody,
    gives: () => true,
    run: (call) => changeIntegration(call, call.path.id, { scope: call.body.scope }, call.by),
  }),
  turned('enable', 'Turns an added integration on.'),
  turned('disable', 'Turns an added integration off; it is kept.'),
  operation({
    route: 'DELETE /api/integrations/{id}',
    summary: 'Forgets an added integration, and the secrets that were kept for it alone.',
    run: async (call) => {
      const secrets = await removeIntegration(call, call.path.id, call.by)
      return { removed: true, secrets_removed: secrets.removed, secrets_unused: secrets.unused }
    },
  }),
  TEST_HOOK,
  operation({
    route: 'POST /api/chorus/{id}/connect',
    summary: 'Mints a connection string of a chorus integration; it is shown this once.',
    // It speaks as whom it likes, approvers included.
    gives: () => true,
    run: (call) => connectChorus(call, call.path.id, { rotate: false }),
  }),
  operation({
    route: 'POST /api/chorus/{id}/rotate',
    summary: 'Mints a connection string and kills the older ones of the integration.',
    gives: () => true,
    run: (call) => connectChorus(call, call.path.id, { rotate: true }),
  }),
]
