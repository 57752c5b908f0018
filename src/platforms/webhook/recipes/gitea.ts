// Gitea and Forgejo: as GitHub's, with headers of their own.
import type { Recipe } from './recipe.ts'

const REPO = '{{ repository.full_name }}'
const BY = '{{ sender.login | default: pusher.login }}'
const review = (verb: string) => `${REPO}#{{ pull_request.number }}: ${BY} ${verb} "{{ pull_request.title }}"
{{ pull_request.html_url }}

{{ review.content | truncate: 4000 }}`

export const gitea: Recipe = {
  auth: 'gitea',
  event:
    '{{ headers["x-gitea-event"] | default: headers["x-forgejo-event"] | default: headers["x-gogs-event"] }}',
  conversation: `{% assign index = pull_request.number | default: issue.number %}${REPO}{% if index %}#{{ index }}{% endif %}`,
  messageId:
    '{{ headers["x-gitea-delivery"] | default: headers["x-forgejo-delivery"] | default: headers["x-gogs-delivery"] }}',
  author: BY,
  needs: 'repository.full_name',
  texts: {
    push: `${REPO}: ${BY} pushed {{ commits.size }} commit{% if commits.size != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 10 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{{ compare_url }}`,
    pull_request: `${REPO}#{{ number }} {% if action == "closed" and pull_request.merged %}merged{% else %}{{ action }}{% endif %} by ${BY}: {{ pull_request.title }}
{{ pull_request.html_url }}{% if action == "opened" %}

{{ pull_request.body | truncate: 4000 }}{% endif %}`,
    pull_request_approved: review('approved'),
    pull_request_rejected: review('rejected'),
    pull_request_comment: review('reviewed'),
    issues: `${REPO}#{{ issue.number }} {{ action }} by ${BY}: {{ issue.title }}
{{ issue.html_url }}{% if action == "opened" %}

{{ issue.body | truncate: 4000 }}{% endif %}`,
    issue_comment: `${REPO}#{{ issue.number }}: ${BY} {{ action }} a comment on "{{ issue.title }}"
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    release: `${REPO}: release {{ release.tag_name }} {{ action }} by ${BY}
{{ release.html_url }}`,
  },
}
