// Events of PagerDuty: developer.pagerduty.com, "V3 webhooks: payloads".
import { JSON_TYPE, type Samples } from './sample.ts'

const incident = {
  id: 'PGR0VU2',
  type: 'incident',
  html_url: 'https://acme.pagerduty.com/incidents/PGR0VU2',
  number: 2,
  status: 'triggered',
  title: 'A little bump in the road',
  service: { id: 'PF9KMXH', summary: 'API Service', type: 'service_reference' },
  urgency: 'high',
}
const event = (id: string, event_type: string, data: Record<string, unknown>) => ({
  headers: { ...JSON_TYPE, 'user-agent': 'PagerDuty-Webhook/V3.0', 'x-webhook-id': 'PKT9NNX' },
  body: {
    event: {
      id,
      event_type,
      resource_type: 'incident',
      occurred_at: '2026-01-05T15:40:15.000Z',
      agent: { id: 'PLH1HKV', summary: 'Tenex Engineer', type: 'user_reference' },
      client: null,
      data,
    },
  },
})

export const pagerduty: Samples = {
  'pagey.ping': event('01BZB1YSVVCJ8ZYX9QR2RE7TTA', 'pagey.ping', {
    message: 'Hello from your friend Pagey!',
    type: 'ping',
  }),
  'incident.triggered': event('01CNFVCJT3LB0KMX1Z9VC7NT5C', 'incident.triggered', incident),
  'incident.annotated': event('01CNFVCJT3LB0KMX1Z9VC7NT5D', 'incident.annotated', {
    incident: {
      id: 'PGR0VU2',
      summary: '[#2] A little bump in the road',
      html_url: incident.html_url,
      type: 'incident_reference',
    },
    id: 'P7BFKLD',
    content: 'This is a note.',
    trimmed: false,
    type: 'incident_note',
  }),
  'incident.resolved': event('01CNFVCJT3LB0KMX1Z9VC7NT5E', 'incident.resolved', {
    ...incident,
    status: 'resolved',
  }),
}
