// Sentry (an internal integration): one issue is one conversation.
import type { Recipe } from './recipe.ts'

export const sentry: Recipe = {
  auth: 'sentry',
  event: '{{ headers["sentry-hook-resource"] }}',
  conversation:
    '{% assign issue = data.issue.id | default: data.event.issue_id | default: data.issue_id | default: data.error.issue_id %}{% if issue %}issue {{ issue }}{% elsif data.metric_alert %}metric {{ data.metric_alert.alert_rule.id | default: data.metric_alert.id }}{% endif %}',
  messageId: '{{ headers["request-id"] }}',
  author: '{{ actor.name }}',
  needs: 'data',
  texts: {
    installation: '',
    issue: `Sentry issue {{ action }}: {{ data.issue.shortId }} {{ data.issue.title }}
{{ data.issue.project.slug }}, {{ data.issue.level }}{% if data.issue.culprit %}, in {{ data.issue.culprit }}{% endif %}
{{ data.issue.web_url | default: data.issue.permalink }}`,
    event_alert: `Sentry alert "{{ data.triggered_rule }}": {{ data.event.title }}
{% if data.event.culprit %}in {{ data.event.culprit }}
{% endif %}{{ data.event.web_url }}`,
    metric_alert: `Sentry: {{ data.description_title }}
{{ data.description_text }}
{{ data.web_url }}`,
    error: `Sentry error: {{ data.error.title }}
{% if data.error.culprit %}in {{ data.error.culprit }}
{% endif %}{{ data.error.web_url }}`,
    comment: `Sentry: {{ actor.name }} {{ action }} a comment on issue {{ data.issue_id }}

{{ data.comment | truncate: 4000 }}`,
  },
}
