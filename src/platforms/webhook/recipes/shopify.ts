// Shopify: one order is one conversation, refunds and fulfilments included; so is one product or customer. The kind is
// taken from the body: the topic stands in a header, which is not signed.
import type { Recipe } from './recipe.ts'

const SHOP = '{{ headers["x-shopify-shop-domain"] }}'

export const shopify: Recipe = {
  auth: 'shopify',
  event: '{{ headers["x-shopify-topic"] }}',
  conversation:
    '{% assign gid = admin_graphql_api_id | split: "/" %}{% if order_id %}orders/{{ order_id }}{% elsif gid[4] %}{{ gid[3] | downcase }}s/{{ gid[4] }}{% else %}{{ id }}{% endif %}',
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
