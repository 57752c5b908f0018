// The part of the table that sends and keeps integrations.

import type { z } from 'zod'
import { defined } from '../../contract/index.ts'
import {
  HookTestBody,
  IntegrationBody,
  IntegrationGrantBody,
  NotifyBody,
  PageQuery,
  SendBody,
} from './inputs.ts'
import { withoutPaste } from './masking.ts'
import { type Route, route } from './route.ts'

const turned = (verb: 'enable' | 'disable', summary: string) =>
  route({
    method: 'POST',
    path: `/api/integrations/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.changeIntegration(path.id ?? '', { enabled: verb === 'enable' }, by),
  })

export const SENDING_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/send',
    summary: 'Sends a message as the operator and waits a bounded time for the confirmation.',
    action: 'message.send',
    body: SendBody as z.ZodType<z.infer<typeof SendBody>>,
    run: ({ desk, body: { to, text, ...rest }, by }) => desk.order({ to, text, ...defined(rest) }, by),
  }),
  route({
    method: 'POST',
    path: '/api/notify',
    summary: 'Notifies a user through a channel of theirs.',
    action: 'notify.send',
    body: NotifyBody as z.ZodType<z.infer<typeof NotifyBody>>,
    run: ({ desk, body: { message, ...rest }, by }) => desk.notify({ message, ...defined(rest) }, by),
  }),
  route({
    method: 'GET',
    path: '/api/notifications',
    summary: 'Every attempt to notify somebody, newest first.',
    query: PageQuery,
    run: async ({ desk, query: { limit, before } }) => {
      const items = await desk.notifications(limit, before)
      return { items, next: items.length === limit ? (items.at(-1)?.id ?? null) : null }
    },
  }),
  route({
    method: 'GET',
    path: '/api/integrations',
    summary: 'The integrations in force, from the file and from the store.',
    query: PageQuery,
    run: async ({ desk, may }) => {
      const all = await desk.integrations()
      return { items: may('secrets.read') ? all : all.map(withoutPaste), next: null }
    },
  }),
  route({
    method: 'POST',
    path: '/api/integrations',
    summary: 'Keeps an integration, encrypted, and starts it.',
    body: IntegrationBody as z.ZodType<z.infer<typeof IntegrationBody>>,
    // It names its own approvers.
    gives: () => true,
    run: ({ desk, body: { definition, agent }, by }) =>
      desk.addIntegration(definition, defined({ agent }), by),
  }),
  route({
    method: 'POST',
    path: '/api/integrations/{id}/grant',
    summary: 'Says which agents may send through it.',
    body: IntegrationGrantBody as z.ZodType<z.infer<typeof IntegrationGrantBody>>,
    gives: () => true,
    run: ({ desk, path, body, by }) => desk.changeIntegration(path.id ?? '', { scope: body.scope }, by),
  }),
  route({
    method: 'POST',
    path: '/api/hooks/{id}/test',
    summary: 'Sends a request as a sender would through the real door, and tells each step.',
    body: HookTestBody as z.ZodType<z.infer<typeof HookTestBody>>,
    run: ({ desk, path, body, by }) => desk.testHook(path.id ?? '', defined(body), by),
  }),
  route({
    method: 'POST',
    path: '/api/hooks/turns/{id}/replay',
    summary: "Takes the message of a hook's turn once more, as a new turn.",
    run: ({ desk, path, by }) => desk.replayTurn(path.id ?? '', by),
  }),
  turned('enable', 'Turns an added integration on.'),
  turned('disable', 'Turns an added integration off; it is kept.'),
  route({
    method: 'DELETE',
    path: '/api/integrations/{id}',
    summary: 'Forgets an added integration, and the secrets that were kept for it alone.',
    run: async ({ desk, path, by }) => {
      const secrets = await desk.removeIntegration(path.id ?? '', by)
      return { removed: true, secrets_removed: secrets.removed, secrets_unused: secrets.unused }
    },
  }),
]
