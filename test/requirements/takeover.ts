// What issue 21 demands of stepping in, and of the reads that a list of conversations needs.
import { requirements } from './row.ts'

export const TAKEOVER = requirements(
  'Issue 21 Stepping in',
  `
built   21 I21.one-winner        One row an address, won by compare-and-set on every node: of two who take it at once one holds it, the other is told held by NAME
built   21 I21.held-in           While held, a message passes every gate and ends consumed: held, with its body; it claims nothing and reaches no agent
built   21 I21.held-queued       Queued turns of that address end consumed: held when it is taken; those of other addresses go on
built   21 I21.held-running      Handed and seen turns are cancelled when it is taken, also at another node, and what runs for them is stopped
built   21 I21.held-race         A turn that was queued by another node in the moment of the take is never handed over
built   21 I21.held-out          Whatever an agent sends there is refused held as a tool error: reply, send_message, notify_user, the final text, later words, partial text
built   21 I21.held-late         The answer to a turn that a takeover ended is refused also after the place was given back: nothing is said twice
built   21 I21.held-notified     What notify_on tells where a person holds the place is kept as failed: held, and its turn ends all the same
built   21 I21.held-rest         Approvals, verdicts, /status and pairing go on in a held place
built   21 I21.held-commands     /new and a tap on a claim are answered held by NAME
built   21 I21.say               The holder writes as a person through the one outlet, as the bot or by name, and only where they hold
built   21 I21.say-once          The same idempotency key again says nothing again, also after a kill between take and say
built   21 I21.give              give ends it, take --force takes it from another one, and give --force ends another one's; each is in the ledger
built   21 I21.timeout           It ends takeover_timeout after the holder's last word, and not while they write
built   21 I21.right-lost        It ends when the holder loses the right to hold: the role, the user, or the token
built   21 I21.context           What was said meanwhile precedes the next turn as marked context, by its speakers, and is no turn of its own
built   21 I21.context-once      It comes once, not again with the turn after that, and not with another place's turn
built   21 I21.handoff           handoff marks the conversation with reason and summary and tells those who may hold it; the agent goes on until one does
built   21 I21.human             /human asks for a person where takeover.human allows it, is listed by /help there, and is a word like any other elsewhere
built   21 I21.command-line      switchboard conversations list, show, take, say and give, with --json and exit codes
built   21 I21.api               The same in /api with its description
built   21 I21.status            status has held
built   21 I21.viewer            A viewer reads everything but secrets and the inputs of approvals, in whatever route they could be found, and changes nothing
built   21 I21.roles             Owner and operator may hold, approver, viewer and others may not: route by route
built   21 I21.list              Conversations are listed by their latest word, filtered and searched, page after page without a gap or a repeat
built   21 I21.list-indexed      A page of the list and of a thread is read by an index on both stores
built   21 I21.thread            One conversation as people saw it: turns, sends and takeovers in order, with states, attempts, approvals, repeats, tools and cost
built   21 I21.three-nodes       A conversation is taken at one node, written in at another after the first was killed, and given back: nothing is lost, nothing said twice
built   21 I21.bad-input         An address that is none, a foreign cursor, an empty text and a place where nobody spoke are refused by name
`,
)
