// Recipes of issue trackers and of shops. One issue, one order or one customer is one conversation.
import type { Recipe } from './recipe.ts'

const JIRA_ISSUE = '{{ issue.key }}'
const JIRA_BY = '{{ user.displayName | default: comment.author.displayName }}'

export const jira: Recipe = {
  auth: 'jira',
  event: '{{ webhookEvent }}',
  conversation: '{{ issue.key | default: sprint.name | default: version.name }}',
  messageId: '{{ headers["x-atlassian-webhook-identifier"] }}',
  author: JIRA_BY,
  texts: {
    'jira:issue_created': `${JIRA_ISSUE} created by ${JIRA_BY}: {{ issue.fields.summary }}
{{ issue.fields.issuetype.name }}, {{ issue.fields.status.name }}{% if issue.fields.priority.name %}, {{ issue.fields.priority.name }}{% endif %}

{{ issue.fields.description | truncate: 4000 }}`,
    'jira:issue_updated': `${JIRA_ISSUE} updated by ${JIRA_BY}: {{ issue.fields.summary }}
{% for item in changelog.items limit: 20 %}- {{ item.field }}: {{ item.fromString | default: "nothing" | truncate: 200 }} → {{ item.toString | default: "nothing" | truncate: 200 }}
{% endfor %}`,
    'jira:issue_deleted': `${JIRA_ISSUE} deleted by ${JIRA_BY}: {{ issue.fields.summary }}`,
    comment_created: `${JIRA_ISSUE}: {{ comment.author.displayName }} commented on "{{ issue.fields.summary }}"

{{ comment.body | truncate: 4000 }}`,
    comment_updated: `${JIRA_ISSUE}: {{ comment.updateAuthor.displayName | default: comment.author.displayName }} changed a comment on "{{ issue.fields.summary }}"

{{ comment.body | truncate: 4000 }}`,
  },
}

/** The signature does not cover Linear’s delivery id, so signed fields make the id. */
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

/** An event without a customer belongs to the conversation of its object. */
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

const SHOPIFY_SHOP = '{{ headers["x-shopify-shop-domain"] }}'

/**
 * Refunds and fulfilments belong to the conversation of their order. The topic is an unsigned header, so the kind of
 * the object comes from the body.
 */
export const shopify: Recipe = {
  auth: 'shopify',
  event: '{{ headers["x-shopify-topic"] }}',
  conversation:
    '{% assign gid = admin_graphql_api_id | split: "/" %}{% if order_id %}orders/{{ order_id }}{% elsif gid[4] %}{{ gid[3] | downcase }}s/{{ gid[4] }}{% else %}{{ id }}{% endif %}',
  messageId: '{{ headers["x-shopify-webhook-id"] | default: headers["x-shopify-event-id"] }}',
  texts: {
    'refunds/create': `${SHOPIFY_SHOP}: refund {{ id }} of order {{ order_id }}
{% for one in transactions limit: 10 %}- {{ one.amount }} {{ one.currency }} ({{ one.status }})
{% endfor %}{{ note }}`,
    'fulfillments/create': `${SHOPIFY_SHOP}: order {{ order_id }} {{ status }}{% if tracking_number %}, tracking {{ tracking_company }} {{ tracking_number }}{% endif %}
{% for item in line_items limit: 20 %}- {{ item.quantity }} × {{ item.title | default: item.name }}
{% endfor %}`,
  },
  other: `${SHOPIFY_SHOP}: {{ event }}{% if name %} {{ name }}{% elsif title %} {{ title }}{% elsif id %} {{ id }}{% endif %}
{% if total_price %}{{ total_price }} {{ currency }}, {{ financial_status | default: "unpaid" }}
{% endif %}{% for item in line_items limit: 20 %}- {{ item.quantity }} × {{ item.title | default: item.name }}
{% endfor %}{% if customer.email or email %}{{ customer.email | default: email }}
{% endif %}{{ order_status_url }}`,
}
