// Events of Stripe: docs.stripe.com, "The Event object" and "Types of events".
import { JSON_TYPE, type Samples } from './sample.ts'

const event = (id: string, type: string, object: Record<string, unknown>) => ({
  headers: { ...JSON_TYPE, 'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)' },
  body: {
    id,
    object: 'event',
    api_version: '2025-09-30.clover',
    created: 1767625215,
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    data: { object },
  },
})

export const stripe: Samples = {
  'invoice.payment_failed': event('evt_1MqqbKLt4dXK03v5qaIbiNCC', 'invoice.payment_failed', {
    id: 'in_1MtHbELkdIwHu7ixl4OzzPMv',
    object: 'invoice',
    amount_due: 1099,
    currency: 'usd',
    customer: 'cus_NeZwdNtLEOXuvB',
    customer_email: 'jennyrosen@example.com',
    status: 'open',
    hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1M2JTkLkdIwHu7ix/test_YWNjdF8x',
  }),
  'customer.subscription.updated': event('evt_1MqqbKLt4dXK03v5qaIbiNCD', 'customer.subscription.updated', {
    id: 'sub_1MowQVLkdIwHu7ixeRlqHVzs',
    object: 'subscription',
    customer: 'cus_NeZwdNtLEOXuvB',
    status: 'past_due',
    currency: 'usd',
  }),
  'payment_intent.payment_failed': event('evt_1MqqbKLt4dXK03v5qaIbiNCE', 'payment_intent.payment_failed', {
    id: 'pi_3MtwBwLkdIwHu7ix28a3tqPa',
    object: 'payment_intent',
    amount: 2000,
    currency: 'eur',
    customer: null,
    status: 'requires_payment_method',
    last_payment_error: { code: 'card_declined', message: 'Your card was declined.' },
  }),
}
