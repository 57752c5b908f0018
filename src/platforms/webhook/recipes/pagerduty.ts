// PagerDuty (webhooks of version 3): one incident is one conversation.
import type { Recipe } from './recipe.ts'

const SERVICE = '{{ body.event.data.service.summary | default: body.event.data.incident.summary }}'

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
${SERVICE}, {{ body.event.data.status }}, urgency {{ body.event.data.urgency }}{% if body.event.agent.summary %}, by {{ body.event.agent.summary }}{% endif %}
{{ body.event.data.html_url }}{% endif %}`,
}
