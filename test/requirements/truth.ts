// What issue 14 demands of delivery: side acts give way, one answer a turn, places by name.
import { requirements } from './row.ts'

export const TRUTH = requirements(
  'Issue 14 No lie',
  `
built   14 I14.side-acts-give-way  Answers and prompts never wait for a reaction or the edit of a prompt, however these fail
built   14 I14.side-acts-given-up  A reaction that keeps failing is given up within a minute, the edit of a prompt within five, and the row says so
built   14 I14.paced-is-queued     What waits for a platform's pace or its retry-after is queued; sending is committed when the bytes leave
built   14 I14.no-needless-note    After a crash nothing that only waited its turn carries the note that it may be a duplicate
built   14 I14.stop-waits          A stop waits, with a bound, for what is being handed over and writes down what came of it; it begins nothing new
built   14 I14.stop-repeat-marked  What a stop had to leave behind in the middle of a hand-over is offered again as a marked repeat
built   14 I14.one-answer          A reply for a turn that another host has answered is refused as conflict, by the row, in the commit that would send
built   14 I14.rolling-hosts       A rolling restart of nodes with real hosts of the channel at each, under load: none is lost, none answered twice, and what a host is given a second time is marked
built   14 I14.refused-stays-open  A reply that the outlet refuses answers nothing: the tool says why and the turn stays open
built   14 I14.answered-whatever   A turn is answered when its agent answered it, whatever becomes of the send, also after a kill
built   14 I14.seen-again          A turn that a host had seen, and neither acknowledged nor answered when it went, is offered again, marked
built   14 I14.group-stop          In a group /stop stops what its sender began; /new and stopping others is for approvers
built   14 I14.clock-back          A wall clock that is set back delays nothing by more than one sweep: turns, sends, leases, schedules
built   14 I14.chorus-needs-url    Several nodes, a Chorus agent and no shared public_url: check and doctor say what is lost when a node dies
`,
)
