// What issue 35 demands: hostile and genuine mail; nothing stands still.
import { requirements } from '../row.ts'

export const EDGES_EMAIL = requirements(
  'Issue 35 Hostile and genuine mail; nothing stands still',
  `
built   35 I35.a3             Every adapter and connector at its documented maximum input, hostile in every family, costs the main thread under 200 ms of CPU and 8 times its size plus 64 MB, and no input crashes the daemon twice
built   35 I35.b4             An unproven mail or a list copy takes no key of a genuine one; a mail without Message-ID is keyed by more than its headers
built   35 I35.b5             A mail of a stranger, reports included, cannot stop the daemon
built   35 I35.b7             A long stream of an llm costs linear work, and one cap on the length of an answer holds for all connectors
built   35 I35.b8             A delivery report is believed only with our signed Message-ID and for a recipient that was sent to
built   35 I35.b9             All mail is parsed in a worker with limits; a mail that broke its worker twice is refused: unparsable, also across a crash
built   35 I35.b10            Authentication-Results count only above the topmost Received, unless results_below_received is set; smtp.mailfrom with two addresses proves nothing
built   35 I35.b31            No mail lists its own Message-ID in References
built   35 I35.mail-absent      A mail counts as not sent only where the server files it in Sent of the same account under our Message-ID
built   35 I35.mail-forwarded   A bounce of a mail that was forwarded settles the send, by whatever part names the address we wrote to
built   35 I35.mail-bounce-id   A bounce of an answer settles that answer, not the older mail of ours in its References
built   35 I35.mail-dkim-size   A signature is verified only up to a bounded size; what cannot be verified is sender_unproven
built   35 I35.mail-place-gone  Only a refused RCPT TO counts as an address that is gone
built   35 I35.mail-nesting     HTML whose tags hide their depth from the guard takes linear work
built   35 I35.mail-counted     A refused mail that is read twice is counted once
built   35 I35.b45-smtp-cut   A failure in the middle of a mail is not taken for "not sent"
`,
)
