// Stripe: what concerns one customer is one conversation; what has none is its object's.
import type { Recipe } from './recipe.ts'

export const stripe: Recipe = {
  auth: 'stripe',
  event: '{{ type }}',
  conversation:
    '{% if data.object.object == "customer" %}{{ data.object.id }}{% else %}{{ data.object.customer | default: data.object.id | default: type }}{% endif %}',
  messageId: '{{ id }}',
  needs: 'type',
  texts: {},
  other: `Stripe{% if livemode == false %} (test mode){% endif %}: {{ type }}
{{ data.object.object }} {{ data.object.id }}{% if data.object.status %}, {{ data.object.status }}{% endif %}{% assign amount = data.object.amount_due | default: data.object.amount_total | default: data.object.amount %}{% if amount %}, {{ amount }} {{ data.object.currency | upcase }} in its smallest unit{% endif %}
{% if data.object.customer %}customer {{ data.object.customer }}
{% endif %}{% if data.object.customer_email or data.object.email %}email {{ data.object.customer_email | default: data.object.email }}
{% endif %}{% if data.object.last_payment_error.message %}{{ data.object.last_payment_error.message }}
{% endif %}{{ data.object.hosted_invoice_url }}`,
}
