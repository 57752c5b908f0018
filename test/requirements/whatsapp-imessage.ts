// What issue 24 promises of WhatsApp and iMessage: the platforms, their doubles, receipts and the 24-hour window.
import { requirements } from './row.ts'

export const WHATSAPP = requirements(
  '24 WhatsApp',
  `
built   24 I24.wa-challenge      GET /hooks/ID with the right verify token is answered with the challenge as plain text, with a wrong one 403
built   24 I24.wa-signature      A forged, missing or re-encoded signature is refused and nothing of the body is read; escapes and umlauts pass as they were sent
built   24 I24.wa-changes        One post with several entries, changes, messages and statuses is taken whole, in one commit, statuses and messages apart
built   24 I24.wa-hundred        100 messages in one post are 100 turns, and the same post again is none
built   24 I24.wa-large          A post is taken as large as Meta makes them, 3 MB, whatever the limit of other bodies
built   24 I24.wa-kinds          Text, media, location, contacts, replies with context, orders and forwards come as messages that an agent can read
built   24 I24.wa-reactions      A reaction is one, and one that was taken back says so
built   24 I24.wa-taps           Replies to our buttons and lists are taps on that message; those of templates are messages
built   24 I24.wa-edits          Edits and deletions are taken where the API tells them; what it does not pass on is a message that says so
built   24 I24.wa-people         A sender without a phone number is known by the user id; number and name come along where they are told
built   24 I24.wa-echo           Echoes of the owner's phone, system messages and fields of others start no turn
built   24 I24.wa-other-number   What is for another phone number id is not received, and doctor tells of it
built   24 I24.wa-media-in       Media is fetched after the gate by the two steps with the token, which goes to no other host; what is gone says so
built   24 I24.wa-media-old      A media URL that has run out is asked for once more
built   24 I24.wa-format         Markdown becomes WhatsApp's own form, hostile text included, 4,096 characters at most
built   24 I24.wa-buttons        Up to three choices are buttons, more or longer texts a list, and each answer leads back to its choice
built   24 I24.wa-media-out      Files are uploaded and sent as picture, sound, video or document; what is over a limit is refused with the limit
built   24 I24.wa-react-out      Reactions, read marks and typing are sent; edits are refused, for there are none
built   24 I24.wa-receipts       sent, delivered and read are the send's receipt and move forward only, whatever the order of the statuses
built   24 I24.wa-failed-later   failed after sent makes the row failed: platform_rejected with code and words, once
built   24 I24.wa-unknown-status A status of a message that is not ours is recorded and changes nothing; one without our data is found by its id
built   24 I24.wa-settled        A lost answer is settled by its status, before and after a restart: sent, once, with the id of the message
built   24 I24.receipt-shown     The receipt is in outbox --json, in outbox show, and in what an agent is told when it asks
built   24 I24.window            Outside the 24 hours a free text is failed: window_closed with the time it closed, and nothing is sent; the next message opens it
built   24 I24.window-template   A template with name, language and parameters goes out while the window is closed, by send_message and by the command line
built   24 I24.window-platform   131047 from the API is window_closed too
built   24 I24.wa-errors         Each error of the API is told by what it means for the message: refused, later, or nobody knows; a 5xx of WhatsApp’s own leaves the outcome open
built   24 I24.wa-token          A token that expired loses nothing: the link is down with the reason, doctor says it, and what waits goes once it is right
built   24 I24.wa-pace           80 a second for the number and one in six seconds after a burst of 45 for a pair are kept beforehand
built   24 I24.wa-suite          The platform suite passes against the fake under every fault
built   24 I24.wa-plans          Every fault plan through the river: nothing lost, and what may be twice is labelled
built   24 I24.wa-fake           The fake speaks Meta's wire: escaped bodies, signatures, retries, statuses, window, pairs, templates, media with a clock
built   24 I24.wa-emulate        switchboard emulate whatsapp runs it with statuses, window, templates and every fault plan
built   24 I24.wa-setup          init and integrations add ask for what is needed, try the token, and say what to paste where
built   24 I24.wa-secrets        No token and no secret in logs, errors, status or answers
built   24 I24.end-to-end        A conversation with approval, claim, statuses and a closed window goes through kill -9: nothing lost, nothing twice
`,
)

export const IMESSAGE = requirements(
  '24 iMessage',
  `
built   24 I24.im-elsewhere      On another system than macOS the integration is down with a clear error, and the rest runs
built   24 I24.im-cursor         Rows come in the order of ROWID behind a durable cursor; what came while it was down is received
built   24 I24.im-join-late      A row whose chat is written later waits for it and is not lost
built   24 I24.im-body           attributedBody is decoded whole for every length; a damaged one is recorded as unreadable
built   24 I24.im-kinds          Direct chats, groups, replies, tapbacks and attachments come as what they are; service rows start no turn
built   24 I24.im-edits          An edit is an edit once, an unsent message a deletion
built   24 I24.im-sms            SMS and RCS are refused unless allow_sms says otherwise
built   24 I24.im-self           A message to oneself from any device is a turn, and what we sent ourselves never is
built   24 I24.im-owner          The owner's own addresses may speak; a stranger is refused and told nothing
built   24 I24.im-send           Text goes out by osascript with arguments; the script never holds text; quotes, newlines and dashes arrive as written
built   24 I24.im-confirm        sent is said only when the row appeared with no error; without one it is unknown, with an error failed
built   24 I24.im-errors         Errors of osascript are told by what they mean, with the pane to open
built   24 I24.im-files          A file is sent from a folder that Messages can read, and confirmed by its row
built   24 I24.im-locked         A database that is locked, unreadable, renumbered or from a newer macOS is told as such, and loses nothing when it is well again
built   24 I24.im-replaced       A chat.db that is moved away is told as down; one put in its place is opened, and nothing is lost or repeated, also where its numbers are lower
built   24 I24.im-complete       Completeness compares chat.db with the inbox by ROWID, and finds what was missed
built   24 I24.im-suite          The platform suite passes against the double under every fault
built   24 I24.im-plans          Every fault of script and database through the river: nothing lost, and what may be twice is labelled
built   24 I24.im-kill           A conversation with approval and claim goes through kill -9: nothing lost, nothing twice without a label
built   24 I24.im-doctor         doctor tells what is missing, Full Disk Access or Automation, and the exact pane
built   24 I24.im-import         access.json of the official iMessage plugin is imported
`,
)
