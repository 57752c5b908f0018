// Prometheus Alertmanager: one group of alerts is one conversation, from firing to resolved. It sends no id, and its
// reminders are equal to what they remind of: each is a message.
import type { Recipe } from './recipe.ts'

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
