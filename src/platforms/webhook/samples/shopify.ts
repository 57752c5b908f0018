// Events of Shopify: shopify.dev, "Webhooks", sample payloads.
import { JSON_TYPE, type Samples } from './sample.ts'

const headers = (topic: string, id: string) => ({
  ...JSON_TYPE,
  'x-shopify-topic': topic,
  'x-shopify-shop-domain': 'snowdevil.myshopify.com',
  'x-shopify-api-version': '2026-01',
  'x-shopify-webhook-id': id,
  'x-shopify-triggered-at': '2026-01-05T15:40:15.000Z',
})
const line_items = [{ id: 866550311, title: 'IPod Nano - 8GB', quantity: 1, price: '199.00' }]
const order = '820982911946154508'

export const shopify: Samples = {
  'orders/create': {
    headers: headers('orders/create', 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043'),
    body: {
      id: order,
      admin_graphql_api_id: `gid://shopify/Order/${order}`,
      name: '#9999',
      email: 'jon@example.com',
      total_price: '388.00',
      currency: 'USD',
      financial_status: 'voided',
      line_items,
      order_status_url: 'https://jsmith.myshopify.com/548380009/orders/123456abcd/authenticate',
    },
  },
  'refunds/create': {
    headers: headers('refunds/create', 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd044'),
    body: {
      id: 890088186,
      order_id: order,
      note: 'Things were damaged',
      transactions: [{ id: 245135271, amount: '199.00', currency: 'USD', status: 'success' }],
    },
  },
  'fulfillments/create': {
    headers: headers('fulfillments/create', 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd045'),
    body: {
      id: 123456,
      order_id: order,
      status: 'pending',
      tracking_company: 'UPS',
      tracking_number: '1Z2345',
      line_items,
    },
  },
}
