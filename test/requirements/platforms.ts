// What SPEC 7 promises: every platform, then each one by name, and the keys of integrations.
import { requirements } from './row.ts'

export const EVERY_PLATFORM = requirements(
  '7 Platforms',
  `
pending 2 S7.real-payloads          Real payloads are parsed, from fixtures
pending 2 S7.signatures             Signatures are verified before anything is parsed; a bad one is refused
pending 5 S7.ignore-own             Own messages are ignored
pending 5 S7.mentions               Mentions are resolved
pending 5 S7.threads                Threads and replies are resolved
pending 3 S7.attachments-after-gate Attachments are references, fetched only after the gate
pending 5 S7.markdown               Markdown is rendered to the platform's own form, with a plain fallback
pending 5 S7.split-fences           Long text is split without breaking code fences
pending 5 S7.split-surrogates       Long text is split without breaking surrogate pairs
pending 4 S7.retry-after            The platform's rate limits are obeyed (retry_after)
pending 5 S7.reconnect              A lost link is reconnected with backoff
pending 5 S7.liveness               A connected but deaf link is found and renewed
pending 5 S7.catch-up               After downtime the platform's history is caught up where it keeps one
pending 5 S7.base-url               Every base URL can be pointed elsewhere
pending 3 S7.integration-keys       An integration's keys are checked by its platform's schema: an unknown one is an error that names it
pending 2 S7.keys-webhook           webhook takes secret and signature, or sender_header, and two_way, template, out, as SPEC names them
pending 5 S7.keys-telegram          telegram takes token, mode, secret_token and api_root
pending 0 S7.keys-others            slack, discord, email, imessage and whatsapp take the keys that SPEC names
pending 9 S7.keys-chorus            chorus takes name
pending 3 S7.not-built-told         A platform that is not built yet is told as such, not as an unknown key
built   2 S7.suite                  Every platform passes the shared platform suite
`,
)

export const EACH_PLATFORM = requirements(
  '7 Each platform',
  `
pending 3 S7.web-page               web: a page at /chat by WebSocket or SSE
pending 3 S7.web-token              web: the token is needed
pending 3 S7.web-origin             web: Origin is checked
pending 3 S7.web-host               web: Host is checked
pending 3 S7.web-history            web: history is kept
pending 3 S7.web-attachments        web: attachments
pending 3 S7.web-typing             web: typing
pending 3 S7.web-approval-buttons   web: approval buttons
pending 3 S7.web-limit              web: 16,000 characters
pending 0 S7.web-embed              web: embeddable
pending 2 S7.webhook-post           webhook: POST /hooks/ID receives a message
pending 2 S7.webhook-hmac-github    webhook: HMAC as GitHub does it, X-Hub-Signature-256
pending 2 S7.webhook-shared-header  webhook: a shared header (signature: plain, or sender_header) as the credential
pending 2 S7.webhook-one-way        webhook: one-way takes messages and sends nothing back
pending 2 S7.webhook-two-way        webhook: two-way answers on GET /hooks/ID/events by SSE
pending 2 S7.webhook-events-cred    webhook: the event stream needs credentials
pending 2 S7.webhook-connected      webhook: the stream opens with the comment ': connected'
pending 2 S7.webhook-any-type       webhook: any content type is taken raw
pending 2 S7.webhook-forbidden      webhook: a sender that is not allowed gets 403 'forbidden'
pending 3 S7.webhook-verdict        webhook: a verdict is answered 'verdict recorded'
pending 2 S7.webhook-meta           webhook: meta has chat_id, path and method
pending 2 S7.webhook-resumable      webhook: the stream resumes after Last-Event-ID with nothing lost
pending 2 S7.webhook-template       webhook: an optional template makes the text
pending 2 S7.webhook-out            webhook: out.url is POSTed to, signed X-Signature-256
pending 5 S7.telegram-polling       telegram: long polling under a lease is the default
pending 5 S7.telegram-webhook       telegram: webhook mode with a secret token
pending 5 S7.telegram-html          telegram: HTML with a plain fallback, at most 4096 a message
pending 5 S7.telegram-topics        telegram: topics
pending 5 S7.telegram-buttons       telegram: inline buttons
pending 5 S7.telegram-channelname   telegram: @channelname targets
pending 0 S7.slack-socket           slack: Socket Mode is the default
pending 0 S7.slack-events           slack: Events API with signature
pending 0 S7.slack-mrkdwn           slack: mrkdwn passes, GitHub Markdown is converted
pending 0 S7.slack-threads          slack: threads, and blocks for approvals
pending 0 S7.slack-limit            slack: 3000 per block, 40,000 of text
pending 0 S7.slack-targets          slack: C..., U... and D... ids
pending 0 S7.slack-no-ping          slack: nothing can ping <!channel>
pending 0 S7.discord-gateway        discord: receives over the gateway
pending 0 S7.discord-nonce          discord: nonce with enforce_nonce
pending 0 S7.discord-mentions       discord: mentions are disabled in what is sent
pending 0 S7.discord-limit          discord: 2000 a message, threads, components
pending 0 S7.email-idle             email: IMAP IDLE with poll fallback
pending 0 S7.email-thread           email: Message-ID, In-Reply-To and References keep the thread
pending 0 S7.email-fresh            email: works to a fresh address
pending 0 S7.email-strip            email: quoted history and signatures are stripped
pending 0 S7.email-loop             email: loop guard (Auto-Submitted, list mail)
pending 8 S7.mcp-transports         mcp: channel servers over stdio and Streamable HTTP, both prefixes
pending 8 S7.mcp-out                mcp: sends through the server's outbound tool
pending 9 S7.chorus-in              chorus: POST /inbox/sk_... from any Chorus service, answered at its callback
pending 0 S7.imessage-mac           imessage: chat.db in, AppleScript out, 10,000 characters
pending 0 S7.imessage-echo          imessage: self-chat and echo guard
pending 0 S7.imessage-elsewhere     imessage: a clear error on other systems
pending 0 S7.whatsapp-cloud         whatsapp: Cloud API webhook in, Graph API out, 4096 characters
pending 0 S7.whatsapp-window        whatsapp: the 24 h window is told honestly
`,
)
