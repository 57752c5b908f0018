// What issue 35 demands: outages and truth of delivery.
import { requirements } from '../row.ts'

export const EDGES_OUTBOUND = requirements(
  'Issue 35 Outages and truth of delivery',
  `
built   35 I35.a1                  A TCP fault proxy stands between the product and any server (HTTP, WebSocket, IMAP, SMTP, database) and refuses, stays silent, resets before and after the request was read, cuts header and body, answers 502, 503, 504 and 429 for a while, and slows to one byte a second
built   35 I35.a1-table            A table says which fault applies to which protocol and call; after every case each answer was delivered once or labelled, in order, or is known to person, agent and doctor, and nothing is unknown for good while the platform is healthy
built   35 I35.a1-links            Each fault of the proxy stands before Socket Mode, the gateway of Discord and IMAP until it heals: what is written meanwhile arrives once and in order or marked late, the link is called down by doctor, and the finding goes
built   35 I35.a1-history          Each fault meets the history walk of Slack, Discord and email: nothing is claimed as complete beyond what was read, the reason is named, and what was missed comes once after it heals
built   35 I35.a1-read-back        Each fault meets the read-back of Slack, Discord and email: the outcome stays open and doctor says so; once it heals the message stands there once, or labelled
built   35 I35.a1-known            After each case of the table of calls doctor has nothing to say, or names what was not delivered; while a fault keeps an answer from somebody, doctor says so
built   35 I35.a1-postgres         Each fault stands before PostgreSQL under a real daemon: nothing acknowledged is lost or done twice, meanwhile nothing is acknowledged and doctor says so, and the daemon goes on by itself
built   35 I35.a1-daemons          A real daemon on each platform meets every fault, and a kill -9: each answer arrives once or labelled, in order
built   35 I35.b1                  An answer caught in a short outage (15 s of 502, a reset, 90 s of silence) arrives on Slack, Discord, WhatsApp and Telegram, once or labelled
built   35 I35.b1-readback         A read-back that fails by network, time-out, 429 or 5xx is asked again with backoff until send_expiry; any other 4xx means that there is none; "not there" counts 30 s after the try ended
built   35 I35.b1-resend           Without a read-back at most four labelled resends follow a possibly delivered try, after 5 s, 30 s, 2 min and 10 min; then the row is unknown: unconfirmed
built   35 I35.b1-order            Later sends of a conversation wait while the platform is down, and at most 10 min after another call to it succeeded
built   35 I35.b1-whatsapp         A 5xx of WhatsApp leaves the outcome open, with an error body too; only a documented refusal proves that nothing was done
built   35 I35.b1-poison           A message that the platform never takes, as its read-back says, is tried with growing pauses, lets others go first after 10 min, and ends failed after send_expiry; person and agent are told
built   35 I35.b1-arrived          A send of which a try may have arrived never ends failed unless a read-back proved its absence: refused, expired or no longer allowed, it is unknown: unconfirmed, and the notice says so
built   35 I35.b1-counted          The notice of what was not delivered counts every answer, however many there are
built   35 I35.b1-parts            The parts of one answer wait for the part before them, also when other messages go first
built   35 I35.b1-known            What ended failed or unknown is told to the agent in its next turn, to doctor, and once to the person, as SPEC 2 says
built   35 I35.b19                 A reset after the mail server took a mail leaves the outcome open: the mail does not go twice unlabelled
built   35 I35.b29                 A refused file is told; the files behind it are sent independently of it
built   35 I35.b33                 reply_to_mode first quotes the message for http agents on Discord and in Telegram groups
built   35 I35.b45-file-resend     A file of unknown outcome is not resent without end
built   35 I35.b45-grant-at-send   A send_message grant is asked again at sending
built   35 I35.left-outbox-reason      While a platform is away every row of the outbox says why it waits: the one that is tried with its tries, and those behind it
built   35 I35.left-amid-answer        A question does not stand between the parts of a long answer in the same chat, and waits 20 s at most for them
`,
)
