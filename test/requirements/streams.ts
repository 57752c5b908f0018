// What issue 14 demands: nothing lost on streams, in schedules, or behind a cap.
import { requirements } from './row.ts'

export const STREAMS = requirements(
  'Issue 14 Streams, schedules and lists',
  `
built   14 I14.stream-order       The stream of a two-way hook shows what the transcript gives, in its order: a live message never moves a position past rows that are held back
built   14 I14.stream-nodes       On three nodes under load readers of one and of all conversations of a hook get every message that is sent, each once, in order
built   14 I14.stream-resume      Whoever resumes a stream at any position it was given gets exactly the rest
built   14 I14.stream-connected   A reader that was told it is connected misses nothing that is sent from then on, through whichever node
built   14 I14.stream-reminders   A message that is sent much later than its neighbours reaches readers that came in between, however many lie between
built   14 I14.stream-retry       A send that failed and is tried again by an operator has a new place in the transcript: readers who passed the old one get it once, live or resuming, on any node
built   14 I14.place-kept         Positions of rows are never given out twice, also where the newest rows were pruned and the store was opened again
built   14 I14.web-nodes          On three nodes under load every window of a web chat shows every message once, and resumes at every cursor
built   14 I14.web-held-back      A row that a commit of another node holds back is neither forgotten by a window nor a reason to begin anew
built   14 I14.events-nodes       On three nodes each reader of /events is told of every turn and send that another node moved
built   14 I14.stream-backlog     A reader that is far behind gets everything, row by row, as fast as it reads
built   14 I14.stream-stalled     A reader that reads nothing at all is let go after a while, and its place is free
built   14 I14.stream-passing     What passes (a heartbeat, a typing mark) never cuts a reader off that is still reading
built   14 I14.start-slices       Whatever is resumed at start is resumed in slices, between which the process takes new messages
built   14 I14.start-channels     A restart with thousands of open Chorus channels reads and takes them up so many at once, while messages come in
built   14 I14.schedules-apart    Several schedules of one agent that are due at the same time are as many turns
built   14 I14.key-threads        Two messages of one conversation with the same id in different threads, where ids are the thread's, are two
built   14 I14.key-pairs          No two messages that a platform tells apart are taken for one: edits, albums, taps, reactions, messages without an id
built   14 I14.approvals-all      All pending approvals expire, are resumed, withdrawn and forsaken, however many there are
built   14 I14.prompts-all        Every chat that was asked hears how an approval ended, however many were asked
built   14 I14.counts-all         status and doctor count all pending approvals
built   14 I14.list-pages         Every list of the API has a limit and says where the next page begins; the pages together are the whole
built   14 I14.list-cut           A list that the command line cuts says so and how to go on; with --json nothing is cut unasked
built   14 I14.walked-all         Completeness compares every place that was active lately, and takes away every status line that is over, however many there are
built   14 I14.looked-all         What looks for one row among many (a turn to reply to, a message to edit, a sender who spoke) finds it however far back it is, or says how far it looked
`,
)
