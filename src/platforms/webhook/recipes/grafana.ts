// Grafana's alerting, and the older one of dashboards: one group (or rule) is one conversation.
import type { Recipe } from './recipe.ts'

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
