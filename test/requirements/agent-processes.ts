// What issue 22 demands of agents that run as a process: the keeper of processes, and the connector claude-code.
import { requirements } from './row.ts'

export const PROCESSES = requirements(
  'Issue 22 The keeper of processes',
  `
built   22 I22.keep-start       A process is started with the listed environment alone, in its folder, and is ready only after its own proof; one that is never ready is ended with its last words told
built   22 I22.keep-missing     A program that is missing or may not be run is an error with the install hint
built   22 I22.keep-backoff     Failed starts are spaced by backoff, and one that held is a first one again
built   22 I22.keep-hang        A hang is found by silence and an unanswered probe together; a silent process that answers lives on
built   22 I22.keep-term        Ending closes the input, then SIGTERM, then SIGKILL to the whole group: a child that ignores SIGTERM is gone, and so is what it forked
built   22 I22.keep-escaped     A child that left its group is found by its mark and ended too
built   22 I22.keep-killed      After kill -9 of the daemon the watcher ends every group, also those that ignore SIGTERM and those who left the group
built   22 I22.keep-reaped      The next start ends what is left by recorded pid and start time and by the mark; a number that somebody else has by now is never touched
built   22 I22.keep-limits      No more processes than allowed run at once, and one that holds too much memory is ended and says so
built   22 I22.keep-stderr      stderr is masked and kept by a ring that doctor shows, and reaches the log in bounded numbers
built   22 I22.keep-lines       Garbage and lines of 10 MB on stdout are counted and survived
built   22 I22.keep-worktree    With worktree: true each session has a git worktree on a branch of its own, found again after a restart
built   22 I22.keep-doctor      doctor names the programs that run for an agent, their memory and their last words
`,
)

export const CLAUDE_CODE = requirements(
  'Issue 22 The connector claude-code',
  `
built   22 I22.cc-spawn         One process a session in stream-json, with folder, model, permission mode and arguments of the configuration
built   22 I22.cc-resume        A session is resumed by its id after idling, after a restart and after a crash, and a changed id is kept
built   22 I22.cc-receipt       seen is told by command_lifecycle where the binary says so, else by the replayed user message
built   22 I22.cc-final         The final text is the answer when no reply was called for the turn; when one was, it is not said again
built   22 I22.cc-reply-on      A reply by the tool is not the end of a turn: it may ask and be stopped until its result comes
built   22 I22.cc-signals       Partial text and tool use are shown as signals; what a subagent says is not the answer
built   22 I22.cc-approval      can_use_tool becomes an approval with the whole input, and what is allowed is the input that was shown, by its hash
built   22 I22.ask-over         What a turn asked and nobody answered is withdrawn when the turn ends, also after an interruption
built   22 I22.cc-always        Always allow is offered only where the configuration allows it, and holds for the session alone
built   22 I22.cc-expired       An approval that expires or reaches nobody is denied to the model with the reason
built   22 I22.cc-question      AskUserQuestion is put into the chat as choices and the answer is handed back; an answer in own words is taken
built   22 I22.cc-choices       A question's choices are buttons where the platform has them: a tap is the answer, and one that comes late is told so
built   22 I22.cc-plan          A plan is put into the chat and approved or sent back
built   22 I22.cc-order         Messages during a turn reach the binary in order, and one result for several answers all of them
built   22 I22.cc-stop          /stop interrupts the turn and withdraws what is queued in the binary; what comes next is answered
built   22 I22.cc-cost          Cost and tokens of a turn are kept, counted from what the binary said before, and shown
built   22 I22.cc-tools         Switchboard's tools come by --mcp-config with a token of that session alone, which stands in no argument
built   22 I22.cc-slash         A chat message that begins with a slash is no command of the binary
built   22 I22.cc-bounds        At most max_processes run: an idle one makes room, else the turn waits; one idle for idle_after is ended
built   22 I22.cc-missing       A missing binary, a binary that is not signed in and wrong flags are told with what to do, to the person and in doctor
built   22 I22.cc-exit          An exit in mid-turn is noticed, and the turn goes on as a continuation in a resumed process; after several it is given up and told
built   22 I22.cc-endless       A turn that never ends is ended after turn_timeout and told
built   22 I22.cc-flood         A program that writes garbage or asks without end costs a few lines of the log and a bounded number of questions
built   22 I22.cc-hang          One that says nothing in its work and does not answer a question of ours is ended, and its turn goes on; one that answers lives on
built   22 I22.cc-huge          A huge answer is delivered whole
built   22 I22.cc-killed        The daemon killed in mid-turn: the turn is a continuation, and no tool whose result stands in the transcript runs again
built   22 I22.cc-killed-ask    The daemon killed in mid-approval: the tool has not run, a verdict on the old question runs nothing, and the turn goes on
built   22 I22.cc-transcript    An answer that was finished while nobody listened is read from the transcript and delivered, not asked for again
built   22 I22.cc-asked         Where nothing can be known of a turn a person is asked whether it is begun anew; no ends it with the reason, and what comes meanwhile is answered
built   22 I22.anew-durable     claude-code and acp: killed while a person is asked, the next life puts the same question, whatever was begun meanwhile
built   22 I22.anew-once        claude-code and acp: a yes is for one beginning; interrupted again and forgotten, it is asked again
built   22 I22.anew-stop        claude-code and acp: a turn that rests with a person can be stopped, and an answer then begins nothing
built   22 I22.cc-journey       From Telegram and from the web chat in a browser: an answer, an approval, a question, a stop, kill -9 in mid-turn and in mid-approval
built   22 I22.cc-nodes         A session stays with the node that holds its files; that node gone, doctor and the person are told, and /new begins elsewhere
built   22 I22.cc-setup         Setting it up finds the binary, its version, and whether it is signed in
built   22 I22.cc-real          The double says what the real binary said in the recording, and the real one passes the same conversation
built   22 I22.cc-bench         The bench prints the overhead of a turn beside a bare driver of the same double
`,
)
