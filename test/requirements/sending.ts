// What SPEC 11 promises: send_message, notify_user, reply, claims.
import { requirements } from './row.ts'

export const SENDING = requirements(
  '11 Sending',
  `
built   2 S11.one-outlet            Replies, notices, prompts and sends leave through one outlet and one outbox
built   4 S11.order                 Checks run in order: input, agent, target, integration and grant, idempotency key, same content within 30 s, outbox
built   2 S11.idempotency-key       A send with an idempotency key that was seen is not sent again
built   4 S11.replies-not-dropped   Replies, prompts and notices are never dropped for equal content
built   4 S11.send-schema           send_message takes platform, target, body, and optional thread and integration
built   4 S11.send-errors           send_message gives the seed's errors to the letter (input_invalid, execution_failed)
built   4 S11.allow-entries         Allow entries: platform:target, platform:*, *
built   4 S11.allow-nothing         Nothing listed means denied
built   4 S11.denial-no-leak        The denial does not list other agents' targets
built   4 S11.dedup-on-confirm      Dedup is committed only when the platform confirmed
built   4 S11.failed-retry-at-once  A failed send can be retried at once
built   4 S11.in-flight-one         Two identical sends in flight become one
built   4 S11.integration-choice    The integration is the turn's own on that platform, else the first granted, unless named
built   4 S11.result-text           Text results as in the seed, at most 1024 characters
built   4 S11.result-structured     Structured {ok, status, platform_ids, outbox_id, code, error}; deduplicated and queued are ok but say so
built   4 S11.no-daemon             With no daemon running: the seed's "Gateway not active" text
built   4 S11.result-sent           sent comes with the platform's message ids
built   4 S11.result-queued         queued comes with an id to ask about
built   4 S11.result-failed         failed comes with the reason
built   4 S11.tool-wait             Tools wait a bounded time (default 10 s) for the confirmation
built   2 S11.crash-idempotent      A crash between send and confirmation is settled by the platform's own idempotency where there is one
built   4 S11.crash-read-back       It is settled by reading back where the platform allows it (reconcile)
built   2 S11.crash-unknown         Where there is none the row is unknown and never silently repeated
built   4 S11.unknown-note          Policy note: an unknown row is resent at most once with a visible "may be a duplicate"
built   4 S11.unknown-hold          Policy hold: an unknown row is left for the operator
built   4 S11.parts-resume          A long message that fails in part resumes at the failed part
built   2 S11.reply-own-turn        reply goes to the conversation of the turn it answers
built   4 S11.reply-no-rebind       No tool argument can rebind a reply to another conversation unless that target is allowed
built   2 S11.send-retry            A send that fails for a while is retried with backoff, in order, and says why it waits
built   2 S11.send-rejected         A send that the platform refuses for good is failed with the reason
`,
)

export const NOTIFY = requirements(
  '11 notify_user and claims',
  `
built   4 S11.notify-endpoint       notify_user is served at POST /mcp/notify and in the common tool surface
built   4 S11.notify-bearer         The bearer notify_<token> carries user, agent and session
built   4 S11.notify-session-args   Session ids in arguments are ignored
built   4 S11.notify-bare-type      A bare type is the user's first integration of that type
built   4 S11.notify-type-id        type:<integration_id> works for any type
built   4 S11.notify-default        An omitted channel is the default
built   4 S11.notify-missing        A named channel that does not exist is an error, never a silent fallback
built   4 S11.notify-grants         Grants (scope) and enabled apply
built   4 S11.notify-recipient      Per-recipient limits apply
built   4 S11.notify-success-text   Success text is 'Notification sent via <channel>'
built   4 S11.notify-failure        Failure is isError and the reason
built   4 S11.notify-urgency        Urgency shows on web and webhook
built   5 S11.notify-urgency-tg     Urgency shows on Telegram (silent or loud)
built   0 S11.notify-urgency-others Urgency shows on Slack (colour) and email (subject prefix, Importance)
built   4 S11.notification-log      Every attempt is in notification_log
built   4 S11.notify-on             notify_on sends the final text of a turn that no person started
built   4 S11.claim-buttons         claim_thread adds "Reply here" and "Keep my chat" buttons on web
built   5 S11.claim-buttons-tg      claim_thread adds the buttons on Telegram
built   0 S11.claim-buttons-others  claim_thread adds the buttons on Slack and Discord; on email and others a reply is the claim
built   4 S11.claim-row             The claim row is keyed on the platform's message id and valid 24 h
built   4 S11.claim-reply-to        A reply to that very message goes to its session
built   4 S11.claim-tap             A tap claims the chat until /back or another claim
built   4 S11.claim-newest          Untapped, the next plain message takes the newest open claim, prefixed '[Switched to <label> thread]'
built   4 S11.claim-label           The label defaults to the agent's id
built   4 S11.claim-older-closed    Then older open claims no longer take anything
built   4 S11.claim-keep            "Keep my chat" closes the claim
built   4 S11.claim-commands        Commands never claim
built   4 S11.claim-once            Two at once claim once
built   4 S11.claim-owner           Only the chat's owner may tap
built   4 S11.claim-given-back      If the session cannot be reached the claim is given back and the person is told
built   7 S11.format                format of reply and edit_message: text is shown as it is written, markdownv2 as Markdown, a word that is neither is refused
built   7 S11.rows-not-forged       fetch_messages, pending_messages and get_roster give one line a row, whatever a sender wrote into name, id or text
built   7 S11.surface               react, edit_message, download_attachment, fetch_messages, get_roster, ack, pending_messages have the official plugins' shapes
`,
)
