// Bitbucket Cloud: a pull request is one conversation, `workspace/repo#7`; the rest is the repository's.
import type { Recipe } from './recipe.ts'

const REPO = '{{ repository.full_name }}'
const BY = '{{ actor.display_name | default: actor.nickname }}'
const PULL_REQUEST = `${REPO}#{{ pullrequest.id }} {{ event | split: ":" | last | replace: "_", " " }} by ${BY}: {{ pullrequest.title }}
{{ pullrequest.links.html.href }}`

export const bitbucket: Recipe = {
  auth: 'bitbucket',
  event: '{{ headers["x-event-key"] }}',
  conversation: `{% assign number = pullrequest.id | default: issue.id %}${REPO}{% if number %}#{{ number }}{% endif %}`,
  messageId: '{{ headers["x-request-uuid"] }}',
  author: BY,
  needs: 'repository.full_name',
  texts: {
    'diagnostics:ping': '',
    'repo:push': `${REPO}: ${BY} pushed
{% for change in push.changes limit: 10 %}- {{ change.new.name | default: change.old.name }}{% if change.closed %} was deleted{% endif %}
{% for commit in change.commits limit: 5 %}  - {{ commit.hash | slice: 0, 7 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{% endfor %}`,
    'repo:commit_status_updated': `${REPO}: build {{ commit_status.name }} {{ commit_status.state }}
{{ commit_status.url }}`,
    'pullrequest:created': `${PULL_REQUEST}

{{ pullrequest.description | truncate: 4000 }}`,
    'pullrequest:updated': PULL_REQUEST,
    'pullrequest:approved': PULL_REQUEST,
    'pullrequest:unapproved': PULL_REQUEST,
    'pullrequest:changes_request_created': PULL_REQUEST,
    'pullrequest:fulfilled': PULL_REQUEST,
    'pullrequest:rejected': PULL_REQUEST,
    'pullrequest:comment_created': `${REPO}#{{ pullrequest.id }}: ${BY} commented on "{{ pullrequest.title }}"
{{ comment.links.html.href }}

{{ comment.content.raw | truncate: 4000 }}`,
    'issue:created': `${REPO}#{{ issue.id }} created by ${BY}: {{ issue.title }}
{{ issue.links.html.href }}

{{ issue.content.raw | truncate: 4000 }}`,
    'issue:comment_created': `${REPO}#{{ issue.id }}: ${BY} commented on "{{ issue.title }}"

{{ comment.content.raw | truncate: 4000 }}`,
  },
}
