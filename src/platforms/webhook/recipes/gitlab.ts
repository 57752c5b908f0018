// GitLab: a merge request is one conversation, `group/project!7`, an issue `group/project#7`; the rest is the project's.
import type { Recipe } from './recipe.ts'

const PROJECT = '{{ project.path_with_namespace }}'
const BY = '{{ user.name | default: user_name }}'

export const gitlab: Recipe = {
  auth: 'gitlab',
  event: '{{ object_kind }}',
  conversation: `{% if object_kind == "merge_request" %}${PROJECT}!{{ object_attributes.iid }}{% elsif object_kind == "issue" %}${PROJECT}#{{ object_attributes.iid }}{% elsif merge_request.iid %}${PROJECT}!{{ merge_request.iid }}{% elsif issue.iid %}${PROJECT}#{{ issue.iid }}{% else %}${PROJECT}{% endif %}`,
  messageId: '{{ headers["idempotency-key"] }}',
  author: BY,
  needs: 'project.path_with_namespace',
  texts: {
    push: `${PROJECT}: ${BY} pushed {{ total_commits_count }} commit{% if total_commits_count != 1 %}s{% endif %} to {{ ref | remove_first: "refs/heads/" }}
{% for commit in commits limit: 10 %}- {{ commit.id | slice: 0, 8 }} {{ commit.title | truncate: 200 }}
{% endfor %}`,
    tag_push: `${PROJECT}: ${BY} pushed {{ ref | remove_first: "refs/tags/" }}`,
    merge_request: `${PROJECT}!{{ object_attributes.iid }} {{ object_attributes.action | default: object_attributes.state }} by ${BY}: {{ object_attributes.title }}
{{ object_attributes.url }}{% if object_attributes.action == "open" %}

{{ object_attributes.description | truncate: 4000 }}{% endif %}`,
    issue: `${PROJECT}#{{ object_attributes.iid }} {{ object_attributes.action | default: object_attributes.state }} by ${BY}: {{ object_attributes.title }}
{{ object_attributes.url }}{% if object_attributes.action == "open" %}

{{ object_attributes.description | truncate: 4000 }}{% endif %}`,
    note: `${PROJECT}: ${BY} commented on {% if merge_request %}!{{ merge_request.iid }} "{{ merge_request.title }}"{% elsif issue %}#{{ issue.iid }} "{{ issue.title }}"{% else %}{{ object_attributes.noteable_type | downcase }}{% endif %}
{{ object_attributes.url }}

{{ object_attributes.note | truncate: 4000 }}`,
    pipeline: `{% if object_attributes.status == "success" or object_attributes.status == "failed" or object_attributes.status == "canceled" %}${PROJECT}: pipeline {{ object_attributes.id }} {{ object_attributes.status }} on {{ object_attributes.ref }}
{{ object_attributes.url }}
{% for build in builds %}{% if build.status == "failed" %}- {{ build.stage }}/{{ build.name }} failed
{% endif %}{% endfor %}{% endif %}`,
    deployment: `${PROJECT}: deployment to {{ environment }} {{ status }}
{{ deployable_url }}`,
    release: `${PROJECT}: release {{ tag }} {{ action }}
{{ url }}`,
  },
}
