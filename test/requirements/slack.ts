// What issue 15 promises of Slack: the platform, its emulator, its set-up. Completeness itself is in history.ts.
import { requirements } from './row.ts'

export const SLACK = requirements(
  '15 Slack',
  `
built   15 I15.fake-wire       The fake's Web API answers @slack/web-api as Slack does: posts, history with metadata, uploads, streams, errors, scopes, 429
built   15 I15.fake-socket     The fake speaks Socket Mode to @slack/socket-mode: hello, envelopes dealt over connections, redelivery, the cap of ten
built   15 I15.fake-clients    Slack's own clients say and hear each thing against the fake under the fault plans
built   15 I15.fake-events     The fake's Events API asks with a challenge, signs with v0 and retries with number and reason
built   15 I15.socket-overlap  At a refresh the next connection is open before the old one is left: nothing falls between
built   15 I15.socket-deaf     A connection without hello, a frozen one and one that is closed are each found and replaced in bounded time
built   15 I15.socket-quiet    Hours of pings alone restart nothing
built   15 I15.socket-open     A failing apps.connections.open is tried again for ever, and a refused token is told; the link comes back when it is healed
built   15 I15.socket-cap      Twenty flaps leave one connection open, and never more than two at once
built   15 I15.socket-disabled link_disabled is reported and not hammered
built   15 I15.socket-rival    Another connection of the same app is told in the link's detail
built   15 I15.socket-lease    Where there are several nodes only the holder of the lease has a connection
built   15 I15.one-turn        app_mention and message of one text are one turn, in either order
built   15 I15.repeat-envelope A repeated envelope, and one delivered only as a retry, are one turn
built   15 I15.chats-in        A direct chat is direct; channels, private channels and group messages are groups
built   15 I15.events-retry    What Slack posts again, with its number and reason, is one turn, and is answered within three seconds
built   15 I15.threads-in      Threads are sessions of their own; a channel's top message opens one unless reply_to_mode is off; a broadcast is a reply
built   15 I15.mention-only    A reply in a thread without a mention is not answered where mentions are required
built   15 I15.edits-in        An edit is an edit once; unfurls, own updates and equal texts are none
built   15 I15.deletes-in      A deletion comes as a deletion of that message
built   15 I15.self            Own posts and system messages make no turn; other bots are refused as such
built   15 I15.shared          People of other workspaces keep their id and the name that the event tells
built   15 I15.names           Names are looked up once and kept; a look-up that fails delays and loses nothing
built   15 I15.files-in        A file is fetched after the gate, with the token, capped; the token follows no redirect; a sign-in page is no file
built   15 I15.commands-in     A slash command and a shortcut come in as what their sender said
built   15 I15.command-once    What Switchboard says to a slash command is shown once; who is refused hears that alone
built   15 I15.tap-commit      A tap is acknowledged after the commit, and one that is refused is told so
built   15 I15.bad-signature   Wrong, old and missing signatures, and those of the future, get 401 before anything is read
built   15 I15.wrong-team      An event of another workspace is acknowledged and taken for nothing
built   15 I15.unknown-events  Unknown events, block actions and app_rate_limited are acknowledged and harm nothing
built   15 I15.url-verify      url_verification is answered with its challenge
built   15 I15.mrkdwn-out      The tree is mrkdwn; tables, headings and nested lists go as a markdown block; refused blocks are sent as text
built   15 I15.no-ping         Whatever is written, nothing that goes out can ping a channel, a group or everybody
built   15 I15.prompt-blocks   Approvals and claims are blocks with buttons, and are edited when decided, without buttons
built   15 I15.show-all-file   A question too long for one message is shown whole as a file
built   15 I15.targets         C, D and U targets; U opens the direct chat; anything else is refused with a hint
built   15 I15.error-map       not_in_channel, channel_not_found, is_archived, missing_scope (with the scope), account_inactive and the like say what to do
built   15 I15.retry-after     ratelimited waits as long as it is told, for that method and channel alone
built   15 I15.upload          Files go by the external upload flow, into the thread
built   15 I15.reconcile       After a lost response the history decides sent or absent, by outbox id and part in the metadata
built   15 I15.reconcile-file  A file whose answer was lost is found by the id that Slack gave it, while the daemon lives
built   15 I15.metadata-part   Each post carries its outbox id and its true part
built   15 I15.blocks-refused  Blocks that Slack refuses are sent as plain text, once, and buttons stay
built   15 I15.reconcile-live  A lost answer of a running daemon is read back too, before anything is called unknown
built   15 I15.asked-once      Who asked in their own direct chat is asked once there, also where that chat has another name than its person
built   15 I15.claim-person    A claim offered to a person's id is taken in their direct chat, by reply and by button
built   15 I15.streaming       An answer that is being written is shown by edits of one message, and ends as exactly one
built   15 I15.thread-status   Work shows as the thread's status, is kept up, and ends
built   15 I15.agent-view      Opening the agent's surface sets prompts; what one looks at comes along as context
built   15 I15.history         Channels, direct chats and threads active lately are read back as the events the link would have brought
built   15 I15.history-pages   Histories of several pages are told once each, in order, also what comes while they are read
built   15 I15.history-threads A thread that is answered while nobody hears is read back, also when its first message lies before the mark
built   15 I15.history-limit   A limit or a lost cursor in the middle of a history costs no second walk and loses nothing
built   15 I15.history-gone    A channel that goes away while it is read is gone; one that may not be read names the scope
built   15 I15.other-servers   Slack servers of others that tell less than Slack does are spoken to all the same
built   15 I15.edited-away     A message edited while the link heard nothing is one turn, or one edit of a known one, whatever comes again later
built   15 I15.clock-skew      A clock that differs from Slack's by an hour hides nothing that stands in its history
built   15 I15.long-texts      40,000 characters and 100 blocks come in as one message; 40,000 characters go out in parts that each fit
built   15 I15.safe-names      A name that somebody chose can write no markup, in or out
built   15 I15.deaf-50         A deaf socket with 50 messages in between loses none, and no agent sees one twice
built   15 I15.fault-matrix    Under every fault plan nothing is lost and nothing repeated
built   15 I15.manifest        The set-up prints an app manifest with exactly the scopes in use
built   15 I15.scopes          Missing scopes are named with what they cost
built   15 I15.revoked         A token revoked in the middle is told, loses nothing, and heals
built   15 I15.from-zero       The page works as written, against the emulator, with the built command line
built   15 I15.bench           The bench prints intake over Socket Mode and over the Events API as ratios to the webhook's
built   15 I15.seed-examples   Telegram to Slack, Slack to Telegram, notify_user to slack, a claim by reply and by button
`,
)
