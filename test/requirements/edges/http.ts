// What issue 35 demands: agents that cannot be reached.
import { requirements } from '../row.ts'

export const EDGES_HTTP = requirements(
  'Issue 35 Agents that cannot be reached',
  `
built   35 I35.b11                    An agent that cannot be reached is unreachable in status, doctor and console from the first failed try; its turns stay queued: agent_unreachable, and the sender hears of it after 20 s
built   35 I35.b11-indexes            Looking for overdue, queued and waiting turns reads no turn that ended or rests
built   35 I35.b12                    kill -9 while an http answer is taken freezes no chat: seen and the answer are one commit, and a take-over settles at once
built   35 I35.b12-drain              On SIGTERM an open exchange is read to its end, up to its timeout, while other lanes move
built   35 I35.b25                    timeout of an http agent stands still while a person is asked
built   35 I35.b25-forms              Streams of OpenAI chat completions and of Ollama are read as answers
built   35 I35.b45-wrong-key          A wrong key of a model is told at once
built   35 I35.b45-malformed-stream   A malformed stream of an agent is not called unreachable
built   35 I35.a2-agents              Behind the TCP fault proxy an http, chorus or llm agent answers once or labelled, or person, agent state and doctor know
built   35 I35.left-recalled          After kill -9 an agent whose turns wait for another try is unreachable or failing from the start, and the sender is told 20 s after writing
built   35 I35.left-silent            An agent that took a turn and never answered it is failing in status and doctor until it answers one
built   35 I35.left-reload            A reload cuts no open exchange: a changed agent reads its answer to the end, up to its timeout, and is started anew then
`,
)
