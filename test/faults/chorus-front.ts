// The service's side of Chorus in fault tests: a webhook whose messages go to the agent that a file beside it names.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes the configuration into the folder and returns its path. `head` is put before it. */
export function writeChorusFront(data: string, connectionString: string, head = ''): string {
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'agent.url'), connectionString, { mode: 0o600 })
  writeFileSync(
    config,
    `${head}integrations:
  - id: demo
    platform: webhook
    sender_header: X-Sender
    two_way: true
    access: { dm: allowlist, allow_from: [dev, ann] }
agents:
  - id: far
    connector: { type: chorus, url: "file:agent.url", allow_private: true }
    inbound_bindings: [{ plugin: webhook, instance: demo }]
`,
  )
  return config
}
