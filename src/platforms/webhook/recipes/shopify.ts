// Shopify: one order is one conversation, refunds and fulfilments included; so is one product or customer.
import type { Recipe } from './recipe.ts'

const SHOP = '{{ headers["x-shopify-shop-domain"] }}'

export const shopify: Recipe = {
  auth: 'shopify',
  event: '{{ headers["x-shopify-topic"] }}',
  conversation:
    '{% assign kind = headers["x-shopify-topic"] | split: "/" | first %}{% if order_id %}orders/{{ order_id }}{% elsif id %}{{ kind }}/{{ id }}{% endif %}',
  messageId: '{{ headers["x-shopify-webhook-id"] | default: headers["x-shopify-event-id"] }}',
  texts: {
    'refunds/create': `${SHOP}: refund {{ id }} of order {{ order_id }}
{% for one in transactions limit: 10 %}- {{ one.amount }} {{ one.currency }} ({{ one.status }})
{% endfor %}{{ note }}`,
    'fulfillments/create': `${SHOP}: order {{ order_id }} {{ status }}{% if tracking_number %}, tracking {{ tracking_company }} {{ tracking_number }}{% endif %}
{% for item in line_items limit: 20 %}- {{ item.quantity }} × {{ item.title | default: item.name }}
{% endfor %}`,
  },
  other: `${SHOP}: {{ event }}{% if name %} {{ name }}{% elsif title %} {{ title }}{% elsif id %} {{ id }}{% endif %}
{% if total_price %}{{ total_price }} {{ currency }}, {{ financial_status | default: "unpaid" }}
{% endif %}{% for item in line_items limit: 20 %}- {{ item.quantity }} × {{ item.title | default: item.name }}
{% endfor %}{% if customer.email or email %}{{ customer.email | default: email }}
{% endif %}{{ order_status_url }}`,
}
