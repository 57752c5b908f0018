// What issue 15 demands of the core for every platform: proof that nothing was missed, deletions, and answers that are
// shown while they are written.
import { requirements } from './row.ts'

export const COMPLETENESS = requirements(
  'Issue 15 Completeness, deletions, partial answers',
  `
built   15 I15.deaf-link          A link that says it is up and brings nothing loses none of 50 messages, and no agent sees one twice
built   15 I15.renewed            What a link that was up did not bring renews it, once in ten minutes at most
built   15 I15.quiet              A quiet link is never renewed for being quiet, however long nobody speaks
built   15 I15.probe              A link whose own probe says that it is deaf is renewed
built   15 I15.after-connect      What was said while there was no link is found after the next connect, and after downtime
built   15 I15.background         What was missed without a new connect is found in the background
built   15 I15.grace              What is younger than 60 s and was said over this connection is not missed yet
built   15 I15.first-connect      Nothing from before the integration's first connect is looked for, nor from before we joined a place
built   15 I15.mark-with-message  A mark moves in the commit that takes the messages before it: a crash on either side loses none and repeats none
built   15 I15.live-moves-no-mark A message of the live link moves no mark: an earlier one that was missed is found
built   15 I15.before-the-mark    A message that the live link brings after its place's mark has passed it is received
built   15 I15.late-marked        What was missed goes to the end of its lane with its own ts and late="true", and turns tell it
built   15 I15.late-no-limit      What was missed draws no limit and meets none
built   15 I15.late-gated         What was missed is gated as of now
built   15 I15.late-command       A late command does nothing: consumed: late
built   15 I15.late-verdict       A late verdict counts while its approval is pending
built   15 I15.late-expired       What is older than the queue's expiry is expired, and nobody is handed it
built   15 I15.late-claim         A late message takes no claim that was offered after it, unless it answers that message
built   15 I15.late-edit          A message edited since is version 0 with its present text where it was unknown, and an edit where it was known
built   15 I15.late-counted       A find is counted and in the ledger, and the audit holds
built   15 I15.dropped-stays      What a limit dropped without a row is not found as missed
built   15 I15.place-gone         A place that is gone is forgotten and leaves nothing behind
built   15 I15.place-forbidden    A place that may not be read leaves the integration behind, with what to do
built   15 I15.reader-lies        A history that repeats itself, pages without end, gives absurd times or hangs ends as a fault, and nothing is taken twice
built   15 I15.reader-busy        A platform that asks to wait is waited for, and the walk goes on where it was
built   15 I15.many-places        10,000 places are compared, and those where nothing was said since are not read again
built   15 I15.threads            Threads and chats that were active lately are compared though the platform lists them not
built   15 I15.fair-walk          A flood in one place, however many messages, keeps no other place waiting for its end; no more than a page is held at a time
built   15 I15.live-first         While a walk waits for its platform, what the live link brings is handed over at once
built   15 I15.fails-half-way     A read that fails half-way (429, 500, no answer), or a place that goes meanwhile, loses nothing of the others
built   15 I15.forgotten-told     What the platform has forgotten, or what is older than rows are kept, is in the ledger with its span, once
built   15 I15.clocks-differ      Clocks that differ by minutes hide nothing: a place is passed over only if it was quiet for longer
built   15 I15.clock-back         A clock that is set back delays no comparison and no renewal, and no status claims what lies ahead
built   15 I15.two-of-one         Two integrations of one workspace are compared each by itself
built   15 I15.erased-stays       A person who was erased is not found as missed
built   15 I15.suite-history      The shared suite reads the history of every platform that keeps one, and one that keeps none says why; the plans deaf link, ghost connection and gap are shared
built   15 I15.one-walks          Of several nodes one compares, and a mark needs its lease
built   15 I15.status             status, doctor, metrics and the page tell of each integration: complete until T, behind, or cannot be checked
built   15 I15.retention          Retention prunes no row that a history may still be compared with
built   15 I15.delete-queued      A message deleted while queued ends consumed: withdrawn, its text is gone, and no agent sees it
built   15 I15.delete-handed      A message deleted after it was handed over goes on; the deletion is recorded
built   15 I15.delete-first       A deletion that comes before its message withdraws it
built   15 I15.delete-whose       Nobody withdraws what somebody else sent, unless the platform itself says so
built   15 I15.delete-heard       An overheard line that was deleted is in no later turn's context
built   15 I15.delete-twice       A deletion that comes twice is one
built   15 I15.delete-web         In the web chat a person deletes an own message that still waits; one that an agent has stays, and the page says so
built   15 I15.partial-edits      Partial text is shown by edits of one message, which ends as the final text: one message, one row
built   15 I15.partial-signals    Where a platform shows partial text by signals nothing of it is stored
built   15 I15.partial-none       Where a platform can show none, partial text is lost and the answer comes whole
built   15 I15.partial-pace       Partial text is shown no more often than the platform's pace, one at a time, and gives way
built   15 I15.partial-crash      After a crash in mid-stream the answer ends in the message that showed its beginning, or is sent once more whole
built   15 I15.partial-unfinished A turn that ends without an answer leaves its shown beginning marked as incomplete
built   15 I15.partial-gone       Where the shown message is gone the final text is sent anew
built   15 I15.partial-refused    Where the platform refuses the edits the final text is a message of its own, once
built   15 I15.partial-revoked    Whose right to speak is taken back in mid-stream is shown no more of the answer
built   15 I15.partial-long       A final text longer than one message ends the shown one with its first part, and the others follow
built   15 I15.partial-no-block   While an answer is being written, prompts and notices of the same chat pass
built   15 I15.partial-seen       Partial text is evidence that the turn was seen, and answers nothing
`,
)
