// Events of Sentry: docs.sentry.io, "Integration Platform: Webhooks".
import { JSON_TYPE, type Samples } from './sample.ts'

const headers = (resource: string, id: string) => ({
  ...JSON_TYPE,
  'sentry-hook-resource': resource,
  'sentry-hook-timestamp': '1767625215',
  'request-id': id,
})
const installation = { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' }

export const sentry: Samples = {
  installation: {
    headers: headers('installation', '1e6b1d0e-52c6-4f2a-8f04-000000000001'),
    body: {
      action: 'created',
      actor: { id: 1, name: 'Meredith Heller', type: 'user' },
      data: { installation },
      installation,
    },
  },
  issue: {
    headers: headers('issue', '1e6b1d0e-52c6-4f2a-8f04-000000000002'),
    body: {
      action: 'created',
      actor: { id: 'sentry', name: 'Sentry', type: 'application' },
      data: {
        issue: {
          id: '1170820242',
          shortId: 'IPE-1',
          title: 'ReferenceError: blooopy is not defined',
          culprit: '?(runner)',
          level: 'error',
          status: 'unresolved',
          project: { id: '1', name: 'ipe', slug: 'ipe' },
          web_url: 'https://sentry.io/organizations/test-org/issues/1170820242/',
        },
      },
      installation,
    },
  },
  event_alert: {
    headers: headers('event_alert', '1e6b1d0e-52c6-4f2a-8f04-000000000003'),
    body: {
      action: 'triggered',
      actor: { id: 'sentry', name: 'Sentry', type: 'application' },
      data: {
        event: {
          event_id: 'e4874d664c3540c1a32eab185f12c5ab',
          issue_id: '1170820242',
          title: 'ReferenceError: heck is not defined',
          culprit: '?(<anonymous>)',
          web_url:
            'https://sentry.io/organizations/test-org/issues/1170820242/events/e4874d664c3540c1a32eab185f12c5ab/',
        },
        triggered_rule: 'Very Important Alert Rule!',
      },
      installation,
    },
  },
  comment: {
    headers: headers('comment', '1e6b1d0e-52c6-4f2a-8f04-000000000004'),
    body: {
      action: 'created',
      actor: { id: 789, name: 'Person', type: 'user' },
      data: { comment: 'adding a comment', comment_id: '1234', issue_id: 1170820242, project_slug: 'ipe' },
      installation,
    },
  },
}
