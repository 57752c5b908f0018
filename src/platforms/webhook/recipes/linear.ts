// Linear: one issue is one conversation. Its delivery id stands outside of the signature, so the signed facts are the id.
import type { Recipe } from './recipe.ts'

export const linear: Recipe = {
  auth: 'linear',
  event: '{{ type }}',
  conversation:
    '{% if type == "Comment" or type == "Reaction" or type == "IssueLabel" %}{{ data.issue.id | default: data.issueId | default: data.id }}{% else %}{{ data.id }}{% endif %}',
  messageId: '{{ type }}:{{ action }}:{{ data.id }}:{{ data.updatedAt | default: createdAt }}',
  author: '{{ actor.name }}',
  texts: {
    Issue: `{{ data.identifier }} {{ action }}d: {{ data.title }}
{{ data.state.name }}{% if data.assignee.name %}, assigned to {{ data.assignee.name }}{% endif %}{% if data.priorityLabel %}, {{ data.priorityLabel }}{% endif %}
{{ url }}{% if action == "create" %}

{{ data.description | truncate: 4000 }}{% endif %}`,
    Comment: `{{ data.issue.identifier }}: {{ data.user.name | default: actor.name }} {{ action }}d a comment on "{{ data.issue.title }}"
{{ url }}

{{ data.body | truncate: 4000 }}`,
    Project: `Project {{ data.name }} {{ action }}d ({{ data.state | default: data.status.name }})
{{ url }}`,
    ProjectUpdate: `Project update{% if data.project.name %} of {{ data.project.name }}{% endif %} by {{ data.user.name | default: actor.name }} ({{ data.health }})
{{ url }}

{{ data.body | truncate: 4000 }}`,
  },
}
