// What issue 19 promises of email: mail in by IMAP, out by SMTP, who is proven, loops, and the later word of a platform.
import { requirements } from './row.ts'

export const EMAIL = requirements(
  '19 Email',
  `
built   19 I19.later-failed     A later word of the platform moves a send from sent to failed: platform_rejected with its detail, never back, in the commit of the event
built   19 I19.later-counters   The counters move with it, and the ledger tells it
built   19 I19.later-agent      The agent is told once, beside its next turn in that session
built   19 I19.later-notify     notify_on failure counts a send that failed later
built   19 I19.later-receipt    delivered and read are a field receipt of the row, not states, and read is never taken back
built   19 I19.later-own        A later word counts only for a send of the same integration
built   19 I19.later-retry      What failed later does not hide a retry of the same content
built   19 I19.in-idle          New mail comes by IDLE, at once
built   19 I19.in-poll          Where IDLE brings nothing the mailbox is looked at each poll_interval
built   19 I19.in-cursor        UIDVALIDITY and UID are the cursor, stored in the commit of the mails; nothing is flagged before it
built   19 I19.in-first         What lay in the mailbox before the first connect is not taken
built   19 I19.in-renumbered    A mailbox that was renumbered is walked again without doubles
built   19 I19.in-after         Taken mail is marked seen, gets a keyword or is moved to a folder, as configured; an interrupted one is made up for
built   19 I19.in-lease         Where there are several nodes only the holder of the lease reads the mailbox
built   19 I19.in-thousand      1,000 mails that came during a downtime are taken once each
built   19 I19.in-waited        What lay there while nobody read it draws no limit of its known senders, and is late when it is older than a minute
built   19 I19.parse-text       A mail becomes its text; HTML becomes Markdown where there is no text
built   19 I19.parse-hidden     Hidden HTML, scripts and zero-width characters do not reach the agent
built   19 I19.parse-charsets   Charsets are decoded, and broken ones never throw
built   19 I19.parse-parts      Attachments and inline images are references; calendar and winmail parts are named
built   19 I19.parse-fetch      An attachment is fetched after the gate, by its reference, and capped
built   19 I19.strip-quotes     Quoted history of common clients in several languages is stripped, and kept as an attachment
built   19 I19.strip-damage     Text that only looks like a quote or a signature stays
built   19 I19.label            The subject is the conversation's label, in the command line and in the console
built   19 I19.thread-in        Threads by References and In-Reply-To; the subject is told with the message
built   19 I19.plus-agent       A plus-address chooses an agent
built   19 I19.who-results      Authentication-Results counts of the named authserv_id alone: DMARC pass, or aligned SPF or DKIM; a fail wins
built   19 I19.who-forged       A forged Authentication-Results, of another id, in a comment or below the server's own, proves nothing
built   19 I19.who-dkim         Where the provider writes none, DKIM is verified here against DNS, or the sender is refused with the reason
built   19 I19.who-names        Display names and Reply-To prove nothing and choose no conversation
built   19 I19.who-strangers    No code and no notice is ever sent to a stranger
built   19 I19.loop-headers     Automatic, list and out-of-office mail makes no turn and no answer, unless its sender is excepted
built   19 I19.loop-self        Our own mail that comes back makes no turn, known by its Message-ID
built   19 I19.loop-limit       At most answers_per_hour go to one address in an hour, across restarts too; what is more waits
built   19 I19.bounce           A bounce of our mail settles its send as failed with the server's words, also minutes later; one of no mail of ours settles nothing
built   19 I19.bounce-forms     Bounces of RFC 3464, OpenSMTPD, qmail and Exchange are read; delayed is no failure
built   19 I19.out-id           The outbox id is in the Message-ID, the same for every try
built   19 I19.out-lost         A lost answer is settled by looking into Sent, and otherwise sent again under the same id
built   19 I19.out-forms        A mail is text and HTML from the one Markdown tree, with its own stylesheet and no remote content
built   19 I19.out-thread       Answers carry In-Reply-To, References and Re: as clients expect
built   19 I19.out-file         A file is sent as an attachment
built   19 I19.out-urgency      Urgency shows as Importance and a prefix of the subject
built   19 I19.out-headers      Auto-Submitted is set, List-Unsubscribe never
built   19 I19.out-fresh        send_message reaches a fresh address
built   19 I19.out-truth        4xx is tried again, 5xx is failed in the server's words, and what may have arrived is unknown
built   19 I19.out-starttls     STARTTLS is required unless the configuration says otherwise
built   19 I19.out-oauth        OAuth2 by refresh token works beside passwords, and an expired token is renewed
built   19 I19.out-injection    Names, subjects and addresses cannot inject headers or recipients
built   19 I19.out-sent-copy    Sent holds one copy of what was sent
built   19 I19.approval-reply   An approval is decided by a reply, and the quoted prompt is ignored
built   19 I19.approval-link    A prompt links to the console where there is a public address
built   19 I19.claim-reply      A reply to a notification reaches its session by In-Reply-To
built   19 I19.claim-token      It does so, too, from a client that drops headers, by a token in subject or address
built   19 I19.notify           notify_user reaches email, with its urgency
built   19 I19.complete         Completeness by UID: what the live link missed is found, once
built   19 I19.live             Liveness by a round trip: a half-open connection is found and replaced in bounded time
built   19 I19.fault-plans      The platform suite passes against real servers under drop, stall, half-open, truncated FETCH, BYE in IDLE, greylisting and accepted-then-dropped
built   19 I19.fault-river      The whole river stands on real servers under each of these, on both stores: nothing lost, nothing repeated
built   19 I19.provider-habits  Labels, gaps in the numbers, throttling and sessions that end each hour lose nothing and double nothing
built   19 I19.bad-large        A mail over max_mail_bytes is taken with the beginning of its text, and that it was cut is told
built   19 I19.bad-recipients   10,000 recipients in a header harm nothing
built   19 I19.bad-mime         MIME bombs are refused as unparsable, quickly
built   19 I19.bad-from         Two From headers, two addresses in From and zero-width addresses are refused
built   19 I19.bad-dates        Mails from 1970 and 2100 are taken at the time they arrived
built   19 I19.kill             A conversation by mail with attachment, approval and claim survives kill -9 at each step, with nothing lost and nothing doubled
built   19 I19.setup            init asks for what is needed, tries it on the servers, and doctor tells what is open
built   19 I19.emulate          switchboard emulate email runs a mailbox for development
built   19 I19.lazy             The mail libraries load only when an email integration runs
built   19 I19.from-zero        The page works as written, against the emulator, with the built command line
`,
)
