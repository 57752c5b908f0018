// The test lists of the seeds, row by row: what users of the seeds' products rely on, and what ours does better.
import { requirements } from './row.ts'

export const GATE_AND_PARSE = requirements(
  'Seeds: gate, capability, config, parse',
  `
built   8 F7.gate-capability        A server without the capability alone is skipped with kind capability
built   8 F7.gate-disabled          channels.enabled false alone is skipped with kind disabled
built   8 F7.gate-session           A server outside the binding's list alone is skipped with kind session
built   8 F7.gate-marketplace       A plugin_source mismatch alone is skipped with kind marketplace
built   8 F7.gate-allowlist         A server outside approved alone is skipped with kind allowlist
built   8 F7.gate-order             When several fail: capability before disabled before session before marketplace before allowlist
built   8 F7.gate-empty-binding     An empty binding list denies
built   8 F7.gate-source-unset      plugin_source unset accepts any stamp or none
built   8 F7.gate-unstamped         plugin_source declared but unstamped is skipped with kind marketplace
built   8 F7.gate-exact             Server and source match exactly, case-sensitively
built   8 F7.cap-truthy             Truthy capabilities: {}, true, non-empty string, non-empty array, non-zero number
built   8 F7.cap-falsy              Falsy capabilities: null, false, "", [], 0, absent
built   8 F7.cap-permission-alone   Permission without the channel capability gives no registration
built   3 F7.config-chars-63        max_content_chars 63 is rejected
built   3 F7.config-chars-64        max_content_chars 64 is accepted
built   3 F7.config-chars-0         max_content_chars 0 is accepted
built   3 F7.config-rps-bad         rps NaN, -1 and 1000.1 are rejected
built   3 F7.config-rps-1000        rps 1000 is accepted
built   3 F7.config-zero-overrides  0/0 for one server beats a non-zero default
built   3 F7.config-duplicates      Duplicate approved servers are rejected
built   3 F7.config-unknown-keys    Unknown keys inside channels are rejected
built   3 F7.config-not-approved    A server in a binding but not approved is warned about
built   8 F7.parse-method           Parse: an unexpected method is a typed error
built   8 F7.parse-params           Parse: missing or non-object params is a typed error
built   8 F7.parse-content          Parse: missing or non-string content is a typed error
built   8 F7.parse-meta             Parse: meta that is no object of strings is a typed error under nexo
built   8 F7.parse-server           Parse: an empty server name is a typed error
built   8 F7.parse-empty-content    Parse: "" as content is accepted
built   8 F7.parse-null-meta        Parse: null meta is handled per dialect and recorded
built   8 F7.parse-number-value     Parse: a number as a meta value drops the key (claude) or the message (nexo), recorded
built   8 F7.parse-bad-keys         Parse: the keys 'a-b', '1a', '' and 'a"' are dropped and counted
built   8 F7.parse-source-key       Parse: a meta key 'source' never overrides the source
`,
)

export const WRAP_AND_SESSION = requirements(
  'Seeds: wrap, truncate, session, rate, reload',
  `
built   7 F7.wrap-value-escapes     Quotes, newlines, tab and NUL in attribute values are escaped
built   7 F7.wrap-close             A body with </channel> is neutralised
built   7 F7.wrap-close-spelling    A body with </CHANNEL > in any case or spacing is neutralised
built   7 F7.wrap-forged-block      A forged full block in the body is neutralised
built   7 F7.wrap-open              A body with <channel is neutralised
built   7 F7.wrap-surrogates        Lone surrogates do not break the block
built   7 F7.wrap-source-quotes     A source name with quotes is escaped
built   7 F7.wrap-order             The attribute order is stable
built   8 F7.cut-astral             Truncation counts astral characters as one
built   8 F7.cut-exact              Content exactly at the cap is not cut
built   8 F7.cut-over               Content of cap + 1 is cut and marked
built   8 F7.session-priority       The thread keys win in their order
built   8 F7.session-empty          An empty thread value falls through to the next key
built   8 F7.session-two-channels   The same thread_ts in two channels gives two sessions
built   8 F7.session-two-bindings   Two bindings of one server give two sessions
built   2 F7.session-no-alias       '|' and '=' in values do not alias another session
built   2 F7.session-restart        A restart keeps the session
built   2 F7.session-concurrent     Concurrent first sights agree on one session
built   2 F7.session-idle           An idle session is kept (no garbage collection by default)
built   2 F7.session-db-failure     A database failure is an error, never an ephemeral session
built   8 F7.rate-burst             Rate: a burst passes, then it blocks
built   8 F7.rate-refill            Rate: tokens refill with time
built   8 F7.rate-cap               Rate: tokens never exceed the burst
built   8 F7.rate-before-parse      Rate: a drop comes before parsing
built   8 F7.rate-visible           Rate: a drop is counted and visible in status
built   8 F7.reload-killswitch      Reload: the killswitch stops deliveries that already flow
built   8 F7.reload-restores        Reload: re-enabling restores them without a restart
built   8 F7.reload-evicts          Reload: a removed server is evicted with its reason
built   3 F7.reload-invalid         Reload: an invalid file keeps the old one
built   8 F7.reload-in-flight       Reload: an in-flight send keeps its tool name
`,
)

export const RELAY_AND_TOOLS = requirements(
  'Seeds: relay, tools, audit',
  `
built   3 F7.relay-register-first   Relay: the ask is registered before it is emitted
built   3 F7.relay-local-wins       Relay: a local decision cancels the others
built   3 F7.relay-remote-wins      Relay: a remote decision closes the local prompt
built   3 F7.relay-wrong-id         Relay: a wrong id is ignored
built   3 F7.relay-other-agent      Relay: an id of another agent or binding is ignored from who may not decide it
built   8 F7.relay-not-asked        Relay: a server that was not asked is ignored
built   8 F7.relay-unapproved       Relay: an unapproved server is ignored
built   3 F7.relay-late             Relay: a late verdict changes nothing and is told
built   3 F7.relay-duplicate        Relay: a duplicate verdict changes nothing
built   3 F7.relay-emit-failure     Relay: a surface that cannot be reached does not block the others
built   3 F7.relay-timeout          Relay: the time-out settles it
built   3 F7.verdict-upper          'Yes ABCDE' is a verdict (the id is lower-cased)
built   3 F7.verdict-spaces         ' y abcde ' is a verdict
built   3 F7.verdict-no             'no abcde' is a verdict
built   3 F7.verdict-bare           'yes' is ordinary chat
built   3 F7.verdict-six            'yes abcdef' is ordinary chat
built   3 F7.verdict-has-l          'yes alice' (has l) is ordinary chat
built   3 F7.verdict-trailing       'yes abcde please' is ordinary chat
built   3 F7.verdict-not-to-model   Verdict text never reaches the model
built   3 F7.chat-to-model          Non-matching text does reach the model
built   8 F7.tool-server-empty      channel_send: an empty server is an error with the seed's text
built   8 F7.tool-not-registered    channel_send: a server not registered for this binding is an error with the seed's text
built   8 F7.tool-args-object       channel_send: non-object arguments are an error with the seed's text
built   8 F7.tool-content-cap       channel_send: content over 65536 bytes is an error with the seed's text
built   8 F7.tool-content-key       channel_send: arguments.content suppresses text
built   8 F7.tool-is-error          channel_send: a tool-level failure surfaces is_error
built   8 F7.tool-status-empty      channel_status: an empty server is an error
built   8 F7.tool-evicted           A server is unregistered for the tools after its eviction
built   8 F7.audit-source           SELECT ... WHERE source='channel:slack' returns the turn
built   2 F7.audit-index            The query by source uses the index
built   2 F7.audit-non-channel      A turn that is from no channel server has no channel: source
`,
)

export const CHORUS_LIST = requirements(
  'Seeds: Chorus',
  `
built   9 F7.chorus-examples        The minimal and the full example work verbatim
built   9 F7.chorus-mcp-shapes      mcp as an object and as an array
built   9 F7.chorus-required        Each missing required field is named
built   9 F7.chorus-bad-secret      A bad secret is refused
built   9 F7.chorus-rotated         A rotated secret is refused
built   9 F7.chorus-dup-id          A duplicate message.id is not processed twice
built   9 F7.chorus-5xx             A 5xx is retried
built   9 F7.chorus-callback-order  A callback that fails with 500 and then takes 200 keeps order
built   9 F7.chorus-slow-callback   A slow callback does not block another channel
built   9 F7.chorus-lifecycle       lifecycle: processing first, idle last, even on a crash
built   9 F7.chorus-unknown-event   An unknown event type is accepted
built   9 F7.chorus-private-ip      A callback to a private IP is refused by default
built   9 F7.chorus-secret-silent   The secret is absent from every log line
`,
)

export const NOTIFY_LIST = requirements(
  'Seeds: notify',
  `
built   4 F7.notify-token-missing   A missing token is refused
built   4 F7.notify-token-expired   An expired token is refused
built   4 F7.notify-token-other     Another session's token acts only for its own session
built   4 F7.notify-args-ignored    A session id in the arguments is ignored
built   4 F7.notify-resolution      Every resolution branch leads where it says
built   4 F7.notify-bare-explicit   A bare type with no integration of that type is an explicit error
built   4 F7.notify-scope-table     The scope grants table holds
built   4 F7.notify-disabled        A disabled integration is an error
built   4 F7.notify-claim-bare      A claim with a bare type works or errors, never silently
built   4 F7.notify-buttons-last    Buttons are on the last chunk
built   4 F7.notify-row-key         The claim row is keyed on the returned id
built   4 F7.notify-log             Success and failure are both logged
built   4 F7.notify-urgency         Urgency is visible in each renderer
built   4 F7.claim-claim            A tap on "Reply here" claims
built   4 F7.claim-dismiss          A tap on "Keep my chat" dismisses
built   4 F7.claim-expired          A tap after 24 h is told that it expired
built   4 F7.claim-replay           A replayed tap changes nothing
built   4 F7.claim-non-owner        A tap by somebody else changes nothing
built   4 F7.claim-auto-0           With no open nudge a plain message goes to its own session
built   4 F7.claim-auto-1           With one open nudge a plain message claims it
built   4 F7.claim-auto-3           With three open nudges a plain message claims the newest and the rest take nothing
built   4 F7.claim-reply-beats      reply-to beats the newest
built   4 F7.claim-commands         Commands do not claim
built   4 F7.claim-concurrent       Two concurrent replies claim once
built   4 F7.claim-unclaims         A failed restore un-claims
`,
)

export const SEND_LIST = requirements(
  'Seeds: send_message',
  `
built   4 F7.send-missing-field     'platform, target, and body are required' with input_invalid
built   4 F7.send-not-allowed       The text for a target that is not allowed, with input_invalid
built   4 F7.send-no-adapter        'No adapter registered for platform "slack"' with execution_failed
built   4 F7.send-adapter-failed    'Adapter send failed: not_in_channel' with execution_failed
built   4 F7.send-star              '*' allows any target
built   4 F7.send-absent            An agent absent from the list is denied
built   4 F7.send-no-personality    A call with no agent is denied
built   4 F7.send-bad-json          A file of bad JSON denies
built   4 F7.send-two-targets       The same body to two targets is sent to both
built   4 F7.send-dedup             The same target and body within 30 s is deduplicated with ok: true
built   4 F7.send-dedup-boundary    At 30 s + 1 ms it is sent
built   4 F7.send-failed-retry      A failed send followed by a retry is sent
built   4 F7.send-concurrent        Concurrent identical sends send once
built   4 F7.send-dedup-key         Dedup is keyed on platform, target and body
built   4 F7.send-stub              'Gateway not active' is what a call without a daemon gets
built   4 F7.send-1024              A result is at most 1024 characters
built   0 F7.send-email-fresh       Email to a fresh address is sent
built   5 F7.send-telegram-name     Telegram to @name is sent
`,
)
