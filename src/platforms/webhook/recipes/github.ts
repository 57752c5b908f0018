// GitHub: what happens to one pull request or issue is one conversation, `owner/repo#12`; the rest is the repository's.
import type { Recipe } from './recipe.ts'

const REPO = '{{ repository.full_name }}'
const BY = '{{ sender.login }}'

export const github: Recipe = {
  auth: 'github',
  event: '{{ headers["x-github-event"] }}',
  conversation: `{% assign number = pull_request.number | default: issue.number | default: workflow_run.pull_requests[0].number | default: check_run.pull_requests[0].number %}${REPO}{% if number %}#{{ number }}{% endif %}`,
  messageId: '{{ headers["x-github-delivery"] }}',
  author: BY,
  needs: 'repository.full_name',
  texts: {
    ping: '',
    push: `${REPO}: ${BY} {% if deleted %}deleted {{ ref }}{% else %}pushed {{ commits.size }} commit{% if commits.size != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}{% endif %}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 7 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{{ compare }}`,
    pull_request: `${REPO}#{{ number }} {% if action == "closed" and pull_request.merged %}merged{% else %}{{ action }}{% endif %} by ${BY}: {{ pull_request.title }}
{{ pull_request.html_url }}{% if action == "opened" or action == "edited" %}

{{ pull_request.body | truncate: 4000 }}{% endif %}`,
    pull_request_review: `${REPO}#{{ pull_request.number }}: ${BY} {{ action }} a review ({{ review.state }}) of "{{ pull_request.title }}"
{{ review.html_url }}

{{ review.body | truncate: 4000 }}`,
    pull_request_review_comment: `${REPO}#{{ pull_request.number }}: ${BY} {{ action }} a comment on {{ comment.path }}{% if comment.line %}:{{ comment.line }}{% endif %}
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    issue_comment: `${REPO}#{{ issue.number }}: ${BY} {{ action }} a comment on "{{ issue.title }}"
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    issues: `${REPO}#{{ issue.number }} {{ action }} by ${BY}: {{ issue.title }}
{{ issue.html_url }}{% if action == "opened" or action == "edited" %}

{{ issue.body | truncate: 4000 }}{% endif %}`,
    workflow_run: `{% if action == "completed" %}${REPO}: workflow "{{ workflow_run.name }}" {{ workflow_run.conclusion }} on {{ workflow_run.head_branch }} ({{ workflow_run.head_sha | slice: 0, 7 }})
{{ workflow_run.html_url }}{% endif %}`,
    check_run: `{% if action == "completed" and check_run.conclusion != "success" %}${REPO}: check "{{ check_run.name }}" {{ check_run.conclusion }}
{{ check_run.html_url }}{% endif %}`,
    deployment_status: `${REPO}: deployment to {{ deployment_status.environment }} is {{ deployment_status.state }}
{{ deployment_status.target_url }}`,
    release: `{% if action == "published" %}${REPO}: release {{ release.tag_name }} published by ${BY}
{{ release.html_url }}

{{ release.body | truncate: 4000 }}{% endif %}`,
  },
}
