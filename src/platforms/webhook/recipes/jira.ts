// Jira: one issue is one conversation, by its key.
import type { Recipe } from './recipe.ts'

const ISSUE = '{{ issue.key }}'
const BY = '{{ user.displayName | default: comment.author.displayName }}'

export const jira: Recipe = {
  auth: 'jira',
  event: '{{ webhookEvent }}',
  conversation: '{{ issue.key | default: sprint.name | default: version.name }}',
  messageId: '{{ headers["x-atlassian-webhook-identifier"] }}',
  author: BY,
  texts: {
    'jira:issue_created': `${ISSUE} created by ${BY}: {{ issue.fields.summary }}
{{ issue.fields.issuetype.name }}, {{ issue.fields.status.name }}{% if issue.fields.priority.name %}, {{ issue.fields.priority.name }}{% endif %}

{{ issue.fields.description | truncate: 4000 }}`,
    'jira:issue_updated': `${ISSUE} updated by ${BY}: {{ issue.fields.summary }}
{% for item in changelog.items limit: 20 %}- {{ item.field }}: {{ item.fromString | default: "nothing" | truncate: 200 }} → {{ item.toString | default: "nothing" | truncate: 200 }}
{% endfor %}`,
    'jira:issue_deleted': `${ISSUE} deleted by ${BY}: {{ issue.fields.summary }}`,
    comment_created: `${ISSUE}: {{ comment.author.displayName }} commented on "{{ issue.fields.summary }}"

{{ comment.body | truncate: 4000 }}`,
    comment_updated: `${ISSUE}: {{ comment.updateAuthor.displayName | default: comment.author.displayName }} changed a comment on "{{ issue.fields.summary }}"

{{ comment.body | truncate: 4000 }}`,
  },
}
