// What issue 6 demands beyond SPEC 13: faults of a cluster with real processes and a real PostgreSQL.
import { requirements } from './row.ts'

export const CLUSTER = requirements(
  'Issue 6 Two nodes and more',
  `
built   6 I6.model                  A model that can be run goes from measured costs to nodes, cores, disk, log and memory
built   6 I6.scale-page             docs/guide/scale.md shows what the model computes for 10^4 to 10^8 conversations
built   6 I6.scale-tried            The partitions it recommends are tried on the real schema; what PostgreSQL refuses is named
built   6 I6.bench-nodes            npm run bench measures intake and end to end with 1, 2 and 3 nodes on one PostgreSQL
built   6 I6.bench-claims           It measures claims per second of nodes that ask for the same lanes
built   6 I6.bench-wake             It measures the wake-up latency across nodes
built   6 I6.bench-cost             It measures the cost per message of PostgreSQL against SQLite
built   6 I6.no-waiting             Nodes never wait for each other's lanes: a take finds them busy and comes back
built   6 I6.lease-by-store         Pollers take a lease on every PostgreSQL, also one that is named by reference
built   6 I6.lease-held             A poller or server runs while its lease is known to be held: a failed renewal ends none in time, a hanging one keeps none beyond it
built   6 I6.suite-lease            Of two nodes with one lease only its holder receives; the one that loses it stops, and confirms nothing that the store refused
built   6 I6.sigkill                kill -9 of one of three nodes under load: nothing acknowledged is lost, order holds, double sends are labelled, all it held moves within 15 s
built   6 I6.sigstop                A node frozen for 30 s that wakes up: its late writes are refused by the token, and it goes on
built   6 I6.woken-is-silent        A node that slept past its lease neither hands over nor sends what it had taken before: whoever has it now does, marked
built   6 I6.db-killed              The database killed and brought back: 503 meanwhile, nothing acknowledged is lost, everything resumes by itself
built   6 I6.cut                    One node's connections to the database cut: its work moves to the others within 15 s, and it comes back by itself
built   6 I6.cut-silent             The same where the network swallows everything and tells nobody
built   6 I6.rolling                All nodes restarted one after the other under load: nothing lost, nothing unanswered
built   6 I6.one-poller             At any time one node polls, whatever happens to the others
built   6 I6.not-yet                A node that is starting answers hooks, callbacks and the chat with 503, never with an answer that is for good
built   6 I6.unheard-take           A take whose answer is lost with the connection leaves nothing behind that newer turns overtake
built   6 I6.unheard-commit         A commit whose answer is lost with the connection is neither done twice nor forgotten: the database is asked what came of it
built   6 I6.half-open              A connection to the database whose other end is gone is noticed: reads are refused, wake-ups are heard again
built   6 I6.missed-hints           A node that could not listen for a while finds what came to the lanes it holds, and what ended in them elsewhere
built   6 I6.let-go                 What was being taken from a lane while it was let go or older turns went back does not overtake them
built   6 I6.clean-stop             A clean stop leaves nothing taken behind: what was under way is finished or given back
built   6 I6.over-is-over           What was cancelled, expired or buried at one node is not handed over or sent by another that had just seen it waiting
built   6 I6.cancel-across          /stop on one node stops the turn that runs on another
built   6 I6.decide-once            Two nodes decide the same approval at once: one winner, the other is told who
built   6 I6.schedule-once          A schedule fires once in a cluster
built   6 I6.clock-skew             A node whose clock is off by minutes works like the others: the database's time decides
built   6 I6.nodes-rows             Nodes are rows: heard of by the database's time, gone after 10 s of silence, or left
built   6 I6.attachments-rows       Which agent is attached to which node is a row, with when it came and went
built   6 I6.fenced-position        A poller's position is moved only under the lease: a node that slept moves nothing
built   6 I6.bucket-shared          Tokens of a shared limit go to all nodes together, never more than it lets through
built   6 I6.settle-anywhere        A turn is settled from any node for the one that holds it, once
built   6 I6.former-boots           A node that restarts takes what its former boots held at once; nobody else does
built   6 I6.asker                  An approval names the node that asks, and another one may take that over
built   6 I6.expired-orphan         An approval that expires as its asker dies is retired in the chats by another node
built   6 I6.late-rows              A reader that goes on from the last row it saw misses none that was committed later
built   6 I6.ledger-key             All nodes sign the ledger with one key: another one is refused with a hint
built   6 I6.config-across          What is changed by command at one node holds at all of them at once
built   6 I6.callback-across        A callback or tool call of an agent is taken by any node
built   6 I6.status-cluster         status and doctor show all nodes, and what is attached to any of them
built   6 I6.one-name               Two running daemons of one node name are told by status, doctor and the log; a boot that was killed is none of them
built   6 I6.link-anywhere          status and doctor say how a link is where it is held, also when that is down
built   6 I6.files-shared           A file that one node took is had by all: uploaded at A, sent with a message at B, read at C, also when A is gone
built   6 I6.files-truth            A file is told as kept when all nodes can have it: while the database is away an upload is refused, and a file is never said to be missing
built   6 I6.files-names            Nothing that is not the plain name of a file is asked for or written, whoever names it
built   6 I6.files-apart            A large file on its way holds up neither commits nor reads, and a connection that is lost with it ends nothing else
built   6 I6.files-pruned           Files in the database go when no body can name them any more: after retention.bodies and queue_expiry
built   6 I6.scenarios-three        The scenario suite passes on three nodes that share a database
`,
)
