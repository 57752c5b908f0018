// Notifications of Prometheus Alertmanager: prometheus.io, "Configuration: webhook_config".
import { JSON_TYPE, type Samples } from './sample.ts'

const group = (status: 'firing' | 'resolved', more: Record<string, unknown> = {}) => ({
  headers: { ...JSON_TYPE, 'user-agent': 'Alertmanager/0.28.1' },
  body: {
    version: '4',
    groupKey: '{}/{severity="critical"}:{alertname="InstanceDown"}',
    truncatedAlerts: 0,
    status,
    receiver: 'switchboard',
    groupLabels: { alertname: 'InstanceDown' },
    commonLabels: { alertname: 'InstanceDown', severity: 'critical', job: 'node' },
    commonAnnotations: { summary: 'Instance web-1:9100 down' },
    externalURL: 'http://alertmanager.example.com:9093',
    alerts: [
      {
        status,
        labels: { alertname: 'InstanceDown', instance: 'web-1:9100', job: 'node', severity: 'critical' },
        annotations: {
          summary: 'Instance web-1:9100 down',
          description: 'web-1:9100 has been down for more than 5 minutes.',
        },
        startsAt: '2026-01-05T15:35:15.000Z',
        endsAt: status === 'firing' ? '0001-01-01T00:00:00Z' : '2026-01-05T15:50:15.000Z',
        generatorURL: 'http://prometheus.example.com:9090/graph?g0.expr=up+%3D%3D+0',
        fingerprint: '0f8f4f1e9bd7a2c1',
      },
    ],
    ...more,
  },
})

export const alertmanager: Samples = {
  firing: group('firing'),
  resolved: group('resolved'),
  truncated: group('firing', { truncatedAlerts: 12 }),
}
