// What issue 14 demands of the channel connector: proof, twins, bindings.
import { requirements } from './row.ts'

export const HOSTS = requirements(
  'Issue 14 Hosts of the channel connector',
  `
built   14 I14.handed-when-written     A turn is handed only when it is about to be written: behind a hand-over that is under way, or without room at the agent, it reads queued
built   14 I14.room-wakes              What waited for room is handed over as soon as the agent has some
built   14 I14.file-before-handed      A message whose file is fetched first reads queued meanwhile
built   14 I14.frozen-host-queued      Behind a shim that takes nothing, what was not written to its socket reads queued
built   14 I14.only-host-gets-all      The only host of an agent is written every turn in order up to the window, proven or not
built   14 I14.unproven-not-offline    An unproven host that is silent moves no state: its turns stay handed, the agent is attached, and nobody is told that it is offline
built   14 I14.proven-elsewhere        Where another node has hosts of the agent, what an unproven host here leaves unseen is offered there after 30 s, once, and stays here if nobody takes it
built   14 I14.moves-once              Where another host is attached, a turn at an unproven one moves after 30 s, once and marked, and stays handed
built   14 I14.all-silent-flows        Once every attached host was tried in vain nothing is withheld any more
built   14 I14.first-answer-wins       Of two hosts that hold a turn the first answer counts, and the other is told
built   14 I14.fetched-no-proof        What was fetched by pending_messages is seen, and proves not that the host listens, not even when it is answered
built   14 I14.request-proves          A permission_request proves its host
built   14 I14.waiting-told            Every tool result of a host with turns without evidence says, in a block of its own and as waiting, how many wait and how to fetch them; its own text stays to the letter
built   14 I14.unseen-told             After unseen_notice the sender is told once that the message was not picked up yet
built   14 I14.unseen-doctor           doctor names a turn without evidence after unseen_notice as a problem, with its host and the likely closed gate
built   14 I14.twins-one-host          Two lines that name the same session of the host over the same socket or bearer are one host; over another bearer, or without a name, they are two
built   14 I14.twin-replaced           The same shim id again replaces its line, and what that line had goes on
built   14 I14.twin-moves-once         A turn goes down one line, and moves once to the twin after 30 s without evidence
built   14 I14.twin-reply              A reply through either line counts
built   14 I14.twin-one-request        A permission request that comes by both lines is one, and its verdict goes down a line that asked
built   14 I14.tools-binding           Channel tools without a session's token see what the bindings of all open turns admit; with none open what all the agent's bindings admit; of a host never used all servers, under the agent's id
built   14 I14.relay-binding           A permission request is relayed only to channel servers that the bindings of the open turns admit
built   14 I14.stopped-stays           A daemon that was stopped by signal or command is not revived by a shim until the next up, and the tools say so
built   14 I14.crash-revived           A daemon that crashed, or ended for idleness, is revived with the port, host and folder that it had
built   14 I14.up-keeps-folder         The operator's own up never loses the folder to a shim
built   14 I14.start-failure-told      Why a daemon could not be started is told through the tools
built   14 I14.no-daemon-capabilities  A shim that finds no daemon within 10 s judges from the configuration file which capabilities to declare; if it cannot, it declares none and its tools say to restart the host
built   14 I14.one-way-told            A host fed by one-way integrations alone is told so in its instructions
built   14 I14.edit-marked             An edited message reaches a channel host marked as one
`,
)
