// What SPEC 7 promises: every platform, then each one by name, and the keys of integrations.
import { requirements } from './row.ts'

export const EVERY_PLATFORM = requirements(
  '7 Platforms',
  `
built   2 S7.real-payloads          Real payloads are parsed, from fixtures
built   2 S7.signatures             Signatures are verified before anything is parsed; a bad one is refused
built   5 S7.ignore-own             Own messages are ignored
built   5 S7.mentions               Mentions are resolved
built   5 S7.threads                Threads and replies are resolved
built   3 S7.attachments-after-gate Attachments are references, fetched only after the gate
built   5 S7.markdown               Markdown is rendered to the platform's own form, with a plain fallback
built   5 S7.split-fences           Long text is split without breaking code fences
built   5 S7.split-surrogates       Long text is split without breaking surrogate pairs
built   4 S7.retry-after            The platform's rate limits are obeyed (retry_after)
built   5 S7.reconnect              A lost link is reconnected with backoff
built   5 S7.liveness               A connected but deaf link is found and renewed
built   5 S7.catch-up               After downtime the platform's history is caught up where it keeps one
built   5 S7.base-url               Every base URL can be pointed elsewhere
built   3 S7.integration-keys       An integration's keys are checked by its platform's schema: an unknown one is an error that names it
built   2 S7.keys-webhook           webhook takes secret and signature, or sender_header, and two_way, template, out, as SPEC names them
built   5 S7.keys-telegram          telegram takes token, mode, secret_token and api_root
built   0 S7.keys-others            slack, discord, email, imessage and whatsapp take the keys that SPEC names
built   9 S7.keys-chorus            chorus takes name
built   3 S7.not-built-told         A platform that is not built yet is told as such, not as an unknown key
built   2 S7.suite                  Every platform passes the shared platform suite
`,
)

export const EACH_PLATFORM = requirements(
  '7 Each platform',
  `
built   3 S7.web-page               web: a page at /chat by WebSocket or SSE
built   3 S7.web-token              web: the token is needed
built   3 S7.web-origin             web: Origin is checked
built   3 S7.web-host               web: Host is checked
built   3 S7.web-history            web: history is kept
built   3 S7.web-attachments        web: attachments
built   3 S7.web-typing             web: typing
built   3 S7.web-approval-buttons   web: approval buttons
built   3 S7.web-limit              web: 16,000 characters
pending 0 S7.web-embed              web: embeddable
built   2 S7.webhook-post           webhook: POST /hooks/ID receives a message
built   2 S7.webhook-hmac-github    webhook: HMAC as GitHub does it, X-Hub-Signature-256
built   2 S7.webhook-shared-header  webhook: a shared header (signature: plain, or sender_header) as the credential
built   2 S7.webhook-one-way        webhook: one-way takes messages and sends nothing back
built   2 S7.webhook-two-way        webhook: two-way answers on GET /hooks/ID/events by SSE
built   2 S7.webhook-events-cred    webhook: the event stream needs credentials
built   2 S7.webhook-connected      webhook: the stream opens with the comment ': connected'
built   2 S7.webhook-any-type       webhook: any content type is taken raw
built   2 S7.webhook-forbidden      webhook: a sender that is not allowed gets 403 'forbidden'
built   3 S7.webhook-verdict        webhook: a verdict is answered 'verdict recorded'
built   2 S7.webhook-meta           webhook: meta has chat_id, path and method
built   2 S7.webhook-resumable      webhook: the stream resumes after Last-Event-ID with nothing lost
built   2 S7.webhook-template       webhook: an optional template makes the text
built   2 S7.webhook-out            webhook: out.url is POSTed to, signed X-Signature-256
built   5 S7.telegram-polling       telegram: long polling under a lease is the default
built   5 S7.telegram-webhook       telegram: webhook mode with a secret token
built   5 S7.telegram-html          telegram: HTML with a plain fallback, at most 4096 a message
built   5 S7.telegram-topics        telegram: topics
built   5 S7.telegram-buttons       telegram: inline buttons
built   5 S7.telegram-channelname   telegram: @channelname targets
built   0 S7.slack-socket           slack: Socket Mode is the default
built   0 S7.slack-events           slack: Events API with signature
built   0 S7.slack-mrkdwn           slack: mrkdwn passes, GitHub Markdown is converted
built   0 S7.slack-threads          slack: threads, and blocks for approvals
built   0 S7.slack-limit            slack: 3000 per block, 40,000 of text
built   0 S7.slack-targets          slack: C..., U... and D... ids
built   0 S7.slack-no-ping          slack: nothing can ping <!channel>
built   0 S7.discord-gateway        discord: receives over the gateway
built   0 S7.discord-nonce          discord: nonce with enforce_nonce
built   0 S7.discord-mentions       discord: mentions are disabled in what is sent
built   0 S7.discord-limit          discord: 2000 a message, threads, components
built   0 S7.email-idle             email: IMAP IDLE with poll fallback
built   0 S7.email-thread           email: Message-ID, In-Reply-To and References keep the thread
built   0 S7.email-fresh            email: works to a fresh address
built   0 S7.email-strip            email: quoted history and signatures are stripped
built   0 S7.email-loop             email: loop guard (Auto-Submitted, list mail)
built   8 S7.mcp-transports         mcp: channel servers over stdio and Streamable HTTP, both prefixes
built   8 S7.mcp-out                mcp: sends through the server's outbound tool
built   9 S7.chorus-in              chorus: POST /inbox/sk_... from any Chorus service, answered at its callback
built   0 S7.imessage-mac           imessage: chat.db in, AppleScript out, 10,000 characters
built   0 S7.imessage-echo          imessage: self-chat and echo guard
built   0 S7.imessage-elsewhere     imessage: a clear error on other systems
built   0 S7.whatsapp-cloud         whatsapp: Cloud API webhook in, Graph API out, 4096 characters
built   0 S7.whatsapp-window        whatsapp: the 24 h window is told honestly
`,
)
