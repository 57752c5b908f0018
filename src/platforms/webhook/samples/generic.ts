// What many small senders post.
import { JSON_TYPE, type Samples } from './sample.ts'

export const generic: Samples = {
  alert: {
    headers: JSON_TYPE,
    body: {
      title: 'Backup failed',
      message: 'The disk is full.',
      url: 'https://backup.example.com/runs/7',
      incident_id: 'run-7',
    },
  },
  text: { headers: JSON_TYPE, body: { text: 'Deploy of api 1.4.2 has finished.' } },
  fields: { headers: JSON_TYPE, body: { temperature: 41.5, room: 'server' } },
}
