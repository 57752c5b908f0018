// Recipes of monitoring and alerting services. One problem is one conversation, from its start to its end.
import type { Recipe } from './recipe.ts'

/** Sentry sends these through an internal integration. */
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

/**
 * One group of alerts is one conversation. Alertmanager sends no id, and a reminder equals its alert. So each
 * notification is a message.
 */
export const alertmanager: Recipe = {
  auth: null,
  event: '{{ status }}',
  conversation: '{{ groupKey }}',
  needs: 'alerts',
  texts: {},
  other: `[{{ status | upcase }}{% if status == "firing" %}: {{ alerts | where: "status", "firing" | size }}{% endif %}] {{ commonLabels.alertname | default: groupLabels.alertname }}{% if commonLabels.severity %} ({{ commonLabels.severity }}){% endif %}
{{ commonAnnotations.summary | default: commonAnnotations.description }}
{% for alert in alerts limit: 20 %}- {{ alert.status }}: {{ alert.labels.alertname }}{% if alert.labels.instance %} on {{ alert.labels.instance }}{% endif %}{% if alert.annotations.description %}: {{ alert.annotations.description | truncate: 300 }}{% endif %}
{% endfor %}{% if truncatedAlerts > 0 %}and {{ truncatedAlerts }} more
{% endif %}{{ externalURL }}`,
}

/** Grafana’s alerting and the older alerts of dashboards: one group or rule is one conversation. */
export const grafana: Recipe = {
  auth: null,
  event: '{{ status | default: state }}',
  conversation: '{% if groupKey %}{{ groupKey }}{% elsif ruleId %}rule {{ ruleId }}{% endif %}',
  texts: {},
  other: `{{ title }}
{% if alerts %}{% for alert in alerts limit: 20 %}- {{ alert.status }}: {{ alert.labels.alertname }}{% if alert.annotations.summary %}: {{ alert.annotations.summary | truncate: 300 }}{% endif %}{% if alert.valueString %} ({{ alert.valueString | truncate: 200 }}){% endif %}
  {{ alert.panelURL | default: alert.generatorURL }}
{% endfor %}{% else %}{{ message }}
{% for match in evalMatches limit: 20 %}- {{ match.metric }}: {{ match.value }}
{% endfor %}{{ ruleUrl }}{% endif %}`,
}

const PAGERDUTY_SERVICE = '{{ body.event.data.service.summary | default: body.event.data.incident.summary }}'

/** Webhooks of version 3. */
export const pagerduty: Recipe = {
  auth: 'pagerduty',
  event: '{{ body.event.event_type }}',
  conversation:
    '{% assign incident = body.event.data.incident.id | default: body.event.data.id %}incident {{ incident }}',
  messageId: '{{ body.event.id }}',
  author: '{{ body.event.agent.summary }}',
  texts: {
    'pagey.ping': '',
    'incident.annotated': `{{ body.event.agent.summary | default: "Somebody" }} noted on {{ body.event.data.incident.summary }}

{{ body.event.data.content | truncate: 4000 }}
{{ body.event.data.incident.html_url }}`,
    'incident.status_update_published': `Status of {{ body.event.data.incident.summary }}

{{ body.event.data.message | truncate: 4000 }}
{{ body.event.data.incident.html_url }}`,
  },
  other: `{% if body.event.data.title %}PagerDuty {{ body.event.event_type | replace: ".", " " | replace: "_", " " }}: #{{ body.event.data.number }} {{ body.event.data.title }}
${PAGERDUTY_SERVICE}, {{ body.event.data.status }}, urgency {{ body.event.data.urgency }}{% if body.event.agent.summary %}, by {{ body.event.agent.summary }}{% endif %}
{{ body.event.data.html_url }}{% endif %}`,
}

export const uptimeKuma: Recipe = {
  auth: null,
  event:
    '{% if heartbeat.status == 0 %}down{% elsif heartbeat.status == 1 %}up{% elsif heartbeat %}other{% else %}note{% endif %}',
  conversation: '{% if monitor.id %}monitor {{ monitor.id }}{% endif %}',
  messageId: '{% if heartbeat.time %}{{ monitor.id }}:{{ heartbeat.time }}:{{ heartbeat.status }}{% endif %}',
  texts: {},
  other: `{{ msg }}
{% if monitor.url and monitor.url != "https://" %}{{ monitor.url }}
{% elsif monitor.hostname %}{{ monitor.hostname }}
{% endif %}{% if heartbeat.time %}{{ heartbeat.time }} {{ heartbeat.timezone | default: "UTC" }}{% endif %}`,
}

/** One topic is one conversation, and so is each CloudWatch alarm in it. */
export const sns: Recipe = {
  auth: null,
  event: '{{ Type }}',
  inside: 'Message',
  conversation: '{{ TopicArn }}{% if inside.AlarmName %}/{{ inside.AlarmName }}{% endif %}',
  messageId: '{{ MessageId }}',
  texts: {
    SubscriptionConfirmation: '',
    UnsubscribeConfirmation: 'The subscription to {{ TopicArn }} has ended.',
    Notification: `{% if inside.AlarmName %}{{ inside.AlarmName }} is {{ inside.NewStateValue }} (was {{ inside.OldStateValue }}) in {{ inside.Region }}
{{ inside.NewStateReason }}
{{ inside.AlarmDescription }}{% else %}{{ Subject }}
{{ Message }}{% endif %}`,
  },
}
