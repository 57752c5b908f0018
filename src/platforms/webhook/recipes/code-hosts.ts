// Recipes of code hosts. A pull request or an issue is one conversation. Other events belong to their repository.
import type { Recipe } from './recipe.ts'

const REPO = '{{ repository.full_name }}'
const GITHUB_BY = '{{ sender.login }}'

/** The conversation of a pull request or an issue is `owner/repo#12`. */
export const github: Recipe = {
  auth: 'github',
  event: '{{ headers["x-github-event"] }}',
  conversation: `{% assign number = pull_request.number | default: issue.number | default: workflow_run.pull_requests[0].number | default: check_run.pull_requests[0].number %}${REPO}{% if number %}#{{ number }}{% endif %}`,
  messageId: '{{ headers["x-github-delivery"] }}',
  author: GITHUB_BY,
  needs: 'repository.full_name',
  texts: {
    ping: '',
    push: `${REPO}: ${GITHUB_BY} {% if deleted %}deleted {{ ref }}{% else %}pushed {{ commits.size }} commit{% if commits.size != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}{% endif %}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 7 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{{ compare }}`,
    pull_request: `${REPO}#{{ number }} {% if action == "closed" and pull_request.merged %}merged{% else %}{{ action }}{% endif %} by ${GITHUB_BY}: {{ pull_request.title }}
{{ pull_request.html_url }}{% if action == "opened" or action == "edited" %}

{{ pull_request.body | truncate: 4000 }}{% endif %}`,
    pull_request_review: `${REPO}#{{ pull_request.number }}: ${GITHUB_BY} {{ action }} a review ({{ review.state }}) of "{{ pull_request.title }}"
{{ review.html_url }}

{{ review.body | truncate: 4000 }}`,
    pull_request_review_comment: `${REPO}#{{ pull_request.number }}: ${GITHUB_BY} {{ action }} a comment on {{ comment.path }}{% if comment.line %}:{{ comment.line }}{% endif %}
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    issue_comment: `${REPO}#{{ issue.number }}: ${GITHUB_BY} {{ action }} a comment on "{{ issue.title }}"
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    issues: `${REPO}#{{ issue.number }} {{ action }} by ${GITHUB_BY}: {{ issue.title }}
{{ issue.html_url }}{% if action == "opened" or action == "edited" %}

{{ issue.body | truncate: 4000 }}{% endif %}`,
    workflow_run: `{% if action == "completed" %}${REPO}: workflow "{{ workflow_run.name }}" {{ workflow_run.conclusion }} on {{ workflow_run.head_branch }} ({{ workflow_run.head_sha | slice: 0, 7 }})
{{ workflow_run.html_url }}{% endif %}`,
    check_run: `{% if action == "completed" and check_run.conclusion != "success" %}${REPO}: check "{{ check_run.name }}" {{ check_run.conclusion }}
{{ check_run.html_url }}{% endif %}`,
    deployment_status: `${REPO}: deployment to {{ deployment_status.environment }} is {{ deployment_status.state }}
{{ deployment_status.target_url }}`,
    release: `{% if action == "published" %}${REPO}: release {{ release.tag_name }} published by ${GITHUB_BY}
{{ release.html_url }}

{{ release.body | truncate: 4000 }}{% endif %}`,
  },
}

const GITLAB_PROJECT = '{{ project.path_with_namespace }}'
const GITLAB_BY = '{{ user.name | default: user_name }}'

/** The conversation of a merge request is `group/project!7`, that of an issue `group/project#7`. */
export const gitlab: Recipe = {
  auth: 'gitlab',
  event: '{{ object_kind }}',
  conversation: `{% if object_kind == "merge_request" %}${GITLAB_PROJECT}!{{ object_attributes.iid }}{% elsif object_kind == "issue" %}${GITLAB_PROJECT}#{{ object_attributes.iid }}{% elsif merge_request.iid %}${GITLAB_PROJECT}!{{ merge_request.iid }}{% elsif issue.iid %}${GITLAB_PROJECT}#{{ issue.iid }}{% else %}${GITLAB_PROJECT}{% endif %}`,
  messageId: '{{ headers["idempotency-key"] }}',
  author: GITLAB_BY,
  needs: 'project.path_with_namespace',
  texts: {
    push: `${GITLAB_PROJECT}: ${GITLAB_BY} pushed {{ total_commits_count }} commit{% if total_commits_count != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 8 }} {{ commit.title | truncate: 200 }}
{% endfor %}`,
    tag_push: `${GITLAB_PROJECT}: ${GITLAB_BY} pushed {{ ref | remove_first: "refs/tags/" }}`,
    merge_request: `${GITLAB_PROJECT}!{{ object_attributes.iid }} {{ object_attributes.action | default: object_attributes.state }} by ${GITLAB_BY}: {{ object_attributes.title }}
{{ object_attributes.url }}{% if object_attributes.action == "open" %}

{{ object_attributes.description | truncate: 4000 }}{% endif %}`,
    issue: `${GITLAB_PROJECT}#{{ object_attributes.iid }} {{ object_attributes.action | default: object_attributes.state }} by ${GITLAB_BY}: {{ object_attributes.title }}
{{ object_attributes.url }}{% if object_attributes.action == "open" %}

{{ object_attributes.description | truncate: 4000 }}{% endif %}`,
    note: `${GITLAB_PROJECT}: ${GITLAB_BY} commented on {% if merge_request %}!{{ merge_request.iid }} "{{ merge_request.title }}"{% elsif issue %}#{{ issue.iid }} "{{ issue.title }}"{% else %}{{ object_attributes.noteable_type | downcase }}{% endif %}
{{ object_attributes.url }}

{{ object_attributes.note | truncate: 4000 }}`,
    pipeline: `{% if object_attributes.status == "success" or object_attributes.status == "failed" or object_attributes.status == "canceled" %}${GITLAB_PROJECT}: pipeline {{ object_attributes.id }} {{ object_attributes.status }} on {{ object_attributes.ref }}
{{ object_attributes.url }}
{% for build in builds %}{% if build.status == "failed" %}- {{ build.stage }}/{{ build.name }} failed
{% endif %}{% endfor %}{% endif %}`,
    deployment: `${GITLAB_PROJECT}: deployment to {{ environment }} {{ status }}
{{ deployable_url }}`,
    release: `${GITLAB_PROJECT}: release {{ tag }} {{ action }}
{{ url }}`,
  },
}

const GITEA_BY = '{{ sender.login | default: pusher.login }}'
const giteaReview = (
  verb: string,
) => `${REPO}#{{ pull_request.number }}: ${GITEA_BY} ${verb} "{{ pull_request.title }}"
{{ pull_request.html_url }}

{{ review.content | truncate: 4000 }}`

/** Gitea and Forgejo send what GitHub sends, with their own headers. */
export const gitea: Recipe = {
  auth: 'gitea',
  event:
    '{{ headers["x-gitea-event"] | default: headers["x-forgejo-event"] | default: headers["x-gogs-event"] }}',
  conversation: `{% assign index = pull_request.number | default: issue.number %}${REPO}{% if index %}#{{ index }}{% endif %}`,
  messageId:
    '{{ headers["x-gitea-delivery"] | default: headers["x-forgejo-delivery"] | default: headers["x-gogs-delivery"] }}',
  author: GITEA_BY,
  needs: 'repository.full_name',
  texts: {
    push: `${REPO}: ${GITEA_BY} pushed {{ commits.size }} commit{% if commits.size != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 10 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{{ compare_url }}`,
    pull_request: `${REPO}#{{ number }} {% if action == "closed" and pull_request.merged %}merged{% else %}{{ action }}{% endif %} by ${GITEA_BY}: {{ pull_request.title }}
{{ pull_request.html_url }}{% if action == "opened" %}

{{ pull_request.body | truncate: 4000 }}{% endif %}`,
    pull_request_approved: giteaReview('approved'),
    pull_request_rejected: giteaReview('rejected'),
    pull_request_comment: giteaReview('reviewed'),
    issues: `${REPO}#{{ issue.number }} {{ action }} by ${GITEA_BY}: {{ issue.title }}
{{ issue.html_url }}{% if action == "opened" %}

{{ issue.body | truncate: 4000 }}{% endif %}`,
    issue_comment: `${REPO}#{{ issue.number }}: ${GITEA_BY} {{ action }} a comment on "{{ issue.title }}"
{{ comment.html_url }}

{{ comment.body | truncate: 4000 }}`,
    release: `${REPO}: release {{ release.tag_name }} {{ action }} by ${GITEA_BY}
{{ release.html_url }}`,
  },
}

const BITBUCKET_BY = '{{ actor.display_name | default: actor.nickname }}'
const BITBUCKET_PULL_REQUEST = `${REPO}#{{ pullrequest.id }} {{ event | split: ":" | last | replace: "_", " " }} by ${BITBUCKET_BY}: {{ pullrequest.title }}
{{ pullrequest.links.html.href }}`

/** Bitbucket Cloud: the conversation of a pull request is `workspace/repo#7`. */
export const bitbucket: Recipe = {
  auth: 'bitbucket',
  event: '{{ headers["x-event-key"] }}',
  conversation: `{% assign number = pullrequest.id | default: issue.id %}${REPO}{% if number %}#{{ number }}{% endif %}`,
  messageId: '{{ headers["x-request-uuid"] }}',
  author: BITBUCKET_BY,
  needs: 'repository.full_name',
  texts: {
    'diagnostics:ping': '',
    'repo:push': `${REPO}: ${BITBUCKET_BY} pushed
{% for change in push.changes limit: 10 %}- {{ change.new.name | default: change.old.name }}{% if change.closed %} was deleted{% endif %}
{% for commit in change.commits limit: 5 %}  - {{ commit.hash | slice: 0, 7 }} {{ commit.message | split: "
" | first | truncate: 200 }}
{% endfor %}{% endfor %}`,
    'repo:commit_status_updated': `${REPO}: build {{ commit_status.name }} {{ commit_status.state }}
{{ commit_status.url }}`,
    'pullrequest:created': `${BITBUCKET_PULL_REQUEST}

{{ pullrequest.description | truncate: 4000 }}`,
    'pullrequest:updated': BITBUCKET_PULL_REQUEST,
    'pullrequest:approved': BITBUCKET_PULL_REQUEST,
    'pullrequest:unapproved': BITBUCKET_PULL_REQUEST,
    'pullrequest:changes_request_created': BITBUCKET_PULL_REQUEST,
    'pullrequest:fulfilled': BITBUCKET_PULL_REQUEST,
    'pullrequest:rejected': BITBUCKET_PULL_REQUEST,
    'pullrequest:comment_created': `${REPO}#{{ pullrequest.id }}: ${BITBUCKET_BY} commented on "{{ pullrequest.title }}"
{{ comment.links.html.href }}

{{ comment.content.raw | truncate: 4000 }}`,
    'issue:created': `${REPO}#{{ issue.id }} created by ${BITBUCKET_BY}: {{ issue.title }}
{{ issue.links.html.href }}

{{ issue.content.raw | truncate: 4000 }}`,
    'issue:comment_created': `${REPO}#{{ issue.id }}: ${BITBUCKET_BY} commented on "{{ issue.title }}"

{{ comment.content.raw | truncate: 4000 }}`,
  },
}
