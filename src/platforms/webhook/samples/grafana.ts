// Notifications of Grafana: grafana.com, "Configure the webhook notifier", and the older alerts of dashboards.
import { JSON_TYPE, type Samples } from './sample.ts'

const group = (status: 'firing' | 'resolved') => ({
  headers: { ...JSON_TYPE, 'user-agent': 'Grafana' },
  body: {
    receiver: 'My Super Webhook',
    status,
    orgId: 1,
    alerts: [
      {
        status,
        labels: { alertname: 'High memory usage', team: 'blue', zone: 'us-1' },
        annotations: { summary: 'The system has high memory usage' },
        startsAt: '2026-10-12T09:51:03.157076+02:00',
        endsAt: '0001-01-01T00:00:00Z',
        valueString: "[ metric='' labels={} value=14151.331895396988 ]",
        generatorURL: 'https://play.grafana.example.com/alerting/1afz29v7z/edit',
        fingerprint: 'c6eadffa33fcdf37',
        panelURL: '',
      },
    ],
    groupLabels: {},
    commonLabels: { team: 'blue' },
    externalURL: 'https://play.grafana.example.com/',
    version: '1',
    groupKey: '{}:{}',
    truncatedAlerts: 0,
    title: `[${status.toUpperCase()}:1]  (blue)`,
    state: status === 'firing' ? 'alerting' : 'ok',
    message: '**Firing**\n\nLabels:\n - alertname = High memory usage',
  },
})

export const grafana: Samples = {
  firing: group('firing'),
  resolved: group('resolved'),
  dashboard: {
    headers: { ...JSON_TYPE, 'user-agent': 'Grafana' },
    body: {
      dashboardId: 1,
      evalMatches: [{ value: 1, metric: 'Count', tags: {} }],
      message: 'Notification Message',
      orgId: 1,
      panelId: 2,
      ruleId: 1,
      ruleName: 'Panel Title alert',
      ruleUrl: 'http://grafana.example.com/d/hZ7BuVbWz/test-dashboard',
      state: 'alerting',
      title: '[Alerting] Panel Title alert',
    },
  },
}
