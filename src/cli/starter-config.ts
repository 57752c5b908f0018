// The starter switchboard.yaml: small, commented, and valid as it stands.
import { DEFAULT_PORT } from '../contract/index.ts'

export interface Starter {
  readonly agent: string
  /** How it is reached, as YAML in one line, and what is said above it. */
  readonly connector?: { readonly yaml: string; readonly comment: string }
  readonly hook: string
  /** Null: none was chosen. */
  readonly port: number | null
  /** The file that holds the webhook's secret, as written after `file:`. */
  readonly secretFile: string
}

export function starterYaml({ agent, hook, port, secretFile, connector = DEMO }: Starter): string {
  return `# Switchboard's configuration. Check it with \`switchboard check\`; it is read again when it changes.
# Every key, with its default: \`switchboard schema\`.

server:
  host: 127.0.0.1 # loopback only; a public address needs an admin token
  ${portLine(port)}

integrations:
  # The chat page at /chat. \`switchboard up\` prints a link to it, \`switchboard link\` another one.
  - id: web
    platform: web
    default: true # where notifications go when no channel is named

  # POST /hooks/${hook}. The body must be signed: X-Hub-Signature-256, as GitHub does it.
  # Answers are streamed at /hooks/${hook}/events.
  - id: ${hook}
    platform: webhook
    # A secret is never written here. Refer to it: secret:NAME (kept encrypted, set with \`switchboard secrets set
    # NAME\`, in force at once) or file:path, as this one, which you hand to whoever signs.
    secret: file:${secretFile}
    signature: github
    two_way: true

agents:
  # ${connector.comment}
  - id: ${agent}
    connector: ${connector.yaml}
    inbound_bindings:
      - { plugin: web, instance: web }
      - { plugin: webhook, instance: ${hook} }
    # Where it may send on its own: platform:target, platform:* or *. Nothing listed: nowhere.
    # messaging: { allow: ["webhook:*"] }

# People, when there is more than one of them:
# users:
#   - { id: me, identities: ["web:owner"], roles: [owner, approver, operator] }

# Some of what can be tuned, with the defaults:
# tunables:
#   max_attempts: 5
#   queue_expiry: 7d
#   approval_expiry: 10m
`
}

const DEMO = {
  yaml: '{ type: demo }',
  comment: 'The demo agent needs no key. Say "help" to it, "deploy", or "remind me in 5s".',
}

/** A port that nobody chose stays open: where it is taken the next free one is used. */
export function portLine(port: number | null): string {
  return port === null
    ? `# port: ${DEFAULT_PORT} # the next free one where it is taken; written down, it must be free`
    : `port: ${port}`
}
