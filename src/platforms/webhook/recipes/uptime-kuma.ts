// Uptime Kuma: one monitor is one conversation, from down to up.
import type { Recipe } from './recipe.ts'

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
