// What issue 35 demands: agents, people and rights.
import { requirements } from '../row.ts'

export const EDGES_AGENTS = requirements(
  'Issue 35 Agents, people and rights',
  `
built   35 I35.b3                     An ACP approval shows the whole of what runs: title, line breaks and every field, or it is refused
built   35 I35.b35-pieces             Free pages of the database are overwritten in bounded pieces, and nobody waits for more than one of them
built   35 I35.b13                    notify_user reaches an identity of that user and never somebody who was merely let in
built   35 I35.b16                    What reply says of final text is true for each connector, and no person is asked to approve our own tools
built   35 I35.b17                    Approving a pairing grants what was chosen (may talk, may also approve, this is me), and says what was granted
built   35 I35.b21                    All safe meta keys and the instructions of a hosted server reach llm, acp and claude-code
built   35 I35.b23                    Approvals that can reach nobody are a problem in check and doctor, and are denied at once where Switchboard decides
built   35 I35.b27                    A turn that waits for a slot says so after 20 s, and a process that only waits for a person gives its slot away
built   35 I35.b27-claude-code        A claude-code process that only waits for a person gives its slot away
built   35 I35.b27-reason             A turn that waits for a free process carries the reason agent_busy in turns, console and doctor
built   35 I35.b28                    acp has mode, and doctor says when an agent starts in a mode that does not ask
built   35 I35.b28-not-known          A mode of an acp agent that was not looked at is named by doctor as not known to ask, whatever its words say
built   35 I35.b45-cwd                A missing cwd is an error, never created
built   35 I35.b45-cwd-odd            A cwd behind a file, a broken link or a locked folder is an absent agent in words, and never ends the daemon
built   35 I35.b45-allow-list-first   llm asks no person about a send_message that the allow list refuses
built   35 I35.b46-trust              trust full, read_only or none on a binding decides which of our tools and which calls run
built   35 I35.b35                    Erasing a person removes her words from approval prompts shown elsewhere
built   35 I35.b25-unknown-stream     A stream or completion in a form that is not known never counts as an empty answer, and parts and refusals are read
built   35 I35.b21-list-changed       llm lists the tools of a server again on the same connection, and leaves no process behind
built   35 I35.b11-fallback           llm asks its fallback when one model answers 502, 503 or 504, before it gives the turn back
built   35 I35.b25-stopped            A timer of an http agent that fires after its stop ends nothing
built   35 I35.b7-long-refusal        A refusal that is longer than an answer may be keeps its words and a finite count of tokens
built   35 I35.b3-unknown-fields      An ACP approval shows fields that are not known here, of the call and of its content, and its kind
built   35 I35.b28-by-session         Modes are told by session: one that asks hides none that does not, and a change ends with its process
built   35 I35.b27-no-longer          That conversations wait for a place is taken back when nothing waits any more
built   35 I35.b11-no-longer          An unreachable agent that no turn waits for any more is a warning with the time of its last try, not a problem
built   35 I35.b25-withdrawn          A question that was withdrawn counts as asked time only until its withdrawal
`,
)
