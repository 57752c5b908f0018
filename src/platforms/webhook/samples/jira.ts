// Events of Jira: developer.atlassian.com, "Webhooks".
import { JSON_TYPE, type Samples } from './sample.ts'

const user = { accountId: '5b10a2844c20165700ede21g', displayName: 'Mia Krystof' }
const issue = {
  id: '99291',
  key: 'JRA-20002',
  fields: {
    summary: 'I feel the need for speed',
    description: 'Make the issue nav load 10x faster',
    status: { name: 'To Do' },
    issuetype: { name: 'Bug' },
    priority: { name: 'Minor' },
  },
}
const headers = (identifier: string) => ({
  ...JSON_TYPE,
  'user-agent': 'Atlassian HttpClient',
  'x-atlassian-webhook-identifier': identifier,
})

export const jira: Samples = {
  'jira:issue_created': {
    headers: headers('b4a1f6c2-0001'),
    body: {
      timestamp: 1767625215000,
      webhookEvent: 'jira:issue_created',
      issue_event_type_name: 'issue_created',
      user,
      issue,
    },
  },
  'jira:issue_updated': {
    headers: headers('b4a1f6c2-0002'),
    body: {
      timestamp: 1767625216000,
      webhookEvent: 'jira:issue_updated',
      user,
      issue,
      changelog: {
        id: '10124',
        items: [{ field: 'status', fieldtype: 'jira', fromString: 'To Do', toString: 'In Progress' }],
      },
    },
  },
  comment_created: {
    headers: headers('b4a1f6c2-0003'),
    body: {
      timestamp: 1767625217000,
      webhookEvent: 'comment_created',
      comment: { id: '252789', author: user, body: 'Just in time for AtlasCamp!', updateAuthor: user },
      issue,
    },
  },
}
