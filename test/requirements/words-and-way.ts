// What SPEC 1, 2 and 5 promise: the words, the way of a message, sessions.
import { requirements } from './row.ts'

export const WORDS = requirements(
  '1 Words',
  `
built   2 S1.address-both-ways      One address type (integration, conversation, optional thread) says where a message came from and where one goes
built   2 S1.address-string         An address has one string form and parses back to the same address
built   2 S1.address-no-alias       Each segment is percent-encoded, so that no value (':', '%', '/', spaces, Unicode) can alias another address
built   2 S1.integration            An integration is one configured account with an id, secrets, an access policy and a scope
built   2 S1.one-connector          An agent is reached through exactly one connector
built   2 S1.session-unit-of-order  A session is one conversation with one agent and the unit of order
built   3 S1.binding-limits         A binding leads an integration to an agent, with its own limits
built   3 S1.user-identities        A user is id, identities 'integration:sender', notify_to and roles owner, approver, operator
built   3 S1.user-local             With no users configured there is one user 'local': the first one paired
built   3 S1.notify-to-default      A user's notify_to is by default that user's direct chat
built   3 S1.authorize-one          One authorize(principal, action, resource) decides for /api, /chat, /events and the command line
built   3 S1.token-table            One token table (hash, kind, scope, expiry, revoked) serves every surface
built   3 S1.token-expiry           An expired or revoked token opens nothing
built   4 S1.authorize-mcp          The same authorize and token table serve /mcp and /mcp/notify
built   7 S1.authorize-attach       The same authorize and token table serve /attach
built   4 S1.route                  A route says which session an address leads to now: its own, or one that claimed it
built   7 S1.host                   A host is a process that attached for an agent
`,
)

export const WAY = requirements(
  '2 The way of a message',
  `
built   2 S2.in-order-of-steps      In: verify, flood guard, duplicate, sender gate and pairing, verdict, sender limit, session, inbox run in this order
built   2 S2.out-order-of-steps     Out: may it, duplicate, fit to the platform, outbox, platform confirmed run in this order
built   2 S2.one-transaction        Inbox row, session and ledger entry are one transaction: all or none
built   2 S2.ack-after-commit       The platform is told "received" (HTTP 200) only after that commit
built   2 S2.refused-again         What the store refused once is received once, and confirmed only then
built   5 S2.ack-telegram-offset    The Telegram offset advances only with that commit
built   0 S2.ack-slack-envelope     A Slack envelope is acknowledged only after that commit
built   0 S2.ack-imap-flag          An IMAP message is flagged only after that commit
built   2 S2.dup-key                The unique key (integration, conversation, message id, edit version) is the duplicate check: a redelivery is not received again
built   2 S2.dup-per-conversation   The same message id in another conversation or integration is another message
built   2 S2.dup-edit-version       Another edit version of the same message is not a duplicate
built   2 S2.no-id-fresh            A message without an id gets a fresh one and is never taken for a duplicate
built   2 S2.steps-pure             Steps are pure: each returns a decision and its effects as data
built   2 S2.effects-one-commit     The row and its effects (pairing reply, limiter token, verdict, claim) are one commit
built   2 S2.dup-no-effects         On a duplicate key no effect is applied, so a redelivery repeats nothing
built   3 S2.verdict-after-gate     A verdict is looked for after the sender gate: a stranger's verdict never counts
built   3 S2.verdict-before-limit   A verdict is looked for before the sender's limit: a limited approver can still decide
built   3 S2.verdict-not-to-model   A verdict never reaches the model
built   2 S2.order-in-session       Order holds within a session
built   2 S2.sessions-independent   Sessions do not wait for each other: one slow agent delays nobody else
built   2 S2.platforms-independent  One slow platform or conversation delays nobody else
built   2 S2.states-forward         A turn goes queued, handed, seen, answered, and makes no move that is not in the table
built   2 S2.states-terminal        A turn may end refused, consumed, failed or expired
built   2 S2.reasons-closed         Each of those ends carries a reason from a closed list that audit, command line and console can name
built   2 S2.evidence-needed        seen and answered are written only on evidence from the agent
built   2 S2.redeliver-restart      What was handed but not seen is offered again after a restart
built   2 S2.redeliver-reconnect    What was handed but not seen is offered again after the connector comes back
built   2 S2.redeliver-timeout      It is offered again after a time-out only where the connector can know that nothing is running
built   2 S2.redelivery-marked      An offer that repeats is marked redelivery="true"
built   2 S2.max-attempts           A turn is offered at most max_attempts times, then failed with that reason
built   2 S2.queue-expiry           A turn that waits longer than the queue expiry ends expired with a reason
built   5 S2.ack-reaction           The sender sees an acknowledging reaction only once the agent has the message
built   3 S2.typing-kept-alive      Typing is kept alive while the agent works, and ends with the turn
built   2 S2.offline-notice-once    The sender gets a short notice if the agent is offline, once per outage
built   2 S2.given-up-notice        The sender gets a short notice if the message is given up
built   2 S2.agent-removed          Turns and approvals of an agent that is no longer configured are given up with that reason, once no node has it
built   2 S2.no-lie-given-up        That a message was not answered is never said of one that was, and once of one that was not
built   2 S2.conservation           received = refused + consumed + queued + handed + seen + answered + failed + expired, in total
built   2 S2.conservation-each      The same sum holds for each integration
built   2 S2.conservation-audit     'switchboard audit verify' checks conservation and reports a breach
built   2 S2.dup-not-counted        A duplicate is not counted as received
built   2 S2.rate-limited-counted   Rate-limited drops are 'refused: rate_limited', counted even when their bodies are not kept
built   2 S2.flood-guard            The flood guard refuses before anything is stored per message, and its drops are counted
built   2 S2.sent-means-confirmed   'sent' is written only when the platform confirmed
`,
)

export const SESSIONS = requirements(
  '5 Sessions',
  `
built   2 S5.key-parts              The session key is agent, integration, conversation and thread, each encoded
built   2 S5.uuid-v5                The session UUID is a v5 derived from the key and the generation
built   2 S5.same-after-restart     The UUID is the same after a restart
built   2 S5.same-on-other-node     The UUID is the same on another node
built   2 S5.never-dropped-idle     The session row is not dropped for idleness by default
built   2 S5.two-agents-differ      Two agents in one conversation have two sessions
built   8 S5.mcp-thread-order       For channel servers the thread comes from thread_ts, thread_id, chat_id, conversation_id, room_id, channel_id, to; first non-empty wins
built   8 S5.mcp-no-thread          With none of these keys there is one session per server
built   8 S5.mcp-parent-joined      A thread key is joined with its parent chat, so equal thread ids in two chats do not meet
built   2 S5.names-not-in-key       Names and senders never enter the key: a rename does not split a session
built   3 S5.new-raises-generation  /new starts a fresh session for that address by raising the generation
built   3 S5.generation-persisted   The generation is persisted: after a restart the fresh session goes on
built   3 S5.status-command         /status says what is queued and who answers
built   3 S5.stop-cancels           /stop cancels the running turn where the connector can
built   3 S5.stop-cannot            /stop says so where nothing runs or the connector cannot cancel
built   22 S5.stop-after-new        /stop and /status count what /new left running in the same chat
built   3 S5.bang-commands          !new, !status and !stop do the same as with a slash
built   3 S5.commands-not-to-model  Commands go to Switchboard, not to the model: the turn is consumed
built   4 S5.commands-keep-claims   Commands never consume a claim
`,
)
