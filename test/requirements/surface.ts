// What SPEC 14 to 17 promise: HTTP, command line, console, bad input, speed.
import { requirements } from './row.ts'

export const HTTP = requirements(
  '14 HTTP',
  `
built   0 S14.http-console          / serves the console
built   3 S14.http-chat             /chat serves the chat page
built   2 S14.http-hooks            /hooks/ID takes webhooks
built   5 S14.http-hooks-platforms  /hooks/ID is also the webhook URL of telegram, answered as it expects
built   0 S14.http-hooks-others     /hooks/ID is also the webhook URL of slack and whatsapp, answered as each expects
built   9 S14.http-inbox            /inbox/SECRET takes Chorus deliveries
built   9 S14.http-callback         /callback/TOKEN takes Chorus callbacks
built   4 S14.http-mcp              /mcp and /mcp/notify speak Streamable HTTP with a bearer
built   7 S14.http-attach           /attach is a WebSocket for remote hosts
built   3 S14.http-api              /api/* needs the admin token
built   3 S14.http-openapi          /api/openapi.json describes the API, and every route it names exists
built   3 S14.http-events           /events streams by SSE
built   2 S14.http-healthz          /healthz answers while the process lives
built   2 S14.http-readyz           /readyz answers 200 only when messages can be taken
built   2 S14.http-metrics          /metrics speaks Prometheus
built   2 S14.loopback              Listens on loopback unless told otherwise
built   3 S14.public-needs-token    Refuses to listen on a public address without an admin token
built   2 S14.hook-shape            POST /hooks/ID answers 200 {"ok":true,"id","state":"queued"}
built   2 S14.hook-id-idempotency   The message id is Idempotency-Key
built   2 S14.hook-id-github        Else the message id is X-GitHub-Delivery, else fresh
built   2 S14.hook-duplicate        A repeat answers 200 with "duplicate":true and the first id
built   2 S14.hook-x-sender         X-Sender names the sender only where the integration trusts that header
`,
)

export const COMMAND_LINE = requirements(
  '14 Command line',
  `
built   2 S14.cli-alias             swb is an alias of switchboard
built   2 S14.cli-up                up runs the daemon with --host, --port, --data, --config
built   3 S14.cli-up-open           up --open opens the page
built   0 S14.cli-init              init is a wizard, also with flags
built   7 S14.cli-init-claude       init claude-code writes .mcp.json and prints the command to start with
built   0 S14.cli-console           console opens the console
built   3 S14.cli-check             check validates a file and exits 0 or 2
built   3 S14.cli-doctor            doctor prints the live path
built   2 S14.cli-status            status prints what status --json holds, as a table
built   7 S14.cli-channel           channel runs the stdio server
built   3 S14.cli-pair              pair lists, approves and denies
built   3 S14.cli-access            access lists, grants and revokes
built   9 S14.cli-chorus            chorus connects, rotates and verifies
built   4 S14.cli-agents            agents lists and changes agents
built   4 S14.cli-integrations      integrations adds, lists, grants, disables and removes
built   3 S14.cli-approvals         approvals lists, allows and denies
built   2 S14.cli-send              send sends through the outlet and says what came of it
built   4 S14.cli-notify            notify sends a notification
built   2 S14.cli-turns             turns lists the turn log with filters
built   2 S14.cli-inbox             inbox lists what waits
built   2 S14.cli-outbox            outbox lists sends
built   2 S14.cli-audit             audit verifies and exports
built   3 S14.cli-secrets           secrets sets, lists, removes and rotates while the daemon runs
built   3 S14.cli-token             token mints, lists and revokes
built   5 S14.cli-import            import takes over other tools' files
built   5 S14.cli-emulate           emulate runs fake platforms for development
built   2 S14.cli-json              Each command takes --json
built   2 S14.cli-config-data       Each command takes --config FILE and --data DIR
built   2 S14.cli-finds-daemon      Commands talk to the daemon that holds the data folder
built   2 S14.cli-read-alone        Commands that only read work without a daemon
built   2 S14.cli-needs-daemon      A command that needs a daemon says so when none runs
built   2 S14.cli-exit-codes        Exit codes: 0 ok, 1 failed, 2 usage or configuration
built   2 S14.cli-stderr-hint       Errors go to stderr with a hint; stdout stays clean
built   2 S14.json-lines            turns, inbox and outbox --json print one JSON object a line
built   2 S14.json-turn             A turn has id, session, agent, integration, source, address, sender, state, reason, attempts, received_at, updated_at
built   2 S14.json-send             An outbox row has id, to, agent, session, state, reason, attempts, platform_ids, created_at
built   2 S14.json-status           status --json has ready, node, uptime_ms, integrations, agents, counts, outbox and approvals as named
built   2 S14.json-audit            audit verify --json has ok, entries, chain, broken_at when broken, and conservation
built   3 S14.json-token            token mint --json has token, id and expires_at
built   9 S14.json-chorus           chorus connect --json has connection_string
built   3 S14.json-pair             pair list --json has code, integration, sender and expires_at
built   3 S14.json-approvals        approvals list --json has id, agent, session, tool_name, description, state, decided_by, decided_via, expires_at
built   3 S14.doctor-gates          doctor shows for each agent and binding each gate with pass, or the reason and the key to change
built   3 S14.doctor-live           doctor shows last message, drops by reason, pending approvals, queue depth and link health
`,
)

export const CONSOLE = requirements(
  '15 Console',
  `
built   0 S15.conversations         Live conversations with delivery states
built   0 S15.approvals             Approvals and pairing are decided in the console
built   0 S15.gates                 Agents, integrations and gates with reasons
built   0 S15.stuck                 Failed and stuck messages with retry
built   0 S15.turn-log              Turn log with filters and a chart of volume and latency
built   0 S15.try-it                Try-it chat
built   0 S15.keyboard              Keyboard-usable, light and dark, works on a phone
built   0 S15.guarded               Behind the admin token; Origin-checked
built   0 S15.browser               Tested in a real browser
`,
)

export const BAD_INPUT = requirements(
  '16 What bad input gets',
  `
built   2 S16.names-field           A clear error names the field
built   2 S16.nothing-half-done     Bad input leaves nothing lost or half-done
built   2 S16.400                   Malformed input gets 400
built   2 S16.401                   A bad credential gets 401
built   9 S16.404-secret-url        A bad credential gets 404 where the URL is the secret
built   2 S16.404                   An unknown path or integration gets 404
built   3 S16.409                   A conflict gets 409
built   3 S16.410                   What has expired gets 410
built   2 S16.413                   A body over the limit (1 MiB default) gets 413
built   3 S16.415                   A content type that is not taken gets 415
built   2 S16.429                   Too many get 429 with Retry-After
built   2 S16.503-draining          503 while draining
built   3 S16.config-exit-2         A bad configuration exits 2 with line, column and hint
built   4 S16.tool-is-error         A bad tool call gets isError with code and text
built   2 S16.unparsable            A payload that does not parse is recorded 'refused: unparsable' and answered as the platform expects
built   2 S16.link-survives         Bad payloads never crash the link
`,
)

export const SPEED = requirements(
  '17 Speed',
  `
built   2 S17.bench                 npm run bench runs peers beside Switchboard in interleaved rounds and prints medians of per-round ratios
built   2 S17.intake                It measures durable intake over HTTP
built   9 S17.chorus                It measures end to end to a Chorus agent and back
built   7 S17.stdio                 It measures channel notifications over stdio
built   8 S17.gate-wrap             It measures gate and wrap per message
built   2 S17.ready                 It measures start to ready
built   2 S17.memory                It measures memory at rest and under load
built   2 S17.ledger-growth         It measures latency growth from an empty ledger to a million turns
`,
)
