// Events of Linear: linear.app, "Webhooks". `webhookTimestamp` is the time of sending.
import { JSON_TYPE, type Samples } from './sample.ts'

const actor = { id: 'b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba', type: 'user', name: 'Ada' }
const issue = '539068e2-ae88-4d09-bd75-22eb4a59612f'
const event = (type: string, action: string, data: Record<string, unknown>) => ({
  headers: { ...JSON_TYPE, 'linear-event': type, 'linear-delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72' },
  body: {
    action,
    type,
    actor,
    createdAt: '2026-01-05T15:40:15.000Z',
    data,
    url: 'https://linear.app/acme/issue/LIN-1778/foo-bar',
    organizationId: '5d0c2e1f-0d5e-4f63-9c8b-3f6f0c1f2a3b',
    webhookTimestamp: 1767627615000,
    webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
  },
})

export const linear: Samples = {
  'Issue.create': event('Issue', 'create', {
    id: issue,
    identifier: 'LIN-1778',
    title: 'Foo bar',
    description: 'The bar of foo is too low.',
    priorityLabel: 'Urgent',
    state: { name: 'Todo' },
    updatedAt: '2026-01-05T15:40:15.000Z',
  }),
  'Issue.update': event('Issue', 'update', {
    id: issue,
    identifier: 'LIN-1778',
    title: 'Foo bar',
    state: { name: 'In Progress' },
    assignee: { name: 'Ada' },
    updatedAt: '2026-01-05T15:41:15.000Z',
  }),
  Comment: event('Comment', 'create', {
    id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9',
    body: 'Indeed, I think this is definitely an improvement over the previous version.',
    issueId: issue,
    issue: { id: issue, identifier: 'LIN-1778', title: 'Foo bar' },
    user: { name: 'Ada' },
    updatedAt: '2026-01-05T15:42:15.000Z',
  }),
}
