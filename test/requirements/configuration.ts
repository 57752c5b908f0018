// What SPEC 3 promises: the file, its checks, secrets by reference, hot reload, defaults.
import { requirements } from './row.ts'

export const CONFIGURATION = requirements(
  '3 Configuration',
  `
built   3 S3.mention-backtracking   check warns of mention patterns with exponential backtracking
built   3 S3.example-loads          The example of SPEC 3 loads as it stands
built   3 S3.schema-command         'switchboard schema' prints a JSON Schema for switchboard.yaml
built   3 S3.unknown-key            An unknown key is an error that names line and column
built   3 S3.nearest-key            The error for an unknown key names the nearest right key
built   3 S3.wrong-type             A value of the wrong type is an error with line and column
built   3 S3.ref-env                env:NAME reads a secret from the environment
built   3 S3.ref-file               file:path reads a secret from a file
built   3 S3.ref-secret             secret:NAME reads a secret from the encrypted store
built   3 S3.ref-missing            A reference that leads nowhere is a clear error that names the reference and prints no value
built   3 S3.secret-not-logged      A secret that was resolved is never logged
built   3 S3.reload-file            A change of the file is taken without a restart
built   3 S3.reload-sighup          SIGHUP reloads
built   3 S3.reload-command         'switchboard reload' reloads and says what came of it
built   3 S3.reload-atomic          A reload is validated and then swapped at once: no half of it is ever seen
built   3 S3.reload-keeps-old       An invalid file keeps the old configuration in force
built   3 S3.reload-said            A failed reload is said in doctor and in status
built   0 S3.reload-said-console    A failed reload is said in the console
built   3 S3.inflight-rendering     In-flight work keeps its rendering across a reload
built   8 S3.inflight-tool-names    In-flight work keeps its tool names across a reload
built   3 S3.recheck-at-send        Permission is checked again at the moment of sending
built   3 S3.digest                 A node publishes the digest of its configuration
built   6 S3.digest-compared        doctor reports nodes whose configuration digests differ
built   3 S3.server-keys            server: host, port and public_url are taken as written
built   2 S3.store-sqlite           store: sqlite:PATH opens that file, relative to the configuration
built   2 S3.store-postgres         store: postgres://... opens PostgreSQL
built   4 S3.integration-default    default: true marks where notify_user goes when no channel is named
built   3 S3.scope-agents           scope: {agents: [...]} grants an integration to those agents, 'all' to all
built   3 S3.scope-default-bound    An integration with no scope is granted to the agents bound to it
built   8 S3.mcp-server-stdio       mcp_servers with command, args, env and cwd start a stdio server
built   8 S3.mcp-server-url         mcp_servers with url and headers connect to a Streamable HTTP server
built   8 S3.child-env-minimal      A child gets only the env listed, plus PATH, HOME and the like
built   3 S3.channels-shape         agents[].channels has exactly the shape of the nexo seed, and its YAML loads as it stands
built   3 S3.binding-shape          inbound_bindings take plugin, instance, allowed_channel_servers and optional conversations
built   4 S3.messaging-allow        messaging.allow lists targets inline
built   4 S3.messaging-file         messaging: {file: messaging.json} accepts the send_message seed's file (personality to list)
built   4 S3.messaging-file-missing A missing messaging file denies all and is reported
built   4 S3.messaging-file-bad     A malformed messaging file denies all and is reported
built   3 S3.content-chars-default  max_content_chars defaults to 16000
built   3 S3.content-chars-rules    max_content_chars 0 means no cap, 1 to 63 are rejected, 64 is accepted
built   8 S3.content-cut            Content is counted in code points, and a cut appends an ellipsis
built   3 S3.rps-rules              rps must be finite, at least 0 and at most 1000
built   3 S3.rate-zero              0/0 means no limit, also when it overrides a default
built   3 S3.approved-duplicates    Duplicate servers in channels.approved are rejected
built   3 S3.approved-nowhere       An approved server that is configured nowhere is a warning
built   3 S3.one-bot-many-agents    Bindings with conversations (chat or chat/topic) pick theirs, one binding without takes the rest
built   3 S3.bindings-overlap       Two bindings that overlap are a configuration error
built   8 S3.server-two-bindings    A channel server in two bindings of one agent delivers once
built   4 S3.schedule-turn          A schedule starts a turn with source schedule:<id> at its cron time in its time zone
built   4 S3.schedule-once          Each firing happens once
built   6 S3.schedule-once-nodes    Each firing happens once across all nodes
built   4 S3.schedule-missed        A missed firing is run or skipped by policy, and recorded
built   3 S3.tunables-in-schema     Everything tunable is in the schema with its default
built   3 S3.max-attempts-default   max_attempts defaults to 5
built   3 S3.queue-expiry-default   The queue expiry defaults to 7 days
built   3 S3.approval-expiry-default approval_expiry defaults to 10 minutes
built   3 S3.tool-wait-default      tool_wait defaults to 10 s
built   3 S3.unknown-policy-values  unknown_policy takes note or hold
built   3 S3.limits-tunable         redeliver_after, sender limit, recipient limit and retention are tunable and take effect
built   3 S3.mention-patterns       mention_patterns are configurable and decide what counts as a mention
built   5 S3.chat-manners           ack_reaction, reply_to_mode and text chunk limits are configurable and take effect
built   2 S3.default-up             'switchboard up' with no file runs the embedded default with the demo agent
built   2 S3.default-webhook        The default has a two-way webhook at /hooks/demo that trusts X-Sender: dev on loopback
built   3 S3.default-web            The default has the web chat
built   2 S3.default-data           The default keeps SQLite in the data folder (--data, default ~/.switchboard)
`,
)
