// Notifications of Uptime Kuma: its webhook provider sends heartbeat, monitor and msg.
import { JSON_TYPE, type Samples } from './sample.ts'

const monitor = { id: 4, name: 'shop', url: 'https://shop.example.com', type: 'http', interval: 60 }
const beat = (status: 0 | 1, time: string, msg: string) => ({
  headers: { ...JSON_TYPE, 'user-agent': 'Uptime-Kuma/2.0.2' },
  body: {
    heartbeat: {
      monitorID: 4,
      status,
      time,
      msg,
      important: true,
      duration: 60,
      timezone: 'Europe/Oslo',
      localDateTime: time,
    },
    monitor,
    msg: `[shop] [${status === 0 ? '🔴 Down' : '✅ Up'}] ${msg}`,
  },
})

export const uptimeKuma: Samples = {
  down: beat(0, '2026-01-05 15:40:15.123', 'connect ECONNREFUSED 203.0.113.7:443'),
  up: beat(1, '2026-01-05 15:45:15.456', '200 - OK'),
  test: {
    headers: { ...JSON_TYPE, 'user-agent': 'Uptime-Kuma/2.0.2' },
    body: { heartbeat: null, monitor: null, msg: 'switchboard Testing' },
  },
}
