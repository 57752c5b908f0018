// The texts of new configuration files: of a script, of the wizard, and for Claude Code. Each is valid as it stands.
import { indentedYaml } from '../config/yaml/edit-file.ts'
import { DEFAULT_PORT } from '../contract/index.ts'
import type { Definition } from './definition.ts'

interface Starter {
  readonly agent: string
  /** The connector as YAML in one line, and the comment above it. */
  readonly connector?: { readonly yaml: string; readonly comment: string }
  readonly hook: string
  /** Null: no port was chosen. */
  readonly port: number | null
  /** The file that holds the webhook's secret, as written after `file:`. */
  readonly secretFile: string
}

/** The web chat, a signed webhook, and one agent. */
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

/** What the person chose at the wizard. */
export function wizardYaml(
  integrations: readonly Definition[],
  agents: readonly Definition[],
  port: number | null,
): string {
  return `# Switchboard's configuration. Check it with \`switchboard check\`; it is read again when it changes.
# Every key, with its default: \`switchboard schema\`. Add more with \`switchboard init\`.

server:
  host: 127.0.0.1 # loopback only; a public address needs an admin token
  ${portLine(port)}

# Where people talk. What is secret is kept encrypted and only referred to: \`switchboard secrets set NAME\` changes it.
integrations:
${indentedYaml(integrations)}
# Who answers, and where its messages come from.
agents:
${indentedYaml(agents)}`
}

/** The web chat, and an agent that Claude Code attaches to. */
export function claudeCodeYaml(agent: string, port: number | null): string {
  return `# Switchboard for Claude Code. Check it with \`switchboard check\`; it is read again when it changes.

server:
  host: 127.0.0.1
  ${portLine(port)}

integrations:
  # The chat page at /chat: get a link with \`switchboard link\`.
  - id: web
    platform: web
    default: true
  # A Telegram bot, when you have one: \`switchboard integrations add telegram --agent ${agent}\` asks for its token,
  # tries it and keeps it encrypted. Or here, with \`switchboard secrets set TELEGRAM_BOT_TOKEN\` while it runs:
  # - id: telegram
  #   platform: telegram
  #   token: secret:TELEGRAM_BOT_TOKEN

agents:
  # Reached through the MCP server in .mcp.json.
  - id: ${agent}
    connector: { type: channel }
    inbound_bindings:
      - { plugin: web, instance: web }
      # - { plugin: telegram, instance: telegram }
`
}

/** Without a chosen port the line stays a comment: when the default port is taken, the next free one is used. */
function portLine(port: number | null): string {
  return port === null
    ? `# port: ${DEFAULT_PORT} # the next free one where it is taken; written down, it must be free`
    : `port: ${port}`
}
