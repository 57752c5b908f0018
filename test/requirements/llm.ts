// What issue 16 demands of the connector llm, and of the context that every connector gets from groups.
import { requirements } from './row.ts'

export const GROUP_CONTEXT = requirements(
  'Issue 16 What a group said meanwhile',
  `
built   16 I16.context-lines    A turn of a group brings what was said there without mention since the last turn, oldest first, each line with its speaker
built   16 I16.context-place    Lines of another chat or thread, and what was said after the turn, do not belong to it
built   16 I16.context-bounds   At most 50 lines of the last 24 hours; older words are forgotten
built   16 I16.context-access   Strangers and bots are not heard, and access is asked again for every line at hand-over
built   16 I16.context-edited   An edited line comes once in its newest words, and the turn's own message is no line
built   16 I16.context-again    A turn that is offered again brings the same lines, and one that was never handed over leaves them to the next
built   16 I16.context-new      What was said before /new is not brought into the new session
built   16 I16.context-erased   Lines go with retention and when their speaker is erased, and the audit holds
built   16 I16.context-shown    Every connector shows the lines as what others said and not as instructions, in a form that no speaker can forge
`,
)

export const LLM = requirements(
  'Issue 16 The connector llm',
  `
built   16 I16.steps-kept        Every model call and every tool call is a step of its own, kept in order; a position is written once, by one node
built   16 I16.steps-forgotten   Steps go with the turn's body by retention and when the person is erased, and so do summaries of what they said
built   16 I16.tokens-counted    Tokens are counted in the commit of their step: for the turn, for the agent and day, in the turn log and in /metrics; cost only with prices
built   16 I16.history           History is rebuilt from the store within a token budget, whole turns at a time; what fell out is summarised once and the summary kept
built   16 I16.llm-options       Options are checked with key and hint; the key is a reference and appears in no error, log line or answer
built   16 I16.wire-anthropic    Anthropic's wire: streaming, tools, thinking and pause returned unchanged, prompt caching marks, all results in the next single message
built   16 I16.wire-openai       OpenAI's wire: streaming, merged tool calls, usage from the last chunk, and the known quirks of compatible servers
built   16 I16.streaming         What the model writes is shown while it writes, as a signal, and the answer is said once, whole
built   16 I16.prompt            The system prompt is text or a file, with who speaks and where filled in; each message is marked with its speaker, and what a group said before is marked as no instruction
built   16 I16.files             Images go to models that take them; other files are named with how to fetch them
built   16 I16.tools             The model is offered the tool surface, the servers of llm.mcp and those of the delivery, under unique names
built   16 I16.mcp-others        A tool of an MCP server of others is listed, called after an approval, and its result reaches the model
built   16 I16.risky             Every tool that does not only read asks a person first; risky_tools changes that; a denial, an expiry and an unreachable approver are told to the model
built   16 I16.limits-turn       A turn ends after 25 steps, 10 minutes of work or 200,000 tokens, and the person is told which; waiting for an approval does not count
built   16 I16.limits-day        When the day's budget is spent no model is asked, and the person is told when it ends; doctor --security says where there is none
built   16 I16.retries           429, 529, 5xx, a cut stream and no connection are tried again, not before Retry-After; a wrong key, an unknown model and an empty purse are not
built   16 I16.endless-answer    An answer of the API that does not end is given up before it fills the memory, and is not asked for again
built   16 I16.fallback          A model that stays away is replaced by the fallback for that call
built   16 I16.too-long          A context that is too long is cut and tried once more
built   16 I16.refusal           A refusal ends the turn, is told, and its exchange is left out of later history
built   16 I16.empty-answer      An empty answer and one of thinking alone are told as no reply, never sent
built   16 I16.bad-calls         An unknown tool, broken arguments and a hundred calls at once are told to the model as what they are; none runs wrongly
built   16 I16.tool-hangs        A tool that does not answer in time is told as unknown, and the turn goes on
built   16 I16.tool-huge         A result of megabytes is cut, and says so
built   16 I16.injection         What a tool's result asks for in another chat is refused by the outlet
built   16 I16.resume            After a crash the loop goes on behind the last finished step; no finished call is made twice
built   16 I16.another-node      When the node that runs a turn is killed another goes on from the steps in the database, and no finished call is made twice
built   16 I16.unknown-told      A tool that was started and has no result is told to the model as unknown and never run again, unless it only reads or is keyed
built   16 I16.cancel            /stop ends the model call and the turn
built   16 I16.setup             init --agent llm tries the key with one token, keeps it encrypted, echoes it nowhere, and the agent answers in the web chat
built   16 I16.llm-add          agents add --connector llm tries the key with one token, keeps it encrypted through the daemon, and echoes it nowhere
built   16 I16.journey          After init with a key a real daemon answers on the page and on Telegram, uses an MCP tool after an approval, and killed in mid-loop repeats no call, tells the model what is unknown, and answers
built   16 I16.doctor            doctor says of an llm agent which model it asks where, its limits, and that not every tool asks
built   16 I16.llm-bench        The bench prints the overhead of a turn through the connector llm against a bare SDK loop, as a ratio
`,
)
